/** A path that a command is given may lead to a pipe, a device, a folder or nothing: it is refused, and no command waits or reads without end. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/index.js';
import { countersign } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const ID = 'act_01JDXW3Q4R8Y2M5N7P9S0T0001';
const PROPOSAL = [
  'action',
  'propose',
  '--connector',
  'shell-noop',
  '--operation',
  'send',
  '--project',
  'p',
  '--target',
  't',
];

let demo: DemoHome;
let folder = '';
let unfit: ReturnType<typeof makeUnfit> = [];
before(async () => {
  demo = await makeDemoHome();
  folder = mkdtempSync(join(tmpdir(), 'countersign-files-'));
  unfit = makeUnfit();
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(demo.folder, { recursive: true, force: true });
});

/** What is no file of a bounded size, each with a path. */
function makeUnfit(): readonly (readonly [string, string])[] {
  const [pipe, long, loop] = [join(folder, 'pipe'), join(folder, 'long'), join(folder, 'loop')];
  execFileSync('mkfifo', [pipe]);
  writeFileSync(long, Buffer.alloc(LIMITS.contentBytesMax + 1));
  symlinkSync('loop', loop);
  return [
    ['a pipe', pipe],
    ['a device without end', '/dev/zero'],
    ['a terminal', '/dev/ptmx'],
    ['a folder', folder],
    ['a link to itself', loop],
    ['nothing', join(folder, 'absent')],
    ['a file below a file', join(long, 'below')],
    ['a name that is too long', join(folder, 'x'.repeat(300))],
    ['a long file', long],
  ];
}

/** Every command that takes the path of a file to read. */
function reading(path: string): readonly (readonly string[])[] {
  return [
    ['policy', 'check', path],
    ['policy', 'test', path],
    ['policy', 'simulate', path],
    ['config', 'diff', path],
    ['config', 'apply', path],
    ['receipt', 'verify', path],
    ['receipt', 'verify', path, '--public-key', '00'.repeat(32)],
    ['action', 'approve', ID, '--receipt', path],
    ['standing', 'request', '--file', path],
    [...PROPOSAL, '--args', `@${path}`],
    [...PROPOSAL, '--content', path],
    ['policy', 'explain', '--what-if', ...PROPOSAL.slice(2), '--args', `@${path}`],
    ['approver', 'key', 'zoe', '--passphrase-from', `file:${path}`],
    ['migrate', '--to', `file:${path}`],
    ['init', '--home', join(folder, 'fresh'), '--no-approver', '--store', `file:${path}`],
  ];
}

describe('a path that leads to no plain file', () => {
  it('is refused by every command that reads one', async () => {
    verifies('cli.files.plain');
    const environment = { COUNTERSIGN_HOME: demo.home };
    for (const [what, path] of unfit) {
      await Promise.all(
        reading(path).map(async (words) => {
          const { exit, err } = await countersign(words, { environment, folder });
          assert.equal(exit, 1, `${what}: ${words.join(' ')}: ${err}`);
          assert.match(err, /^refused \[(invalid|config_invalid|not_found)\]/, `${what}: ${words.join(' ')}`);
        }),
      );
    }
  });

  it('is refused where a signature is made', async () => {
    verifies('cli.files.plain');
    const environment = { COUNTERSIGN_HOME: demo.home };
    const proposed = await countersign([...PROPOSAL, '--args', '{"text":"x"}'], { environment });
    const { out } = await countersign(['action', 'request', proposed.out.trim()], { environment });
    for (const [what, path] of unfit) {
      for (const option of [
        ['--key', path],
        ['--passphrase-from', `file:${path}`],
      ]) {
        const { exit, err } = await countersign(['approver', 'sign', out.trim(), ...option], { environment });
        assert.equal(exit, 1, `${what}: ${err}`);
        assert.match(err, /^refused \[invalid\]/m, what);
      }
    }
  });

  it('is a finding of doctor in the home, and hangs no command that opens it', async () => {
    verifies('cli.files.home');
    for (const [name, said] of [
      ['trust.yaml', /is no plain file/],
      ['seen.json', /damaged/],
      [join('keys', 'threads.key'), /is no plain file/],
      ['countersign.yaml', /is no plain file/],
      ['ledger.sqlite', /is no plain file/],
    ] as const) {
      const own = await makeDemoHome();
      const path = join(own.home, name);
      rmSync(path, { force: true });
      execFileSync('mkfifo', ['-m', '600', path]);
      const { exit, out } = await countersign(['doctor', '--home', own.home]);
      assert.equal(exit, 1, name);
      assert.match(out, said, name);
      rmSync(own.folder, { recursive: true, force: true });
    }
  });

  it('is refused as a project’s configuration, and as a Cedar file', async () => {
    verifies('cli.files.home');
    const project = join(folder, 'project');
    mkdirSync(project, { recursive: true });
    const trust = join(project, 'trust.yaml');
    writeFileSync(trust, `${TRUST}policy:\n  cedar: [pipe.cedar]\n`);
    execFileSync('mkfifo', ['-m', '600', join(project, 'pipe.cedar')]);
    const { exit, err } = await countersign(['policy', 'check', trust], { folder: project });
    assert.equal(exit, 1);
    assert.match(err, /\[config_invalid\]: .*is no plain file/);
  });
});

describe('what is piped to a command', () => {
  it('is read to its end, and refused beyond the limit', async () => {
    verifies('cli.files.standard-input');
    const environment = { COUNTERSIGN_HOME: demo.home };
    const words = [...PROPOSAL, '--dry-run', '--args', '-'];
    const good = await countersign(words, { environment, input: '{"text":"from a pipe"}' });
    assert.equal(good.exit, 0, good.err);
    const long = await countersign(words, { environment, input: ' '.repeat(LIMITS.contentBytesMax + 1) });
    assert.equal(long.exit, 1);
    assert.match(long.err, /\[invalid\]: the standard input is longer than the limit/);
  });

  it('is what the advice for a pipe names', async () => {
    verifies('cli.files.standard-input');
    const path = unfit[0]?.[1] ?? '';
    const { err } = await countersign([...PROPOSAL, '--args', `@${path}`], {
      environment: { COUNTERSIGN_HOME: demo.home },
    });
    assert.match(err, /next: `-` reads what is piped/);
  });
});

it('a backup is a plain file: nothing else is put back', async () => {
  verifies('cli.files.plain');
  const environment = { COUNTERSIGN_HOME: demo.home };
  for (const [what, path] of unfit.filter(([name]) => name !== 'a long file')) {
    const { exit, err } = await countersign(['restore', path], { environment });
    assert.equal(exit, 1, what);
    assert.match(err, /^refused \[(invalid|not_found)\]/, what);
  }
});
