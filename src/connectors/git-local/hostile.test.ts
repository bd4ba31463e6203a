/**
 * Tests of `git-local` on repositories of a hostile owner: nothing that they configure runs, nothing that they forge is
 * believed. The red control shows that plain git does run it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACTION_ID, callOf, readyCall } from '../../../test/contracts/connector.js';
import { type GitWorld, gitWorld, plainGit } from '../../../test/support/git-world.js';
import { canaries, makeHostile } from '../../../test/support/hostile-git.js';
import { verifies } from '../../../test/support/verifies.js';
import { Refusal } from '../../core/index.js';

/** A repository whose two branches change one file, with attributes for every driver and a submodule. */
async function hostileWorld(kind: 'checked-out' | 'bare'): Promise<GitWorld> {
  const world = await gitWorld(kind);
  if (kind === 'bare') {
    await makeHostile(world.root, world.path);
    return world;
  }
  const long = ['$Id$\n', ...Array.from({ length: 40 }, (_, line) => `line ${line}\n`)];
  const files = {
    'long.txt': long.join(''),
    '.gitattributes': '* filter=evil diff=evil merge=evil text eol=crlf ident\n',
    '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ext::false\n\tupdate = checkout\n',
  };
  await mkdir(join(world.path, 'sub'));
  const submodule = `160000,${await world.plain('rev-parse', 'main')},sub`;
  const base = await commitFiles(world, 'base', 'main', files, submodule);
  await world.plain('update-ref', 'refs/heads/main', base);
  const onFeature = { 'long.txt': long.with(35, 'changed on feature\n').join('') };
  await world.plain('update-ref', 'refs/heads/feature', await commitFiles(world, 'feature', 'main', onFeature));
  const onMain = { 'long.txt': long.with(5, 'changed on main\n').join('') };
  await world.plain('update-ref', 'refs/heads/main', await commitFiles(world, 'main', 'main', onMain));
  for (const [name, text] of Object.entries({ ...files, ...onMain })) await world.put(name, text);
  await makeHostile(world.root, join(world.path, '.git'));
  return world;
}

/** A commit over a parent, made without a look at the work tree; the index is its tree afterwards. */
async function commitFiles(
  world: GitWorld,
  message: string,
  parent: string,
  files: Readonly<Record<string, string>>,
  submodule?: string,
): Promise<string> {
  await world.plain('read-tree', parent);
  for (const [name, text] of Object.entries(files)) {
    await world.plain('update-index', '--add', '--cacheinfo', `100644,${await blobOf(world, text)},${name}`);
  }
  if (submodule !== undefined) await world.plain('update-index', '--add', '--cacheinfo', submodule);
  return world.plain('commit-tree', await world.plain('write-tree'), '-p', parent, '-m', message);
}

async function blobOf(world: GitWorld, text: string): Promise<string> {
  await writeFile(join(world.root, 'blob'), text);
  return world.plain('hash-object', '-w', '--no-filters', join(world.root, 'blob'));
}

/** A repository of its own for one trick. */
async function tricked(expected: RegExp, trick: (world: GitWorld) => Promise<unknown>): Promise<void> {
  const world = await gitWorld();
  try {
    const merge = await world.operation('merge');
    await trick(world);
    const call = callOf(world.merge);
    await assert.rejects(
      merge.snapshot?.(call) ?? Promise.resolve(),
      (error) => error instanceof Refusal && expected.test(error.message),
    );
  } finally {
    await world.close();
  }
}

