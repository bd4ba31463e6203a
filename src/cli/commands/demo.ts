/**
 * `demo`: the main job on a real repository, step by step, each with the command that a person would type. Every
 * step runs that command; where a step has to be refused and isn't, the demo stops.
 *
 * Its ledger is that of a demonstration for ever: the first approver is confirmed by this process, and every summary
 * says DEMO LEDGER.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Fault, Refusal } from '../../core/index.js';
import { type Output, paint, type Streams, shown } from '../output.js';
import type { Command } from '../run.js';
import { readText } from './propose.js';

export interface DemoOptions {
  readonly folder?: string;
}

interface Demo {
  readonly output: Output;
  readonly folder: string;
  readonly home: string;
  readonly repository: string;
}

/** What the demonstration makes in its folder. */
const PARTS = [
  'home',
  'repository',
  'effects',
  'passphrase',
  'other-receipt.json',
  'used-receipt.json',
  'damaged-home',
];

const PASSPHRASE = 'demo passphrase';

export function demo(options: DemoOptions): Command {
  return async ({ output }) => {
    const folder = resolve(options.folder ?? mkdtempSync(join(tmpdir(), 'countersign-demo-')));
    const app = await import('../../app/index.js');
    const { makeFolder } = await import('../../app/internal.js');
    app.checkHome(app.homeAt(join(folder, 'home'), {}));
    const made: Demo = { output, folder, home: join(folder, 'home'), repository: join(folder, 'repository') };
    if (PARTS.some((name) => existsSync(join(folder, name)))) {
      const next = 'name another folder';
      throw new Refusal('already_initialized', 'there is a demonstration in the folder already', { next });
    }
    makeFolder(folder, 'folder', 0o700);
    await prepare(made);
    const merge = await refusedWithoutReceipt(made);
    await approveAndMerge(made, merge);
    await notTwice(made, merge);
    await lostAnswer(made);
    await readAndVerify(made);
    await findDamage(made);
    farewell(made);
    output.value({ folder, home: made.home, repository: made.repository, action_id: merge.actionId });
    return undefined;
  };
}

