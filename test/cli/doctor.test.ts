/** Doctor: what keeps a gate from working is found and said, with what to do, also where the gate can not be opened. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countersign } from '../support/command-line.js';
import { makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

interface Finding {
  readonly name: string;
  readonly level: string;
  readonly found: string;
  readonly next: string;
}

async function examined(home: string, folder?: string): Promise<{ exit: number | null; findings: readonly Finding[] }> {
  const ran = await countersign(['doctor', '--json', '--home', home], folder === undefined ? {} : { folder });
  return { exit: ran.exit, findings: JSON.parse(ran.out).findings };
}

const problems = (findings: readonly Finding[]) => findings.filter(({ level }) => level === 'problem');

test('a gate that works has no problem, and says where what has to be kept stands', async () => {
  verifies('cli.doctor');
  const { home } = await makeDemoHome();
  const { exit, findings } = await examined(home);
  assert.deepEqual(problems(findings), []);
  assert.equal(exit, 0);
  assert.ok(findings.some(({ name, found }) => name === 'thread key' && found.includes('keep a copy')));
  const backup = await countersign(['backup', join(home, '..', 'copy.sqlite'), '--home', home]);
  assert.match(backup.err, /keys are not in it: keep a copy of/);
});

test('what others can read of the home is flagged: every key, the store, the folders', async () => {
  verifies('cli.doctor.files');
  const { home } = await makeDemoHome();
  for (const [path, mode] of [
    ['keys/alice.key', 0o644],
    ['keys/threads.key', 0o640],
    ['ledger.sqlite', 0o604],
    ['keys', 0o755],
  ] as const) {
    chmodSync(join(home, path), mode);
    const { exit, findings } = await examined(home);
    const [found, ...others] = problems(findings);
    assert.equal(exit, 1);
    assert.equal(others.length, 0);
    assert.match(found?.found ?? '', new RegExp(`${path} can be read by others`));
    const [program = '', ...words] = found?.next.split(' ') ?? [];
    execFileSync(program, words);
  }
  assert.equal((await examined(home)).exit, 0, 'what it says to do mends it');
});

test('a connector that can not work is a problem: no repository, no git, an old git, no folder', async () => {
  verifies('cli.doctor.connectors');
  const folder = mkdtempSync(join(tmpdir(), 'countersign-doctor-'));
  const init = async (name: string, repository: string, git?: string) => {
    const home = join(folder, name);
    const words = ['--repository', `web=${repository}`, '--noop-folder', join(folder, 'effects'), '--no-approver'];
    const made = await countersign(['init', '--home', home, ...words]);
    assert.equal(made.exit, 0, made.err);
    if (git === undefined) return home;
    const trust = readFileSync(join(home, 'trust.yaml'), 'utf8').replace(
      'git-local:',
      `git-local:\n    git_path: ${git}`,
    );
    rmSync(home, { recursive: true });
    const { homeAt, initialize } = await import('../../src/app/index.js');
    await initialize(homeAt(home, {}), { trust });
    return home;
  };
  const connectors = async (home: string) =>
    problems((await examined(home)).findings).filter(({ name }) => name.startsWith('connector'));
  const repository = join(folder, 'repository');
  execFileSync('git', ['init', '--quiet', repository]);
  assert.deepEqual(await connectors(await init('good', repository)), []);

  const [missing] = await connectors(await init('missing', join(folder, 'nothing')));
  assert.match(missing?.found ?? '', /repository `web`: there is no folder/);
  assert.match(missing?.next ?? '', /correct its `path`/);
  const [plain] = await connectors(await init('plain', join(folder, 'effects')));
  assert.match(plain?.found ?? '', /repository `web`: the repository has no `objects` folder/);

  const [gitless] = await connectors(await init('gitless', repository, join(folder, 'git')));
  assert.match(gitless?.found ?? '', /git: there is no git/);
  assert.match(gitless?.next ?? '', /install git 2\.38 or later/);
  for (const [name, says] of [
    ['old', 'git version 2.37.9'],
    ['other', 'mercurial 6'],
  ]) {
    writeFileSync(join(folder, `${name}-git`), `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
    const [old] = await connectors(await init(`${name}`, repository, join(folder, `${name}-git`)));
    assert.match(old?.found ?? '', /git: git 2\.38 or later is needed/);
  }
  renameSync(join(folder, 'effects'), join(folder, 'elsewhere'));
  const [folderless] = await connectors(join(folder, 'good'));
  assert.match(folderless?.found ?? '', /its folder is not there/);
  assert.match(folderless?.next ?? '', /make the folder/);
});

test('a secret of an endpoint that is not there, or that no header takes, is a problem', async () => {
  verifies('cli.doctor.secrets');
  const endpoint = {
    ...{ method: 'POST', base: 'https://pay.example', path: '/refunds/{payment}', class: 'irreversible' },
    args: { payment: { type: 'string' } },
    facts: { target: 'payment' },
    secret_headers: { authorization: { secret: 'PAY', prefix: 'Bearer ' }, 'x-other': { secret: 'OTHER' } },
    outcomes: { confirmed: [201] },
  };
  const { home } = await makeDemoHome();
  const trust = readFileSync(join(home, 'trust.yaml'), 'utf8').replace(
    /^connectors:$/m,
    `connectors:\n  http: ${JSON.stringify({ endpoints: { refund: endpoint } })}`,
  );
  rmSync(home, { recursive: true });
  const { homeAt, initialize } = await import('../../src/app/index.js');
  await initialize(homeAt(home, {}), {
    trust: `${trust}\nsecrets: { PAY: 'env:PAY_KEY', OTHER: 'file:/nowhere/key' }\n`,
  });
  const found = async (environment: Readonly<Record<string, string>>) => {
    const { out } = await countersign(['doctor', '--json', '--home', home], { environment });
    assert.ok(!out.includes('VALUE'), 'no secret is shown');
    const { findings } = JSON.parse(out) as { findings: readonly Finding[] };
    return problems(findings).filter(({ name }) => name === 'connector http');
  };
  const [pay, other] = await found({});
  assert.match(pay?.found ?? '', /^endpoint `refund`: there is no secret `PAY`$/);
  assert.match(pay?.next ?? '', /`PAY` of `secrets`/);
  assert.match(other?.found ?? '', /there is no secret `OTHER`/);
  const [unfit] = await found({ PAY_KEY: 'a VALUE with spaces' });
  assert.match(unfit?.found ?? '', /the secret `PAY` fits no header/);
  assert.equal((await found({ PAY_KEY: 'a-VALUE-of-the-payments-api' })).length, 1);
});

test('a gate that can not be opened is a finding as well, with a way on that works', async () => {
  verifies('cli.doctor.unopened');
  const nothing = await examined(join(mkdtempSync(join(tmpdir(), 'countersign-doctor-')), 'home'));
  assert.equal(nothing.exit, 1);
  assert.match(problems(nothing.findings)[0]?.next ?? '', /countersign init/);

  const { home, folder, passphrase } = await makeDemoHome();
  const run = (...words: string[]) => countersign([...words, '--home', home]);
  const copy = join(folder, 'copy.sqlite');
  assert.equal((await run('backup', copy)).exit, 0);
  writeFileSync(join(home, 'ledger.sqlite'), 'no database at all');
  const damaged = await examined(home);
  assert.equal(damaged.exit, 1);
  assert.match(problems(damaged.findings)[0]?.next ?? '', /countersign restore FILE/);
  const refused = await run('restore', copy);
  assert.equal(refused.exit, 70);
  assert.match(refused.err, /stop every gate of this home, move .*ledger\.sqlite.* away, and restore again/);
  renameSync(join(home, 'ledger.sqlite'), join(folder, 'damaged.sqlite'));
  writeFileSync(join(home, 'ledger.sqlite-wal'), 'the journal of the store that was damaged');
  const asked = await run('restore', copy, '--json');
  assert.equal(asked.exit, 0, asked.err);
  const requestId = JSON.parse(asked.out).request.request_id;
  assert.equal((await run('approver', 'sign', requestId, ...passphrase)).exit, 0);
  assert.deepEqual(problems((await examined(home)).findings), []);
  assert.equal((await run('audit', 'verify')).exit, 0);
});

test('a backup in a home without its thread key can be read, and is accepted once the key is back', async () => {
  verifies('cli.restore.thread-key');
  const { home, folder, passphrase } = await makeDemoHome();
  const run = (...words: string[]) => countersign([...words, '--home', home]);
  const copy = join(folder, 'copy.sqlite');
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'x'];
  const id = (await run('action', 'propose', ...where, '--args', '{"text":"x"}')).out.trim();
  assert.equal((await run('backup', copy)).exit, 0);
  renameSync(join(home, 'keys', 'threads.key'), join(folder, 'threads.key'));
  const restored = await run('restore', copy);
  assert.equal(restored.exit, 70);
  assert.match(restored.err, /the backup is in its place/);
  assert.match(restored.err, /\[thread_key\].*is missing/);
  assert.match((await run('action', 'show', id)).out, /waiting for approval/);
  renameSync(join(folder, 'threads.key'), join(home, 'keys', 'threads.key'));
  const { request } = JSON.parse((await run('restore', '--json')).out);
  assert.equal((await run('approver', 'sign', request.request_id, ...passphrase)).exit, 0);
  assert.match((await run('action', 'show', id)).out, /outcome unknown/);
  assert.deepEqual(problems((await examined(home)).findings), []);
});

test('a file of the project that can not be used is a finding, and one that can is shown', async () => {
  verifies('cli.doctor.project');
  const { home } = await makeDemoHome();
  const folder = mkdtempSync(join(tmpdir(), 'countersign-doctor-'));
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'countersign.yaml'), 'version: 1\nproject: web\nby: agent:bot\n');
  const good = await examined(home, join(folder, 'deep'));
  const shown = good.findings.find(({ name }) => name === 'project');
  assert.equal(shown?.level, 'ok');
  assert.match(shown?.found ?? '', /countersign\.yaml: project web, by agent:bot/);
  writeFileSync(join(folder, 'countersign.yaml'), 'version: 1\nhome: /elsewhere\n');
  const bad = await examined(home, folder);
  assert.deepEqual(
    problems(bad.findings).map(({ name }) => name),
    ['project'],
    'the rest is looked at all the same',
  );
});
