/** Homes that can not be used: what is in the way is said, and what to do about it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countersign, giveToPlainUser, type RunOptions } from '../support/command-line.js';
import { makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

const PLAIN = { plainUser: true } as const;

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'countersign-homes-'));
}

/** What is no good about a home, as `FOUND: NEXT`. */
async function problems(home: string, options: RunOptions = {}): Promise<readonly string[]> {
  const { out, err } = await countersign(['doctor', '--json', '--home', home], options);
  assert.notEqual(out, '', err);
  const { findings } = JSON.parse(out) as { findings: readonly Record<'level' | 'found' | 'next', string>[] };
  return findings.filter(({ level }) => level === 'problem').map(({ found, next }) => `${found}: ${next}`);
}

/** Does what a finding says to do, where that is a command of the system. */
function mend(problem: string | undefined): void {
  const [, program = '', words = ''] = /(chmod) (\S+ \S+)$/.exec(problem ?? '') ?? [];
  execFileSync(program, words.split(' '));
}

test('whom the owner of a home keeps out is told that, and not to make another', async () => {
  verifies('cli.home.entry');
  const { home, folder } = await makeDemoHome();
  giveToPlainUser(folder);
  chmodSync(home, 0o000);
  const inbox = await countersign(['inbox', '--home', home], PLAIN);
  assert.match(inbox.err, /\[forbidden\]: this user may not enter the home[\s\S]*as the owner of the home/);
  const doctor = await countersign(['doctor', '--home', home], PLAIN);
  assert.equal(doctor.exit, 1);
  assert.match(doctor.out, /ok +around the gate: this user reaches nothing of the home/);
  chmodSync(home, 0o700);
  const file = join(freshFolder(), 'file');
  writeFileSync(file, '', { mode: 0o644 });
  assert.deepEqual(await problems(file), ['the home is no folder: name a folder with `--home`']);
  assert.match((await countersign(['inbox', '--home', file])).err, /\[invalid\]: the home is no folder/);
});

test('a store that can not be opened is told with the cause, and doctor sends nobody to doctor', async () => {
  verifies('cli.doctor.cause');
  const { home, folder } = await makeDemoHome();
  giveToPlainUser(folder);
  const store = join(home, 'ledger.sqlite');
  chmodSync(store, 0o000);
  const [kept] = await problems(home, PLAIN);
  assert.match(kept ?? '', /could not be opened: this user may not read or write it: let its owner/);
  chmodSync(store, 0o400);
  chmodSync(home, 0o500);
  const [readOnly] = await problems(home, PLAIN);
  assert.match(readOnly ?? '', /could not be opened: it can not be written here: let its owner/);
  chmodSync(store, 0o600);
  chmodSync(home, 0o700);
  assert.deepEqual(await problems(home, PLAIN), []);

  const away = join(freshFolder(), 'home');
  mkdirSync(away, { mode: 0o700 });
  writeFileSync(join(away, 'countersign.yaml'), 'store: postgres://localhost:1/gate\n', { mode: 0o600 });
  const [unreached] = await problems(away);
  assert.match(unreached ?? '', /the database of the store could not be opened: it is not reached: start the database/);
});

test('a memory that may not be read is no damaged one: nothing of it is given up', async () => {
  verifies('app.seen.unreadable');
  const { home, folder } = await makeDemoHome();
  giveToPlainUser(folder);
  const seen = join(home, 'seen.json');
  const remembered = readFileSync(seen, 'utf8');
  chmodSync(seen, 0o000);
  const [found] = await problems(home, PLAIN);
  assert.match(found ?? '', /remembers of its ledger can not be read: .*chmod 600/);
  mend(found);
  assert.deepEqual(await problems(home, PLAIN), []);
  assert.equal(JSON.parse(readFileSync(seen, 'utf8')).ledger_id, JSON.parse(remembered).ledger_id);
});

test('a user folder that is no absolute path makes no home in the working folder', async () => {
  verifies('app.home.absolute');
  const folder = freshFolder();
  for (const HOME of ['', 'relative']) {
    const environment = { HOME, XDG_CONFIG_HOME: '', COUNTERSIGN_HOME: '' };
    const refused = await countersign(['init', '--no-approver'], { environment, folder });
    assert.match(refused.err, /\[invalid\]: the folder of this user is no absolute path[\s\S]*`--home`/);
    const doctor = await countersign(['doctor', '--json'], { environment, folder });
    assert.match(JSON.parse(doctor.out).findings[0].found, /no absolute path/);
    const named = await countersign(['inbox'], { environment: { ...environment, COUNTERSIGN_HOME: folder } });
    assert.match(named.err, /\[not_initialized\]/);
  }
});

test('a home in a repository is refused by both names; so is what a link in a home leads to', async () => {
  verifies('app.home.links');
  const user = freshFolder();
  mkdirSync(join(user, '.git'));
  const home = join(user, '.config', 'countersign');
  const environment = { HOME: user, XDG_CONFIG_HOME: '', COUNTERSIGN_HOME: '' };
  const { err } = await countersign(['init', '--no-approver'], { environment });
  assert.ok(err.includes(`\`${home}\` lies in the repository \`${user}\``), err);
  assert.match(err, /outside of it with `--home`/);

  const made = await makeDemoHome();
  const clone = freshFolder();
  mkdirSync(join(clone, '.git'));
  for (const name of ['trust.yaml', 'keys', 'seen.json', 'ledger.sqlite']) {
    renameSync(join(made.home, name), join(clone, name));
    symlinkSync(join(clone, name), join(made.home, name));
    const [found = '', ...others] = await problems(made.home);
    assert.ok(found.includes(`${name}\` lies in the repository \`${clone}\``), found);
    assert.deepEqual(others, []);
    assert.match((await countersign(['inbox', '--home', made.home])).err, /\[config_location\]/);
    rmSync(join(made.home, name));
    renameSync(join(clone, name), join(made.home, name));
  }
  assert.deepEqual(await problems(made.home), []);
});
