/**
 * Starts `gate-child.ts` in processes of their own. It is bundled once, because a process that is killed hundreds of times
 * has to start in a few milliseconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { confirmationCode, homeAt, initialize, open } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';
import { ALICE, TRUST } from './gate-world.js';

export type Line = Readonly<Record<string, unknown>>;

export interface Child {
  readonly process: ChildProcess;
  /** The lines so far. */
  readonly lines: readonly Line[];
  /** Resolves with the first line that has this member; rejects when the process ends before. */
  line(member: string): Promise<Line>;
  go(): void;
  /** Resolves with the signal that ended the process, or its exit code, when its lines are all read. */
  readonly ended: Promise<string>;
}

export interface Children {
  start(folder: string, mode: string, ...words: readonly string[]): Child;
  remove(): void;
}

export async function bundleGateChild(): Promise<Children> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-child-'));
  const outfile = join(folder, 'child.cjs');
  const entry = fileURLToPath(new URL('./gate-child.ts', import.meta.url));
  const external = ['better-sqlite3'];
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', external });
  // The folder that holds better-sqlite3: three above its main file.
  const modules = dirname(dirname(dirname(createRequire(import.meta.url).resolve('better-sqlite3'))));
  return {
    start: (home, mode, ...words) => start(outfile, modules, [home, mode, ...words]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function start(file: string, modules: string, words: readonly string[]): Child {
  return childOf([file, ...words], { ...process.env, NODE_PATH: modules });
}

/** A process that runs a file of these sources, as it is. */
export function startSource(name: string, ...words: readonly string[]): Child {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  return childOf(['--import', 'tsx', file, ...words], process.env);
}

function childOf(words: readonly string[], env: NodeJS.ProcessEnv): Child {
  const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: Line[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (text) => {
    // A killed process may leave half a line.
    if (!text.endsWith('}')) return;
    lines.push(JSON.parse(text) as Line);
    wake();
  });
  const closed = new Promise<void>((resolve) => reader.once('close', resolve));
  const exited = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? String(code))),
  );
  const ended = Promise.all([exited, closed]).then(([how]) => {
    isOver = true;
    wake();
    return how;
  });
  const line = async (member: string): Promise<Line> => {
    for (;;) {
      const found = lines.find((one) => Object.hasOwn(one, member));
      if (found !== undefined) return found;
      if (isOver) throw new Error(`the process ended without \`${member}\`: ${JSON.stringify(lines.slice(-3))}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { process: child, lines, line, go: () => void child.stdin.write('go\n'), ended };
}

/** A fresh home with its first approver, and a folder for effects beside it; `store` names a database. */
export async function childHome(store?: string, trust = TRUST): Promise<{ folder: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-home-'));
  mkdirSync(join(folder, 'effects'));
  const home = homeAt(join(folder, 'home'), {});
  const { ledgerId } = await initialize(home, { trust, demo: true, ...(store === undefined ? {} : { store }) });
  const gate = await open({ home: home.folder });
  const code = confirmationCode(ledgerId, ALICE.key.publicKey);
  await bootstrapApprover(gate.ledger, ledgerId, ALICE.keyText, code, 'demo');
  await gate.close();
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
