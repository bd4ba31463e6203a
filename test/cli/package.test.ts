/** Packages through the command line, and the tutorial as it stands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { countersign, type Ran } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { ROOT } from '../support/files.js';
import { plainGit } from '../support/git-world.js';
import { programOf, runTutorial } from '../support/tutorial.js';
import { verifies } from '../support/verifies.js';

/** Resolved from here, wherever the program stands. */
const TSX = import.meta.resolve('tsx');

let root: string;
let repository: string;
let made: DemoHome;
before(async () => {
  root = mkdtempSync(join(tmpdir(), 'countersign-package-'));
  repository = join(root, 'repository');
  mkdirSync(repository);
  await plainGit(repository, 'init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'README.md'), 'one\n');
  await plainGit(repository, 'add', '.');
  await plainGit(repository, 'commit', '-q', '-m', 'first');
  made = await makeDemoHome({ web: repository });
});
after(() => rmSync(root, { recursive: true, force: true }));

function run(words: readonly string[], input = ''): Promise<Ran> {
  return countersign([...words, '--home', made.home], { input });
}

test('the tutorial is run as it stands, to the file on the branch', async () => {
  verifies('packages.tutorial');
  const folder = join(root, 'tutorial');
  mkdirSync(folder);
  const options = { folder, home: made.home, passphrase: made.passphrase };
  assert.equal(await runTutorial('docs/tutorials/package-from-a-model.md', options), 21);
  const notes = readFileSync(join(repository, 'docs/releases/0.2.md'), 'utf8');
  assert.equal(notes, '# 0.2\n\nPackages are new. A merge no longer waits for ever.\n');
  assert.equal(await plainGit(repository, 'log', '-1', '--format=%s', 'main'), 'pkg_notes: notes');
});

test('the program of the tutorial drives a package by the same replies', async () => {
  verifies('packages.tutorial');
  const { program, replies } = programOf('docs/tutorials/package-from-a-model.md');
  const home = (await makeDemoHome()).home;
  const path = join(root, 'program.ts');
  const asking = `const told: string[] = [];\nconst replies = ${JSON.stringify(replies)};\n
    const ask = async (text: string) => { told.push(text); return replies.shift() ?? ''; };\n`;
  const end = '\nprocess.stdout.write(JSON.stringify({ turns: told.length, told: told[2], left: replies.length }));\n';
  const library = join(ROOT, 'src/app/index.ts');
  writeFileSync(path, `${program.replace("'countersign';", `'${library}';\n${asking}`)}${end}await gate.close();\n`);
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', TSX, path], {
    env: { ...process.env, COUNTERSIGN_HOME: home },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const { turns, told, left } = JSON.parse(stdout);
  assert.deepEqual([turns, left], [4, 2], 'the malformed reply took a turn, and the program stopped for a person');
  assert.match(told, /\$\.approved is no field of this envelope/);
});

test('an envelope comes from standard input too, and is judged without being applied', async () => {
  verifies('packages.cli');
  assert.equal((await run(['package', 'create', 'pkg_cli', '--intent', 'try it'])).exit, 0);
  const again = await run(['package', 'create', 'pkg_cli', '--intent', 'try it']);
  assert.match(again.err, /it was there already/);
  const other = await run(['package', 'create', 'pkg_cli', '--intent', 'other', '--json']);
  assert.deepEqual([other.exit, JSON.parse(other.err).error.code], [1, 'PACKAGE_EXISTS']);
  const shown = JSON.parse((await run(['package', 'prompt', 'pkg_cli', '--json'])).out).prompt as string;
  const text = shown.split('\n').find((line) => line.includes('"set_objective"')) ?? '';
  const judged = await run(['package', 'validate', '--envelope', '-'], `I would do this: ${text}`);
  assert.match(judged.out, /it would be accepted now/);
  const applied = await run(['package', 'apply', '-', '--json'], `I do this: ${text}`);
  const { revision, state, replayed } = JSON.parse(applied.out);
  assert.deepEqual([revision, state, replayed], [1, 'INTAKE', false]);
  assert.match((await run(['package', 'validate', '--envelope', '-'], text)).out, /accepted before/);
  const listed = JSON.parse((await run(['package', 'list', '--state', 'INTAKE', '--json'])).out).packages;
  assert.ok(listed.some(({ id, revision: at }: { id: string; revision: number }) => id === 'pkg_cli' && at === 1));
  assert.match((await run(['package', 'list'])).out, /pkg_cli/);
  const tools = JSON.parse((await run(['package', 'prompt', 'pkg_cli', '--tools', '--json'])).out).tools;
  assert.equal(tools.length, 4);
  const status = JSON.parse((await run(['package', 'status', 'pkg_cli', '--json'])).out);
  assert.match(status.manifest_sha256, /^[0-9a-f]{64}$/);
});

test('a receipt goes along with an envelope, and every refusal has its code and exit', async () => {
  verifies('packages.cli');
  verifies('packages.confirm.human');
  const envelope = (action: string, expected_revision: number, basis: object = {}) =>
    JSON.stringify({
      protocol_version: '0.1',
      action_id: `own-${expected_revision}`,
      package_id: 'pkg_cli',
      expected_revision,
      action,
      basis,
      payload: {},
    });
  assert.equal((await run(['package', 'apply', '-'], envelope('prepare_summary', 1))).exit, 0);
  assert.match(
    (await run(['inbox'])).out,
    /summary to confirm pkg_cli[\s\S]*next: countersign package confirm pkg_cli/,
  );
  const { canonical_sha256 } = JSON.parse((await run(['package', 'summary', 'pkg_cli', '--json'])).out);
  const confirming = envelope('confirm_summary', 2, { summary_sha256: canonical_sha256 });
  const refused = await run(['package', 'apply', '-', '--json'], confirming);
  assert.deepEqual([refused.exit, JSON.parse(refused.err).error.code], [1, 'receipt_required']);
  const asked = JSON.parse((await run(['package', 'confirm', 'pkg_cli', '--json'])).out);
  const receipt = join(root, 'receipt.json');
  const signed = await run(['approver', 'sign', asked.request.request_id, '--out', receipt, ...made.passphrase]);
  assert.equal(signed.exit, 0, signed.err);
  const confirmed = await run(['package', 'apply', '-', '--receipt', receipt, '--json'], confirming);
  assert.equal(JSON.parse(confirmed.out).state, 'AUTHORING_AUTHORIZED', confirmed.err);
  const codeOf = async (words: readonly string[], input = '') => {
    const ran = await run([...words, '--json'], input);
    return [ran.exit, JSON.parse(ran.err).error.code];
  };
  assert.deepEqual(await codeOf(['package', 'confirm', 'pkg_cli']), [1, 'ILLEGAL_TRANSITION']);
  assert.deepEqual(await codeOf(['package', 'status', 'pkg_none']), [1, 'PACKAGE_NOT_FOUND']);
  assert.deepEqual(await codeOf(['package', 'release', 'pkg_cli', '--project', 'web', '--target', 'web#main']), [
    1,
    'GATE_UNSATISFIED',
  ]);
  assert.deepEqual(await codeOf(['package', 'apply', '-'], envelope('cancel', 9)), [1, 'STALE_ACTION']);
  assert.deepEqual(await codeOf(['package', 'apply', '-'], 'approved'), [1, 'INVALID_ENVELOPE']);
  assert.deepEqual(await codeOf(['package', 'apply', join(root, 'none')]), [1, 'invalid']);
  assert.deepEqual(await codeOf(['package', 'validate']), [2, 'usage']);
  assert.equal((await run(['package', 'list', '--state', 'OPEN'])).exit, 2);
  assert.equal((await run(['audit', 'verify'])).exit, 0);
});