function step({ output }: Demo, title: string): void {
  output.line();
  output.line(paint.bold(`== ${title}`));
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./#-]+$/.test(word) && !word.includes('#') ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

interface Ran {
  readonly exit: number;
  readonly out: string;
}

/** Runs one command line of countersign, shows it and what it said, and demands its exit code. */
async function type(made: Demo, words: readonly string[], expected: number): Promise<Ran> {
  const { runProgram } = await import('../program.js');
  made.output.line(`${paint.dim('$')} countersign ${words.map(quoted).join(' ')}`);
  let out = '';
  let said = '';
  const streams: Streams = {
    out: (text) => {
      out += text;
      said += text;
    },
    err: (text) => {
      said += text;
    },
  };
  const exit = await runProgram([...words, '--home', made.home], streams);
  for (const line of said.trimEnd().split('\n')) made.output.line(`  ${line}`);
  made.output.line(paint.dim(`  exit ${exit}`));
  if (exit !== expected) throw new Fault('internal', `the demo expected exit ${expected} and got ${exit}`);
  return { exit, out };
}

function git(repository: string, ...words: string[]): string {
  const identity = ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.org', '-c', 'commit.gpgsign=false'];
  try {
    return execFileSync('git', [...identity, ...words], { cwd: repository, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Fault('internal', 'git could not make the repository of the demo', error);
  }
}

const BUGGY = 'export function total(prices) {\n  return prices.reduce((sum, price) => sum - price, 0);\n}\n';
const FIXED = BUGGY.replace('sum - price', 'sum + price');

async function prepare(made: Demo): Promise<void> {
  const { output, repository, home, folder } = made;
  const app = await import('../../app/index.js');
  const { bootstrapApprover } = await import('../../app/internal.js');
  step(made, 'A repository with a bug on main and a fix on a branch');
  mkdirSync(repository);
  mkdirSync(join(folder, 'effects'));
  git(repository, 'init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(repository, 'total.js'), BUGGY);
  git(repository, 'add', '.');
  git(repository, 'commit', '--quiet', '-m', 'Add the total');
  git(repository, 'switch', '--quiet', '-c', 'fix');
  writeFileSync(join(repository, 'total.js'), FIXED);
  git(repository, 'commit', '--quiet', '-am', 'Add prices instead of subtracting them');
  git(repository, 'switch', '--quiet', 'main');
  output.line(`  ${shown(repository)}`);

  step(made, 'A gate, and its first approver');
  output.line(
    `${paint.dim('$')} countersign init --repository app=${quoted(repository)} --agent merge-bot --approver alice`,
  );
  const trust = await app.trustRecipe({
    name: 'demo',
    repositories: { app: repository },
    agents: ['merge-bot'],
    noopFolder: join(folder, 'effects'),
  });
  const place = app.homeAt(home, {});
  const { ledgerId } = await app.initialize(place, { trust, demo: true });
  writeFileSync(join(folder, 'passphrase'), PASSPHRASE, { mode: 0o600 });
  const key = await app.makeKey(ledgerId, 'human:alice', PASSPHRASE, app.keyPath(place, 'human:alice'));
  const gate = await app.open({ home });
  await bootstrapApprover(gate.ledger, ledgerId, readText(key.path), key.code, 'demo');
  await gate.close();
  output.line('  In a gate of your own you type the code of your key here. The demo typed it for you.');
}

interface Merge {
  readonly actionId: string;
  readonly otherReceipt: string;
}

async function refusedWithoutReceipt(made: Demo): Promise<Merge> {
  step(made, 'An agent proposes to merge the fix');
  const sha = git(made.repository, 'rev-parse', 'fix').trim();
  const args = JSON.stringify({ source: 'fix', source_sha: sha });
  const where = ['--connector', 'git-local', '--operation', 'merge', '--project', 'app', '--target', 'app#main'];
  const proposed = await type(made, ['action', 'propose', ...where, '--args', args, '--by', 'agent:merge-bot'], 0);
  const actionId = proposed.out.trim();

  step(made, 'It may not merge: nobody has signed');
  await type(made, ['action', 'execute', actionId, '--by', 'agent:merge-bot'], 1);
  return { actionId, otherReceipt: join(made.folder, 'other-receipt.json') };
}

async function askAndSign(made: Demo, actionId: string, more: readonly string[] = []): Promise<void> {
  const asked = await type(made, ['action', 'request', actionId], 0);
  const passphrase = ['--passphrase-from', `file:${join(made.folder, 'passphrase')}`];
  await type(made, ['approver', 'sign', asked.out.trim(), ...passphrase, ...more], 0);
}

async function approveAndMerge(made: Demo, { actionId, otherReceipt }: Merge): Promise<void> {
  step(made, 'A signature for something else does not count');
  const args = JSON.stringify({ text: 'hello' });
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'app', '--target', 'somebody'];
  const other = await type(made, ['action', 'propose', ...where, '--args', args, '--by', 'agent:merge-bot'], 0);
  await askAndSign(made, other.out.trim(), ['--out', otherReceipt]);
  await type(made, ['action', 'approve', actionId, '--receipt', otherReceipt], 1);

  step(made, 'Alice sees the change, and signs exactly that');
  await askAndSign(made, actionId);
  await type(made, ['action', 'fetch-receipt', actionId], 0);

  step(made, 'The merge runs, once');
  await type(made, ['action', 'execute', actionId, '--by', 'agent:merge-bot'], 0);
  made.output.line(`${paint.dim('$')} git log --oneline --first-parent main`);
  for (const line of git(made.repository, 'log', '--oneline', '--first-parent', 'main').trimEnd().split('\n')) {
    made.output.line(`  ${shown(line)}`);
  }
  if (readText(join(made.repository, 'total.js')) !== FIXED) throw new Fault('internal', 'the fix is not on main');
}

async function notTwice(made: Demo, { actionId }: Merge): Promise<void> {
  step(made, 'Running it again, and replaying its receipt, fail');
  await type(made, ['action', 'execute', actionId, '--by', 'agent:merge-bot'], 1);
  const app = await import('../../app/index.js');
  const gate = await app.open({ home: made.home });
  const used = join(made.folder, 'used-receipt.json');
  try {
    const receipt = await gate.receiptOf(actionId);
    writeFileSync(used, JSON.stringify(receipt), { mode: 0o600 });
  } finally {
    await gate.close();
  }
  await type(made, ['action', 'approve', actionId, '--receipt', used], 1);
}

async function lostAnswer(made: Demo): Promise<void> {
  step(made, 'A second action loses its answer: the gate says that it does not know');
  const args = JSON.stringify({ text: 'invoice 17', simulate: 'lose-response' });
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'app', '--target', 'customer'];
  const proposed = await type(made, ['action', 'propose', ...where, '--args', args, '--by', 'agent:merge-bot'], 0);
  const actionId = proposed.out.trim();
  await askAndSign(made, actionId);
  await type(made, ['action', 'fetch-receipt', actionId], 0);
  await type(made, ['action', 'execute', actionId, '--by', 'agent:merge-bot'], 4);
  step(made, 'It is never sent again blindly: the connector is asked what became of it');
  await type(made, ['action', 'reconcile', actionId], 0);
}

async function readAndVerify(made: Demo): Promise<void> {
  step(made, 'The thread tells what happened, and is signed');
  await type(made, ['thread', 'show', 'app'], 0);
  await type(made, ['thread', 'verify', 'app'], 0);
  step(made, 'The whole ledger is checked again');
  await type(made, ['audit', 'verify'], 0);
}

/** One byte of a copy is flipped, as somebody with access to the file could. */
async function findDamage(made: Demo): Promise<void> {
  step(made, 'One byte is flipped in a copy of the ledger: the check names the record');
  const copy: Demo = { ...made, home: join(made.folder, 'damaged-home') };
  for (const folder of [copy.home, join(copy.home, 'keys')]) mkdirSync(folder, { mode: 0o700 });
  await type(made, ['backup', join(copy.home, 'ledger.sqlite')], 0);
  copyFileSync(join(made.home, 'keys', 'threads.key'), join(copy.home, 'keys', 'threads.key'));
  const { damageCopy } = await import('../../app/internal.js');
  made.output.line(`  one byte of ${damageCopy(join(copy.home, 'ledger.sqlite'))} is another one now`);
  await type(copy, ['audit', 'verify'], 70);
}

function farewell({ output, folder, home, repository }: Demo): void {
  output.line();
  output.line(paint.bold('== Done. Go on with it:'));
  // Called by its file, it is on nobody's path yet.
  const program = process.argv[1] ?? '';
  if (basename(program) === 'main.js') output.line(`  alias countersign=${quoted(`node ${quoted(resolve(program))}`)}`);
  output.line(`  export COUNTERSIGN_HOME=${quoted(home)}`);
  output.line(`  cd ${quoted(repository)}`);
  output.line('  countersign inbox');
  output.line('  countersign action list');
  output.line(`  Alice signs with --passphrase-from file:${quoted(join(folder, 'passphrase'))}, a demo's way alone.`);
  output.line('  For a gate of your own: countersign init');
}