describe('git-local in a hostile repository', () => {
  for (const kind of ['checked-out', 'bare'] as const) {
    it(`runs nothing that the repository configures, ${kind}`, async () => {
      verifies('connectors.git.hostile-config');
      const world = await hostileWorld(kind);
      const feature = await world.plain('rev-parse', 'feature');
      const before = await canaries(world.root);
      assert.deepEqual(before, []);
      const mergeCase = { ...world.merge, args: { source: 'feature', source_sha: feature } };
      for (const [index, subject] of [mergeCase, world.write].entries()) {
        const operation = await world.operation(subject.operation);
        const id = `${ACTION_ID.slice(0, -1)}${index}`;
        const call = await readyCall(operation, callOf(subject, { actionId: id, idempotencyKey: id }));
        const preview = await operation.preview?.(call);
        assert.match(preview?.text ?? '', /^diff --git /);
        const outcome = await operation.execute(call);
        assert.equal(outcome.result, 'confirmed', outcome.code);
        assert.equal((outcome.evidence as { work_tree: string }).work_tree, kind === 'bare' ? 'none' : 'updated');
        assert.equal((await operation.reconcile?.(call))?.result, 'confirmed');
        assert.deepEqual(await canaries(world.root), [], subject.operation);
      }
      if (kind === 'checked-out') {
        const merged = await readFile(join(world.path, 'long.txt'), 'utf8');
        assert.match(merged, /changed on feature/);
        assert.match(merged, /changed on main/);
        assert.doesNotMatch(merged, /\r/);
        assert.match(merged, /^\$Id\$\n/);
      }
      await redControl(world, kind);
      await world.close();
    });
  }

  it('reads the objects that a commit names, not their replacements, grafts, or forgeries', async () => {
    verifies('connectors.git.objects');
    const world = await gitWorld();
    const merge = await world.operation('merge');
    const call = await readyCall(merge, callOf(world.merge));
    const feature = await world.plain('rev-parse', 'feature');
    await world.plain('replace', feature, await world.plain('rev-parse', 'main'));
    await writeFile(join(world.path, '.git/info/grafts'), `${feature} ${'0'.repeat(40)}\n`);
    assert.deepEqual(await merge.snapshot?.(call), call.preconditions);
    await rm(world.stateDir, { recursive: true });
    assert.deepEqual(await merge.snapshot?.(call), call.preconditions, 'also when nothing was taken in before');
    await world.close();

    await tricked(/in full/, async (forged) => {
      const path = await objectPath(forged, 'feature:src/b.ts');
      const other = await readFile(await objectPath(forged, 'main:README.md'));
      await chmod(path, 0o644);
      await writeFile(path, other);
    });
    await tricked(/in full/, (forged) => forgePack(forged, 'feature:src/b.ts', 'export const b = 666;\n'));
    await tricked(/in full/, async (missing) => rm(await objectPath(missing, 'feature:src/b.ts')));
  });

  it('refuses repositories that it can not vouch for', async () => {
    verifies('connectors.git.unvouched');
    const moved = (name: string) => async (world: GitWorld) => {
      await rename(join(world.path, name), join(world.root, 'elsewhere'));
      await symlink(join(world.root, 'elsewhere'), join(world.path, name));
    };
    for (const name of ['.git', '.git/objects', '.git/objects/pack', '.git/refs', '.git/refs/heads']) {
      await tricked(/is no folder|or a linked one/, moved(name));
    }
    await tricked(/a link or a device/, moved('.git/refs/heads/main'));
    await tricked(/has changes/, moved('.git/index'));
    await tricked(/is no folder/, async (world) => {
      await rename(join(world.path, '.git'), join(world.root, 'elsewhere'));
      await writeFile(join(world.path, '.git'), `gitdir: ${world.root}/elsewhere\n`);
    });
    await tricked(/symbolic/, (world) => world.plain('symbolic-ref', 'refs/heads/main', 'refs/heads/feature'));
    await tricked(/broken/, (world) => writeFile(join(world.path, '.git/refs/heads/main'), 'x'.repeat(40)));
    await tricked(/object format/, (world) => writeFile(join(world.path, '.git/refs/heads/main'), '0'.repeat(64)));
    await tricked(/alternates/, (world) =>
      writeFile(join(world.path, '.git/objects/info/alternates'), '/elsewhere/objects\n'),
    );
    await tricked(/shallow/, (world) => writeFile(join(world.path, '.git/shallow'), ''));
    await tricked(/linked work tree/, async (world) => {
      await world.plain('checkout', '-q', '-b', 'other');
      await world.plain('worktree', 'add', '-q', join(world.root, 'linked'), 'main');
    });
  });

  it('refuses a tree with a path that stands for `.git`', async () => {
    verifies('connectors.git.dot-git');
    for (const name of ['.git', '.GIT', 'git~1', '.git ', '.g\u200cit', '.git::$INDEX_ALLOCATION', '..']) {
      await tricked(/stands for `.git`/, async (world) => {
        const blob = await blobOf(world, 'x');
        const inner = await treeOf(world, [`100644 blob ${blob}\tconfig`]);
        const outer = await treeOf(world, [
          ...(await world.plain('ls-tree', 'feature')).split('\n'),
          `040000 tree ${inner}\t${name}`,
        ]);
        const commit = await world.plain('commit-tree', outer, '-p', 'feature', '-m', 'trap');
        await world.plain('update-ref', 'refs/heads/feature', commit);
        (world.merge.args as Record<string, string>).source_sha = commit;
      });
    }
  });

  it('takes a fifo, a huge or a missing file for what it is', async () => {
    verifies('connectors.git.unvouched');
    await tricked(/no such branch/, async (world) => {
      await rm(join(world.path, '.git/refs/heads/main'));
      await mkdir(join(world.path, '.git/refs/heads/main'));
      await appendFile(join(world.path, '.git/packed-refs'), `${'z'.repeat(40)} refs/heads/main\n`);
    });
    await tricked(/too large/, (world) => writeFile(join(world.path, '.git/HEAD'), Buffer.alloc(8_192)));
  });
});

