/**
 * What the gate reads from an agent's repository with its own eyes: never by git, so that nothing in it is obeyed.
 *
 * It promises: plain files only, opened without following a link and without waiting, and bounded; a branch's head is
 * the forty digits that stand in its file or in `packed-refs`.
 * It refuses what it can't vouch for: a `.git` that is a file or a link (a linked work tree, a submodule), linked
 * object or ref folders, borrowed objects (alternates), a symbolic branch, another ref storage, SHA-256 objects.
 * Source: spec actions (git); gitrepository-layout(5).
 */
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../core/index.js';
import { GIT_LIMITS } from './limits.js';

export interface AgentRepository {
  /** The folder with `HEAD`, `objects` and `refs`. */
  readonly gitDir: string;
  /** Undefined for a bare repository. */
  readonly workTree: string | undefined;
}

/** What stands at a path; nothing is followed. */
async function kindOf(path: string): Promise<'folder' | 'file' | 'other' | 'absent'> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? 'file' : 'other';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    throw new Refusal('invalid', 'the repository can not be read', { path: 'target' });
  }
}

function unvouched(what: string): Refusal {
  return new Refusal('invalid', what, { path: 'target', next: 'use an ordinary repository of its own' });
}

/** Finds the parts of the repository at `path`. Throws the `Refusal` `invalid` for any that it can't vouch for. */
export async function openAgentRepository(path: string): Promise<AgentRepository> {
  const inner = join(path, '.git');
  if ((await kindOf(path)) === 'absent') {
    const next = 'correct its `path` in `trust.yaml`, then `countersign config apply`';
    throw new Refusal('invalid', 'there is no folder at the path of the repository', { path: 'target', next });
  }
  const kind = await kindOf(inner);
  if (kind === 'file' || kind === 'other') throw unvouched('the repository has a `.git` that is no folder');
  const gitDir = kind === 'folder' ? inner : path;
  for (const folder of ['.', 'objects', 'objects/pack', 'refs', 'refs/heads']) {
    if ((await kindOf(join(gitDir, folder))) !== 'folder') {
      throw unvouched(`the repository has no \`${folder}\` folder, or a linked one`);
    }
  }
  for (const borrowed of ['objects/info/alternates', 'commondir', 'reftable', 'shallow']) {
    if ((await kindOf(join(gitDir, borrowed))) !== 'absent') {
      throw unvouched(`the repository has a \`${borrowed}\``);
    }
  }
  return { gitDir, workTree: kind === 'folder' ? path : undefined };
}

/** The text of a small regular file; undefined when there is none. A link, a pipe or a device is refused. */
async function readPlain(path: string, bytesMax: number): Promise<string | undefined> {
  const kind = await kindOf(path);
  if (kind === 'absent' || kind === 'folder') return undefined;
  if (kind === 'other') throw unvouched('a file of the repository is a link or a device');
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > bytesMax) throw unvouched('a file of the repository is too large');
      return (await file.readFile()).toString('latin1');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // It went away since we looked, which is what a rename of git looks like: as good as absent.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Refusal('invalid', 'the repository can not be read', { path: 'target' });
  }
}

/**
 * The commit that a branch names; undefined when there is no such branch. The loose ref is read first and wins: git
 * packs a ref before it removes the file, so that this order misses none.
 */
export async function readBranch(repository: AgentRepository, branch: string): Promise<string | undefined> {
  const parts = ['refs', 'heads', ...branch.split('/')];
  for (let depth = 3; depth < parts.length; depth += 1) {
    const kind = await kindOf(join(repository.gitDir, ...parts.slice(0, depth)));
    if (kind === 'other') throw unvouched('a folder of refs is a link');
  }
  const loose = await readPlain(join(repository.gitDir, ...parts), GIT_LIMITS.smallFileBytesMax);
  if (loose === undefined) return readPackedBranch(repository, branch);
  const sha = /^([0-9a-f]{40})\n?$/.exec(loose)?.[1];
  if (sha === undefined) throw unvouched('the branch is symbolic, broken, or of another object format');
  return sha;
}

async function readPackedBranch(repository: AgentRepository, branch: string): Promise<string | undefined> {
  const packed = await readPlain(join(repository.gitDir, 'packed-refs'), GIT_LIMITS.packedRefsBytesMax);
  const suffix = ` refs/heads/${Buffer.from(branch, 'utf8').toString('latin1')}`;
  for (const line of packed?.split('\n') ?? []) {
    if (line.endsWith(suffix) && line.length === 40 + suffix.length) {
      const sha = line.slice(0, 40);
      if (/^[0-9a-f]{40}$/.test(sha)) return sha;
    }
  }
  return undefined;
}

/** Files whose presence says that git is in the middle of something in a work tree. */
const IN_PROGRESS = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

/**
 * Whether the branch is checked out in the main work tree. Throws the `Refusal` `stale_precondition` while a merge,
 * rebase or bisection is in progress there, and `invalid` when a linked work tree has the branch, whose files would
 * fall behind.
 */
export async function isCheckedOut(repository: AgentRepository, branch: string): Promise<boolean> {
  await refuseLinkedWorkTree(repository, branch);
  if (repository.workTree === undefined) return false;
  const head = await readPlain(join(repository.gitDir, 'HEAD'), GIT_LIMITS.smallFileBytesMax);
  const isHere = headBranch(head) === branch;
  // A rebase detaches HEAD and moves the branch when it ends.
  if (isHere || headBranch(head) === undefined) {
    for (const name of IN_PROGRESS) {
      if ((await kindOf(join(repository.gitDir, name))) !== 'absent') {
        throw new Refusal('stale_precondition', 'a merge, rebase or bisection is in progress in the work tree', {
          path: 'target',
          next: 'finish or abort it, then try again',
        });
      }
    }
  }
  return isHere;
}

function headBranch(head: string | undefined): string | undefined {
  const name = /^ref: refs\/heads\/([^\n]+)\n?$/.exec(head ?? '')?.[1];
  return name === undefined ? undefined : Buffer.from(name, 'latin1').toString('utf8');
}

async function refuseLinkedWorkTree(repository: AgentRepository, branch: string): Promise<void> {
  const root = join(repository.gitDir, 'worktrees');
  const kind = await kindOf(root);
  if (kind === 'absent') return;
  const names = kind === 'folder' ? await readdir(root).catch(() => undefined) : undefined;
  if (names === undefined || names.length > GIT_LIMITS.linkedWorkTreesMax) {
    throw unvouched('the linked work trees can not be listed');
  }
  for (const name of names) {
    const head = await readPlain(join(root, name, 'HEAD'), GIT_LIMITS.smallFileBytesMax);
    const rebased = await readPlain(join(root, name, 'rebase-merge', 'head-name'), GIT_LIMITS.smallFileBytesMax);
    if (headBranch(head) === branch || headBranch(`ref: ${rebased ?? ''}`) === branch) {
      throw unvouched('the branch is checked out in a linked work tree');
    }
  }
}
