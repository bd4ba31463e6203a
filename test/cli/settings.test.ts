/** The file of a project gives the command line its defaults: flags and variables win, and trust is out of its reach. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { countersign } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

let made: DemoHome;
let folder: string;
before(async () => {
  made = await makeDemoHome();
  folder = mkdtempSync(join(tmpdir(), 'countersign-project-'));
  mkdirSync(join(folder, 'src'));
});

const write = (text: string) => writeFileSync(join(folder, 'countersign.yaml'), text);
const inProject = (words: readonly string[], environment: Record<string, string> = {}) =>
  countersign([...words, '--home', made.home], { folder: join(folder, 'src'), environment });

const NOTE = ['--operation', 'note', '--target', 'x'];

async function proposed(text: string, more: readonly string[] = [], environment: Record<string, string> = {}) {
  const words = ['action', 'propose', ...NOTE, '--args', JSON.stringify({ text }), '--json', ...more];
  const ran = await inProject(words, environment);
  assert.equal(ran.exit, 0, ran.err);
  const shown = await inProject(['action', 'show', JSON.parse(ran.out).action_id, '--json']);
  return JSON.parse(shown.out).content;
}

test('a proposal takes what no option says from the file; options and variables win', async () => {
  verifies('cli.settings');
  write('version: 1\nproject: web\nconnector: shell-noop\nby: agent:bot\napprove_within: 5m\nlaunch_within: 90s\n');
  const content = await proposed('by the file');
  assert.deepEqual([content.project, content.proposed_by, content.launch_within_ms], ['web', 'agent:bot', 90_000]);
  const more = ['--project', 'flag', '--by', 'agent:local', '--launch-within', '2m'];
  const flagged = await proposed('by a flag', more, { COUNTERSIGN_PROJECT: 'variable' });
  assert.deepEqual([flagged.project, flagged.proposed_by, flagged.launch_within_ms], ['flag', 'agent:local', 120_000]);
  const variables = { COUNTERSIGN_PROJECT: 'variable', COUNTERSIGN_BY: 'agent:local' };
  const varied = await proposed('by a variable', [], variables);
  assert.deepEqual([varied.project, varied.proposed_by], ['variable', 'agent:local']);
  const whatIf = await inProject(['policy', 'explain', '--what-if', ...NOTE, '--args', '{"text":"x"}', '--json']);
  assert.equal(whatIf.exit, 0, whatIf.err);
});

test('waiting and the log follow the file too', async () => {
  verifies('cli.settings');
  write('version: 1\nproject: web\nconnector: shell-noop\ntimeout: 1s\nlog: debug\n');
  const { action_id } = await proposed('waits', ['--operation', 'send']);
  const waited = await inProject(['action', 'wait', action_id]);
  assert.equal(waited.exit, 5);
  const refused = await inProject(['action', 'execute', action_id]);
  assert.equal(JSON.parse(refused.err.split('\n')[0] ?? '').level, 'debug');
  const silent = await inProject(['action', 'execute', action_id], { COUNTERSIGN_LOG: 'silent' });
  assert.match(silent.err, /^refused \[receipt_required\]/);
});

test('no file of a project reaches the trust configuration, another gate, or a person', async () => {
  verifies('cli.settings');
  verifies('cli.no-human');
  const trust = readFileSync(join(made.home, 'trust.yaml'), 'utf8');
  for (const [text, code] of [
    [`version: 1\nhome: ${folder}\n`, 'config_location'],
    ['version: 1\napprovals: [{ title: x, approvers: ["*"] }]\n', 'config_location'],
    [trust, 'config_location'],
    ['version: 1\nby: human:alice\n', 'config_invalid'],
    ['version: 1\nby: agent:stranger\n', 'forbidden'],
  ] as const) {
    write(text);
    const ran = await inProject(['action', 'list', '--json']);
    assert.equal(ran.exit, 1);
    assert.equal(JSON.parse(ran.err).error.code, code);
  }
});

test('init writes a first one, and leaves one that is there', async () => {
  verifies('cli.settings');
  const fresh = mkdtempSync(join(tmpdir(), 'countersign-project-'));
  const init = (name: string) =>
    countersign(['init', '--no-approver', '--home', join(fresh, name), '--agent', 'bot', '--project', 'web'], {
      folder: fresh,
    });
  const done = await init('home');
  assert.equal(done.exit, 0, done.err);
  const text = readFileSync(join(fresh, 'countersign.yaml'), 'utf8');
  assert.match(text, /^project: web$/m);
  assert.match(text, /^by: agent:bot$/m);
  assert.match((await init('other')).err, /it stays/);
  assert.equal(readFileSync(join(fresh, 'countersign.yaml'), 'utf8'), text);
  const bad = await countersign(['init', '--no-approver', '--home', join(fresh, 'third'), '--project', 'a b']);
  assert.match(bad.err, /\[invalid\]/);
});

test('init for a project writes its file also where the gate is there', async () => {
  verifies('cli.settings.begun');
  const fresh = mkdtempSync(join(tmpdir(), 'countersign-project-'));
  const init = (...words: string[]) => countersign(['init', ...words, '--home', made.home], { folder: fresh });
  for (const more of [
    ['--name', 'x'],
    ['--agent', 'bot'],
    ['--repository', 'web=.'],
  ]) {
    assert.match((await init('--project', 'web', ...more)).err, /\[already_initialized\]/);
  }
  assert.match((await init('--project', 'no name')).err, /\[invalid\]/);
  const ran = await init('--project', 'web');
  assert.equal(ran.exit, 0, ran.err);
  const file = join(fresh, 'countersign.yaml');
  assert.match(readFileSync(file, 'utf8'), /^project: web$/m);
  assert.match((await init('--project', 'other')).err, /it stays/);
  assert.match(readFileSync(file, 'utf8'), /^project: web$/m);
  const listed = await countersign(['action', 'list', '--home', made.home], { folder: fresh });
  assert.equal(listed.exit, 0, listed.err);
});
