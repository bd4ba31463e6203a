/** Tests of `git-local` that is killed, called off, or raced in the middle of a launch. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACTION_ID, callOf, readyCall } from '../../../test/contracts/connector.js';
import { type GitWorld, gitWorld } from '../../../test/support/git-world.js';
import { verifies } from '../../../test/support/verifies.js';
import type { Call, GitStep } from '../index.js';

/** Launches in another process, which kills itself at the step. */
async function launchAndDie(world: GitWorld, call: Call, step: GitStep): Promise<void> {
  const { preconditions, prepared, args, argsText, target, operation } = call;
  const facts = { ...callFields, preconditions, prepared, args, argsText, target, operation };
  const script = `
    import { gitLocal } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    const call = { ...${JSON.stringify(facts)}, deadline: Date.now() + 60000, signal: new AbortController().signal,
      content: async () => undefined, secret: async () => undefined };
    const connector = gitLocal({ repositories: { acme: { path: ${JSON.stringify(world.path)} } },
      stateDir: ${JSON.stringify(world.stateDir)},
      failpoint: (step) => { if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL'); } });
    await (await connector.operation(call.operation)).execute(call);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: 'inherit' });
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)));
  assert.equal(signal, 'SIGKILL', step);
}

const callFields = { actionId: ACTION_ID, attempt: 1, project: 'acme', idempotencyKey: ACTION_ID };

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('git-local in the middle of a launch', () => {
  for (const [step, became] of [
    ['git.before-swap', 'failed'],
    ['git.after-swap', 'confirmed'],
    ['git.after-files', 'confirmed'],
  ] as const) {
    it(`killed at ${step}: the ref tells what became of it, and a person can go on`, async () => {
      verifies('connectors.git.killed');
      const world = await gitWorld();
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      const before = await world.plain('rev-parse', 'main');
      await launchAndDie(world, call, step);
      const head = await world.plain('rev-parse', 'main');
      assert.equal((await merge.reconcile?.(call))?.result, became);
      assert.equal(head === before, became === 'failed');
      // The lock that git would have left too; it keeps everybody from a half-made work tree.
      assert.ok(await isThere(join(world.path, '.git/index.lock')));
      const again = await merge.execute({ ...call, attempt: 2 });
      assert.equal(again.result, became);
      await rm(join(world.path, '.git/index.lock'));
      if (became === 'failed') assert.equal((await merge.execute({ ...call, attempt: 2 })).result, 'confirmed');
      await world.plain('reset', '-q', '--hard', 'main');
      assert.equal(await world.merge.effects(ACTION_ID), 1);
      assert.equal(await world.plain('status', '--porcelain'), '');
      await world.plain('fsck', '--strict');
      await world.close();
    });
  }

  it('called off just before the swap: no effect, and none can follow', async () => {
    verifies('connectors.git.certain');
    const world = await gitWorld();
    const controller = new AbortController();
    const merge = await world.with({ failpoint: (step) => step === 'git.before-swap' && controller.abort() })('merge');
    const call = await readyCall(merge, callOf(world.merge, { signal: controller.signal }));
    assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'too_late' });
    assert.equal(await world.merge.effects(ACTION_ID), 0);
    assert.ok(!(await isThere(join(world.path, '.git/index.lock'))));
    await world.close();
  });

  it('the deadline passes just before the swap: no effect', async () => {
    verifies('connectors.git.certain');
    const world = await gitWorld();
    let now = 0;
    const merge = await world.with({ now: () => now, failpoint: () => (now = 100) })('merge');
    const call = await readyCall(merge, callOf(world.merge, { deadline: 100 }));
    assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'too_late' });
    assert.equal(await world.merge.effects(ACTION_ID), 0);
    await world.close();
  });

  it('called off after the swap: confirmed all the same', async () => {
    verifies('connectors.git.certain');
    const world = await gitWorld();
    const controller = new AbortController();
    const merge = await world.with({ failpoint: (step) => step === 'git.after-swap' && controller.abort() })('merge');
    const outcome = await merge.execute(await readyCall(merge, callOf(world.merge, { signal: controller.signal })));
    assert.equal(outcome.result, 'confirmed');
    assert.equal(await world.plain('status', '--porcelain'), '');
    await world.close();
  });

  it('a work tree that changes after the swap is left alone and said so', async () => {
    verifies('connectors.git.work-tree-late');
    const world = await gitWorld();
    const { writeFileSync } = await import('node:fs');
    const dirty = () => writeFileSync(join(world.path, 'src/b.ts'), 'mine\n');
    const merge = await world.with({ failpoint: (step) => step === 'git.after-swap' && dirty() })('merge');
    const outcome = await merge.execute(await readyCall(merge, callOf(world.merge)));
    assert.equal(outcome.result, 'confirmed');
    assert.equal(outcome.code, 'work_tree_not_updated');
    assert.equal(await readFile(join(world.path, 'src/b.ts'), 'utf8'), 'mine\n');
    assert.equal(await world.merge.effects(ACTION_ID), 1);
    assert.ok(!(await isThere(join(world.path, '.git/index.lock'))));
    await world.close();
  });

  it('the ref moves just before the swap: failed, and the other commit stands', async () => {
    verifies('connectors.git.moved');
    const world = await gitWorld('bare');
    const { execFileSync } = await import('node:child_process');
    const other = await world.plain('commit-tree', 'main^{tree}', '-p', 'main', '-m', 'other');
    const move = () => execFileSync('git', ['update-ref', 'refs/heads/main', other], { cwd: world.path });
    const merge = await world.with({ failpoint: (step) => step === 'git.before-swap' && move() })('merge');
    const outcome = await merge.execute(await readyCall(merge, callOf(world.merge)));
    assert.deepEqual(outcome, { result: 'failed', code: 'not_swapped' });
    assert.equal(await world.plain('rev-parse', 'main'), other);
    await world.close();
  });

  for (const kind of ['checked-out', 'bare'] as const) {
    it(`many actions at once on one branch, ${kind}: one moves it, each is told the truth`, async () => {
      verifies('connectors.git.race');
      const world = await gitWorld(kind);
      const calls = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          // Each from a connector of its own, as in processes of their own.
          const merge = await world.operation('merge');
          const id = `${ACTION_ID.slice(0, -1)}${index}`;
          return { merge, id, call: await readyCall(merge, callOf(world.merge, { actionId: id, idempotencyKey: id })) };
        }),
      );
      const outcomes = await Promise.all(calls.map(({ merge, call }) => merge.execute(call)));
      assert.deepEqual(outcomes.map((outcome) => outcome.result).sort(), ['confirmed', ...Array(7).fill('failed')]);
      for (const [index, { id }] of calls.entries()) {
        assert.equal(await world.merge.effects(id), outcomes[index]?.result === 'confirmed' ? 1 : 0);
      }
      if (kind === 'checked-out') assert.equal(await world.plain('status', '--porcelain'), '');
      await world.close();
    });
  }
});
