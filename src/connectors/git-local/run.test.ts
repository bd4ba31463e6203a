/** Tests of the closed process: what it is given, and how it ends. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { Fault } from '../../core/index.js';
import { runGit } from './run.js';

describe('a run of git', () => {
  let home = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'git-run-'));
  });
  after(() => rm(home, { recursive: true }));

  /** A program that stands for git. */
  async function program(script: string) {
    const path = join(home, 'git');
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return { path, home };
  }
  const where = () => ({ gitDir: join(home, 'x.git'), cwd: home });

  it('is given a closed environment and arguments as they are', async () => {
    verifies('connectors.git.closed-process');
    process.env.COUNTERSIGN_LEAK = 'leaked';
    process.env.GIT_SSH_COMMAND = 'leaked';
    const shown = await runGit(
      await program('/usr/bin/env; for one in "$@"; do echo "<$one>"; done'),
      ['$(id)', '-x; y'],
      where(),
    );
    delete process.env.COUNTERSIGN_LEAK;
    delete process.env.GIT_SSH_COMMAND;
    const text = shown.output.toString('utf8');
    assert.equal(shown.exitCode, 0);
    assert.doesNotMatch(text, /leaked/);
    assert.match(text, /^<\$\(id\)>\n<-x; y>$/m);
    for (const line of [
      'GIT_CONFIG_NOSYSTEM=1',
      'GIT_CONFIG_GLOBAL=/dev/null',
      'GIT_NO_REPLACE_OBJECTS=1',
      `HOME=${home}`,
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
    for (const setting of ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.attributesFile=/dev/null']) {
      assert.ok(text.includes(`<-c>\n<${setting}>\n`), setting);
    }
  });

  it('is stopped by its timeout and by its caller, also when it does not listen', async () => {
    verifies('connectors.git.bounded-process');
    const deaf = await program('trap "" TERM; while :; do :; done');
    assert.equal((await runGit(deaf, [], { ...where(), timeoutMs: 50 })).exitCode, undefined);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    assert.equal((await runGit(deaf, [], { ...where(), signal: controller.signal })).exitCode, undefined);
    assert.equal((await runGit(deaf, [], { ...where(), signal: AbortSignal.abort() })).exitCode, undefined);
  });

  it('is stopped when it says too much', async () => {
    verifies('connectors.git.bounded-process');
    const result = await runGit(await program('exec /usr/bin/cat /dev/zero'), [], where());
    assert.equal(result.exitCode, undefined);
    const loud = await runGit(await program('/usr/bin/head -c 1000000 /dev/zero >&2; exit 3'), [], where());
    assert.equal(loud.exitCode, 3);
    assert.equal(loud.errors.length, 8 * 1024);
  });

  it('that can not start is a fault of ours', async () => {
    verifies('connectors.git.bounded-process');
    await assert.rejects(runGit({ path: join(home, 'absent'), home }, [], where()), Fault);
  });
});
