/** Streams and questions that end early: a full disk, a reader that went away, a terminal whose input is over. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { countersign, countersignAtTerminal } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { ROOT } from '../support/files.js';
import { verifies } from '../support/verifies.js';

describe('what can not be written or read to its end', () => {
  let home: DemoHome;
  before(async () => {
    home = await makeDemoHome();
  });
  after(() => rmSync(home.folder, { recursive: true, force: true }));

  function runInto(file: string | 'closed', ...words: string[]): Promise<{ exit: number | null; err: string }> {
    const out = file === 'closed' ? 'pipe' : openSync(file, 'w');
    const child = spawn(process.execPath, [join(ROOT, 'dist', 'bin', 'main.js'), ...words], {
      stdio: ['ignore', out, 'pipe'],
    });
    child.stdout?.destroy();
    let err = '';
    child.stderr?.on('data', (data: Buffer) => {
      err += data.toString('utf8');
    });
    return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, err })));
  }

  it('is a fault where the disk is full, and none where nobody reads any more', async () => {
    verifies('cli.output.lost');
    const listing = ['action', 'list', '--json', '--home', home.home];
    const full = await runInto('/dev/full', ...listing);
    assert.deepEqual(
      [full.exit, full.err],
      [70, 'fault [store]: the output could not be written\n  next: look what was done\n'],
    );
    const away = await runInto('closed', ...listing);
    assert.deepEqual([away.exit, away.err], [0, '']);
  });

  it('is a refusal where the input ends at a question', async () => {
    verifies('cli.question.ends');
    const words = ['approver', 'key', 'bob', '--home', home.home];
    const { exit, shown } = await countersignAtTerminal(words, [{ after: /passphrase/i, type: '\x04' }]);
    assert.equal(exit, 1, shown);
    assert.match(shown, /refused \[invalid\]/);
  });

  it('takes nothing beside what is asked for again', async () => {
    verifies('cli.like.whole');
    const other = ['--args', '{"text":"other"}', '--target', 'elsewhere'];
    const words = ['action', 'propose', '--like', 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', '--home', home.home];
    for (const more of [other, ['--amount', '5'], ['--project', 'web'], ['--dry-run']]) {
      const { exit, err } = await countersign([...words, ...more]);
      assert.deepEqual([exit, /^refused \[usage\]/.test(err)], [2, true], `${more}: ${err}`);
    }
    const { err } = await countersign([...words, '--idempotency-key', 'once']);
    assert.match(err, /unknown_action/);
  });
});