/** Takes a blob away and puts a pack there whose index gives its name to other content. Plain git believes it. */
async function forgePack(world: GitWorld, name: string, text: string): Promise<void> {
  const sha = await world.plain('rev-parse', name);
  const other = await blobOf(world, text);
  await writeFile(join(world.root, 'list'), `${other}\n`);
  const pack = join(world.path, '.git/objects/pack/pack');
  const packing = 'alias.pk=!git pack-objects -q "$1" < "$2" #';
  const made = `${pack}-${await world.plain('-c', packing, 'pk', pack, join(world.root, 'list'))}.idx`;
  const index = await readFile(made);
  const first = Number.parseInt(sha.slice(0, 2), 16);
  for (let at = 0; at < 256; at += 1) index.writeUInt32BE(at >= first ? 1 : 0, 8 + 4 * at);
  index.write(sha, 8 + 1_024, 'hex');
  createHash('sha1')
    .update(index.subarray(0, -20))
    .digest()
    .copy(index, index.length - 20);
  await chmod(made, 0o644);
  await writeFile(made, index);
  await rm(await objectPath(world, name));
  assert.equal(`${await world.plain('cat-file', 'blob', sha)}\n`, text, 'red control: plain git believes the forgery');
}

async function objectPath(world: GitWorld, name: string): Promise<string> {
  const sha = await world.plain('rev-parse', name);
  return join(world.path, '.git/objects', sha.slice(0, 2), sha.slice(2));
}

async function treeOf(world: GitWorld, entries: readonly string[]): Promise<string> {
  await writeFile(join(world.root, 'entries'), `${entries.join('\n')}\n`);
  return plainGit(world.path, '-c', 'alias.mk=!git mktree < "$1" #', 'mk', join(world.root, 'entries'));
}

/** Plain git on the same repository does run what is configured there. */
async function redControl(world: GitWorld, kind: 'checked-out' | 'bare'): Promise<void> {
  const tries =
    kind === 'bare'
      ? [
          ['update-ref', 'refs/heads/x', 'main'],
          ['log', '-p', '-1', '--ext-diff', 'main'],
        ]
      : [
          ['status'],
          ['diff', 'HEAD~1'],
          ['log', '-p', '-1'],
          ['checkout', '-q', '-b', 'y'],
          ['commit', '--allow-empty', '-m', 'x'],
          ['-c', 'commit.gpgSign=false', 'commit', '--allow-empty', '-m', 'x'],
          ['-c', 'commit.gpgSign=false', 'merge', '--no-edit', 'feature~0'],
        ];
  for (const args of tries) await world.plain(...args).catch(() => '');
  if (kind === 'checked-out') {
    // A file that surely changed, so that its content is filtered whatever its time stamp says.
    await world.put('added.txt', 'added');
    await world.plain('add', 'added.txt').catch(() => '');
    await world.plain('merge-tree', '--write-tree', 'main~2', 'feature').catch(() => '');
  }
  const ran = await canaries(world.root);
  const expected =
    kind === 'bare'
      ? ['hook-reference-transaction']
      : [
          'core.fsmonitor',
          'filter.evil.clean',
          'filter.evil.smudge',
          'gpg.program',
          'diff.evil.command',
          'merge.evil.driver',
          'hook-reference-transaction',
          'hook-post-index-change',
          'hook-pre-commit',
          'hook-post-checkout',
        ];
  for (const name of expected) assert.ok(ran.includes(name), `plain git runs ${name}; it ran ${ran.join(' ')}`);
}
