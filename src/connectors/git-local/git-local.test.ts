/** Tests of `git-local`: the contract in each kind of repository, and what its operations make of a branch. */
import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACTION_ID, callOf, connectorContract, readyCall } from '../../../test/contracts/connector.js';
import { type GitWorld, gitWorld, NEW_TEXT } from '../../../test/support/git-world.js';
import { verifies } from '../../../test/support/verifies.js';
import { type Code, Refusal, sha256Hex } from '../../core/index.js';
import type { Preconditions } from '../index.js';

for (const kind of ['checked-out', 'elsewhere', 'bare'] as const) {
  connectorContract(`git-local, ${kind}`, () => gitWorld(kind));
}

/** Runs a check in a fresh repository. */
async function within(check: (world: GitWorld) => Promise<void>, kind?: 'elsewhere' | 'bare'): Promise<void> {
  const world = await gitWorld(kind);
  try {
    await check(world);
  } finally {
    await world.close();
  }
}

function refused(code: Code): (error: unknown) => boolean {
  return (error) => error instanceof Refusal && error.code === code;
}

describe('git-local', () => {
  it('merges with a new commit whose id it knew before, and brings the work tree along', () =>
    within(async (world) => {
      verifies('connectors.git.merge');
      const merge = await world.operation('merge');
      const before = await world.plain('rev-parse', 'main');
      const call = await readyCall(merge, callOf(world.merge));
      const outcome = await merge.execute(call);
      const head = await world.plain('rev-parse', 'main');
      assert.equal(outcome.externalRef, head);
      assert.equal((call.prepared as { commit: string }).commit, head);
      assert.deepEqual(outcome.evidence, { commit: head, target_sha: before, work_tree: 'updated' });
      assert.equal(await world.plain('rev-parse', 'main^1'), before);
      assert.equal(await world.plain('rev-parse', 'main^2'), world.merge.args.source_sha);
      assert.equal(await world.plain('status', '--porcelain'), '');
      assert.equal(await readFile(join(world.path, 'src/b.ts'), 'utf8'), 'export const b = 2;\n');
      assert.match(await world.plain('log', '-1', '--format=%B'), new RegExp(`\n\nCountersign-Action: ${ACTION_ID}$`));
      await world.plain('fsck', '--strict');
    }));

  it('makes a new commit also where the branch could be moved forward', () =>
    within(async (world) => {
      verifies('connectors.git.merge');
      await world.plain('checkout', '-q', '-b', 'ahead');
      await world.plain('commit', '-q', '--allow-empty', '-m', 'ahead');
      await world.plain('checkout', '-q', 'main');
      const merge = await world.operation('merge');
      const args = { source: 'ahead', source_sha: await world.plain('rev-parse', 'ahead') };
      const outcome = await merge.execute(await readyCall(merge, callOf({ ...world.merge, args })));
      assert.equal(outcome.result, 'confirmed');
      assert.equal(await world.plain('rev-parse', 'main^2'), args.source_sha);
    }));

  it('writes exactly the content that was named, as an ordinary file', () =>
    within(async (world) => {
      verifies('connectors.git.write');
      const write = await world.operation('write');
      const outcome = await write.execute(await readyCall(write, callOf(world.write)));
      assert.equal(outcome.result, 'confirmed', outcome.code);
      assert.equal(await world.plain('diff', '--name-status', 'main^', 'main'), 'A\tdocs/new.md');
      assert.match(await world.plain('ls-tree', 'main', 'docs/new.md'), /^100644 blob /);
      assert.equal(await readFile(join(world.path, 'docs/new.md'), 'utf8'), NEW_TEXT);
      assert.equal(await world.plain('status', '--porcelain'), '');
    }));

  it('refuses content that is missing or is not what its hash says', () =>
    within(async (world) => {
      verifies('connectors.git.content');
      const write = await world.operation('write');
      const other = callOf(world.write, { content: async () => Buffer.from('other') });
      await assert.rejects(write.snapshot?.(other) ?? Promise.resolve(), refused('binding_changed'));
      const missing = callOf(world.write, { content: async () => undefined });
      await assert.rejects(write.snapshot?.(missing) ?? Promise.resolve(), refused('invalid'));
    }));

  it('refuses a write that changes nothing or goes through a file', () =>
    within(async (world) => {
      verifies('connectors.git.write');
      const write = await world.operation('write');
      const same = await readFile(join(world.path, 'README.md'));
      const args = { ...world.write.args, path: 'README.md', content_sha256: sha256Hex(same) };
      const call = callOf({ ...world.write, args, content: new Map([[`sha256:${sha256Hex(same)}`, same]]) });
      await assert.rejects(write.snapshot?.(call) ?? Promise.resolve(), refused('invalid'));
      for (const path of ['README.md/x', 'src']) {
        const through = callOf({ ...world.write, args: { ...world.write.args, path } });
        await assert.rejects(write.snapshot?.(through) ?? Promise.resolve(), refused('invalid'), path);
      }
    }));

  it('refuses conflicts, merged branches, unrelated histories and branches that are not there', () =>
    within(async (world) => {
      verifies('connectors.git.conflicts');
      const merge = await world.operation('merge');
      const tried = (source: string, sha: string, target = 'acme#main') =>
        merge.snapshot?.(callOf({ ...world.merge, target, args: { source, source_sha: sha } })) ?? Promise.resolve();
      await world.plain('checkout', '-q', '-b', 'clash', 'main~1');
      await world.put('src/a.ts', 'export const a = 3;\n');
      await world.plain('commit', '-q', '-a', '-m', 'clash');
      await world.plain('checkout', '-q', '--orphan', 'foreign');
      await world.plain('commit', '-q', '-m', 'foreign');
      await world.plain('checkout', '-q', 'main');
      await assert.rejects(tried('clash', await world.plain('rev-parse', 'clash')), refused('invalid'));
      await assert.rejects(tried('foreign', await world.plain('rev-parse', 'foreign')), refused('invalid'));
      await assert.rejects(tried('main', await world.plain('rev-parse', 'main')), refused('invalid'));
      await assert.rejects(tried('absent', '0'.repeat(40)), refused('invalid'));
      const feature = await world.plain('rev-parse', 'feature');
      for (const target of ['acme#absent', 'other#main', 'acme', '#main', 'acme#', 'acme#-x', '__proto__#main']) {
        await assert.rejects(tried('feature', feature, target), refused('invalid'), target);
      }
    }));

  it('shows the diff of the pinned commits, also after the branches moved', () =>
    within(async (world) => {
      verifies('connectors.git.preview');
      const merge = await world.operation('merge');
      const call = callOf(world.merge);
      const preconditions = (await merge.snapshot?.(call)) as Preconditions;
      await world.put('README.md', 'moved\n');
      await world.plain('commit', '-q', '-a', '-m', 'moved');
      const preview = await merge.preview?.({ ...call, preconditions });
      assert.equal(preview?.mediaType, 'text/x-diff');
      assert.match(preview?.text ?? '', /^diff --git a\/src\/b\.ts b\/src\/b\.ts\nnew file mode 100644\n/);
      assert.match(preview?.text ?? '', /^\+export const b = 2;$/m);
      assert.doesNotMatch(preview?.text ?? '', /moved/);
      assert.equal(sha256Hex(preview?.text ?? ''), preconditions.diff_sha256);
      for (const name of ['diff_sha256', 'tree_sha', 'target_sha']) {
        const forged = { ...preconditions, [name]: 'a'.repeat(name === 'diff_sha256' ? 64 : 40) };
        await assert.rejects(merge.preview?.({ ...call, preconditions: forged }) ?? Promise.resolve(), Refusal, name);
      }
    }));

  it('refuses to prepare once a branch moved, and fails a launch that comes too late', () =>
    within(async (world) => {
      verifies('connectors.git.moved');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      await world.plain('commit', '-q', '--allow-empty', '-m', 'moved');
      await assert.rejects(merge.prepare?.(call) ?? Promise.resolve(), refused('stale_precondition'));
      assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'target_moved' });
      assert.deepEqual(await merge.reconcile?.(call), { result: 'failed', code: 'no_effect' });
      await world.plain('branch', '-f', 'feature', 'feature~1');
      await assert.rejects(merge.snapshot?.(call) ?? Promise.resolve(), refused('stale_precondition'));
    }));

  it('fails when the source moved after it was prepared', () =>
    within(async (world) => {
      verifies('connectors.git.moved');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      await world.plain('branch', '-f', 'feature', 'feature~1');
      assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'stale_precondition' });
    }));

  it('finds its commit under later ones, and tells nothing of a rewritten or deleted branch', () =>
    within(async (world) => {
      verifies('connectors.git.reconcile');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      const before = await world.plain('rev-parse', 'main');
      assert.equal((await merge.reconcile?.(call))?.result, 'failed');
      await merge.execute(call);
      await world.plain('commit', '-q', '--allow-empty', '-m', 'later');
      assert.equal((await merge.reconcile?.(call))?.result, 'confirmed');
      const merged = await world.plain('rev-parse', 'main~1');
      // In the history, but not as the branch's own: the second parent of a commit on the old head.
      const tree = await world.plain('rev-parse', 'main^{tree}');
      const beside = await world.plain('commit-tree', tree, '-p', before, '-p', merged, '-m', 'beside');
      await world.plain('update-ref', 'refs/heads/main', beside);
      assert.equal((await merge.reconcile?.(call))?.result, 'failed');
      await world.plain('update-ref', 'refs/heads/main', `${before}~1`);
      assert.equal(await merge.reconcile?.(call), undefined);
      await world.plain('update-ref', '-d', 'refs/heads/main');
      assert.equal(await merge.reconcile?.(call), undefined);
    }));

  it('leaves alone what is not tracked, and refuses what it would overwrite', () =>
    within(async (world) => {
      verifies('connectors.git.dirty');
      const merge = await world.operation('merge');
      await world.put('notes.txt', 'mine');
      const call = await readyCall(merge, callOf(world.merge));
      await world.put('src/b.ts', 'mine too');
      assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'stale_precondition' });
      await writeFile(join(world.path, 'src/b.ts'), '');
      await world.plain('clean', '-q', '-f', 'src/b.ts');
      assert.equal((await merge.execute(call)).result, 'confirmed');
      assert.equal(await readFile(join(world.path, 'notes.txt'), 'utf8'), 'mine');
    }));

  it('refuses a checked-out branch with any change, however it is hidden', () =>
    within(async (world) => {
      verifies('connectors.git.dirty');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      const dirtying: Record<string, () => Promise<unknown>> = {
        'a changed file': () => world.put('README.md', 'changed\n'),
        'a changed file of the same size': () => world.put('README.md', 'one\ntwo\nthreE\n'),
        'assume-unchanged': async () => {
          await world.plain('update-index', '--assume-unchanged', 'README.md');
          await world.put('README.md', 'changed\n');
        },
        'skip-worktree': async () => {
          await world.plain('update-index', '--skip-worktree', 'README.md');
          await world.put('README.md', 'changed\n');
        },
        'a staged file': async () => {
          await world.put('staged', 'x');
          await world.plain('add', 'staged');
        },
        'an intended file': async () => {
          await world.put('intended', 'x');
          await world.plain('add', '-N', 'intended');
        },
        'a missing file': () => world.plain('rm', '-q', '--cached', 'README.md'),
        'an executable file': () => world.plain('update-index', '--chmod=+x', 'README.md'),
        'a broken index': () => writeFile(join(world.path, '.git/index'), 'DIRC broken'),
        'a merge in progress': () => writeFile(join(world.path, '.git/MERGE_HEAD'), '0'.repeat(40)),
      };
      for (const [what, makeDirty] of Object.entries(dirtying)) {
        await makeDirty();
        await assert.rejects(merge.snapshot?.(call) ?? Promise.resolve(), refused('stale_precondition'), what);
        assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'stale_precondition' }, what);
        await access(join(world.path, '.git/index.lock')).then(
          () => assert.fail(what),
          () => undefined,
        );
        await writeFile(join(world.path, '.git/index'), '').catch(() => undefined);
        await world.plain('read-tree', '--empty');
        await world.plain('reset', '-q', '--hard', 'main');
      }
      assert.equal((await merge.execute(call)).result, 'confirmed');
    }));

  it('stays out while another git process holds the index', () =>
    within(async (world) => {
      verifies('connectors.git.lock');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      await writeFile(join(world.path, '.git/index.lock'), '');
      assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'busy' });
      await access(join(world.path, '.git/index.lock'));
    }));

  it('is not fooled by a locked ref', () =>
    within(async (world) => {
      verifies('connectors.git.lock');
      const merge = await world.operation('merge');
      const call = await readyCall(merge, callOf(world.merge));
      await writeFile(join(world.path, '.git/refs/heads/main.lock'), '');
      assert.deepEqual(await merge.execute(call), { result: 'failed', code: 'not_swapped' });
    }));

  it('works on packed refs and branches with odd names', () =>
    within(async (world) => {
      verifies('connectors.git.names');
      const merge = await world.operation('merge');
      for (const branch of ['a/b/c', '$(id)', '`id`', "it's;|&", 'ünïcode', 'a#b']) {
        await world.plain('branch', '--', branch, 'main');
        await world.plain('pack-refs', '--all');
        const call = await readyCall(merge, callOf({ ...world.merge, target: `acme#${branch}` }));
        const outcome = await merge.execute(call);
        assert.equal(outcome.result, 'confirmed', branch);
        assert.equal(await world.plain('rev-parse', '--verify', `refs/heads/${branch}`), outcome.externalRef);
      }
    }, 'bare'));
});
