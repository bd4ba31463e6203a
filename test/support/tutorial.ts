/**
 * Runs a tutorial as it stands: its replies are written to files, its commands are run in order, and what they print is
 * compared with what the page says they print. `…` stands for anything in a line; a line of `…` alone for any lines. An id
 * with `…` is the one that was printed last.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countersign } from './command-line.js';
import { readProjectFile } from './files.js';

interface Block {
  readonly info: string;
  readonly text: string;
}

export interface TutorialOptions {
  readonly folder: string;
  readonly home: string;
  /** Added where a passphrase would be typed. */
  readonly passphrase: readonly string[];
}

/** Answers how many commands ran. */
export async function runTutorial(path: string, options: TutorialOptions): Promise<number> {
  let printed = '';
  let ran = 0;
  const ids = new Map<string, string>();
  for (const { info, text } of blocksOf(readProjectFile(path))) {
    if (info.startsWith('text ')) writeFileSync(join(options.folder, info.slice('text '.length)), text);
    if (info === 'output') demandPrinted(printed, text);
    if (info !== 'sh') continue;
    printed = '';
    for (const line of text.trimEnd().split('\n')) {
      const output = await runLine(line, ids, options);
      for (const [id = '', prefix = ''] of output.matchAll(/\b(act|req)_[0-9A-Z]{26}\b/g)) ids.set(prefix, id);
      printed += output;
      ran += 1;
    }
  }
  return ran;
}

/** The program of a page, and the replies that it writes down, by name. */
export function programOf(path: string): { readonly program: string; readonly replies: readonly string[] } {
  const blocks = blocksOf(readProjectFile(path));
  const program = blocks.find(({ info }) => info === 'ts')?.text ?? '';
  return { program, replies: blocks.filter(({ info }) => info.startsWith('text ')).map(({ text }) => text) };
}

function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\S[^\n]*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }));
}

async function runLine(line: string, ids: ReadonlyMap<string, string>, options: TutorialOptions): Promise<string> {
  const [command = '', exit = '0'] = line.split(/\s+# exit /);
  const [program, ...words] = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  assert.equal(program, 'countersign', line);
  const known = words.map((word) => word.replace(/^(act|req)_…$/, (_, prefix: string) => ids.get(prefix) ?? word));
  const signs = known[0] === 'approver' && known[1] === 'sign';
  const all = [...known, '--home', options.home, ...(signs ? options.passphrase : [])];
  const result = await countersign(all, { folder: options.folder });
  assert.equal(result.exit, Number(exit), `${line}\n${result.out}${result.err}`);
  return `${result.out}${result.err}`;
}

function demandPrinted(printed: string, expected: string): void {
  const pattern = expected
    .trimEnd()
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(literal).join('.*')}\\n`))
    .join('');
  assert.match(printed, new RegExp(`^${pattern}$`), `the page says:\n${expected}\nit printed:\n${printed}`);
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
