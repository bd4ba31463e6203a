/**
 * The work tree of a checked-out branch: is it exactly the commit, and bringing it to the next one.
 *
 * It promises: the agent's index is read but not believed. A fresh private index is made from the commit and every file
 * is hashed against it, so that no flag, time stamp or extension of the agent's index can hide a change; files are
 * written by the gate's git under the gate's configuration, byte for byte as they are in the tree; the agent's index is
 * replaced whole, under its own lock, which is held from the check to the end so that the agent's git stays out.
 * It refuses a work tree that differs in any tracked file, and one that a filter or line-ending rule keeps different.
 * Untracked files stay; one that stands in the way is refused.
 * Source: spec actions (git-local: a checked-out branch must be clean and is updated after).
 */
import { type FileHandle, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, Refusal } from '../../core/index.js';
import { type GateRepository, mustGit, type StoreOptions, tryGit } from './gate-repository.js';
import { GIT_LIMITS } from './limits.js';

interface WorkTreeCheck {
  /** The commit that the work tree must be. */
  readonly from: string;
  /** Where the private index is made. */
  readonly index: string;
  readonly signal?: AbortSignal;
}

function dirty(): Refusal {
  return new Refusal('stale_precondition', 'the work tree of the branch has changes', {
    path: 'target',
    next: 'commit or discard them, then try again',
  });
}

function optionsOf(workTree: string, index: string, signal: AbortSignal | undefined): StoreOptions {
  return signal === undefined ? { workTree, index } : { workTree, index, signal };
}

/** Throws `stale_precondition` unless index and files are exactly the commit. Leaves the private index, up to date. */
export async function demandClean(gate: GateRepository, workTree: string, check: WorkTreeCheck): Promise<void> {
  const agentIndex = join(gate.agent.gitDir, 'index');
  const agents = optionsOf(workTree, agentIndex, check.signal);
  const ours = optionsOf(workTree, check.index, check.signal);
  const found = await lstat(agentIndex).catch(() => undefined);
  if (found !== undefined && !found.isFile()) throw dirty();
  const staged = await tryGit(gate, ['ls-files', '--stage', '-z'], agents);
  // An index that git can't read is not clean.
  if (staged.exitCode !== 0) throw dirty();
  const listing = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', check.from];
  const committed = (await mustGit(gate, listing, ours)).toString('latin1');
  if (stagedForm(committed) !== staged.output.toString('latin1')) throw dirty();
  await mustGit(gate, ['read-tree', '--end-of-options', check.from], ours);
  // Exits with 1 for a file that differs; `diff-files` then names it.
  await tryGit(gate, ['update-index', '-q', '--ignore-submodules', '--refresh'], ours);
  const differing = await mustGit(
    gate,
    ['diff-files', '--raw', '-z', '--no-ext-diff', '--ignore-submodules=all'],
    ours,
  );
  if (differing.length > 0) throw dirty();
}

/** `mode type sha<TAB>path` of a tree as `mode sha stage<TAB>path` of an index. */
function stagedForm(listing: string): string {
  return listing.replace(/(^|\0)(\d{6}) [a-z]+ ([0-9a-f]{40})\t/g, '$1$2 $3 0\t');
}

/** Throws `stale_precondition` when the new tree can't be laid over the work tree, such as over an untracked file. */
export async function demandRoom(
  gate: GateRepository,
  workTree: string,
  move: WorkTreeCheck & { readonly to: string },
): Promise<void> {
  const args = ['read-tree', '-n', '-m', '-u', '--end-of-options', move.from, move.to];
  const tried = await tryGit(gate, args, optionsOf(workTree, move.index, move.signal));
  if (tried.exitCode === 0) return;
  throw new Refusal('stale_precondition', 'files that are not tracked stand in the way', {
    path: 'target',
    next: 'move them away, then try again',
  });
}

/** Brings the files to the new tree. Once begun it isn't called off: half a work tree is worse than a late one. */
export async function updateFiles(
  gate: GateRepository,
  workTree: string,
  move: { readonly from: string; readonly to: string; readonly index: string },
): Promise<boolean> {
  const args = ['read-tree', '-m', '-u', '--end-of-options', move.from, move.to];
  const options = { workTree, index: move.index, timeoutMs: GIT_LIMITS.workTreeMsMax };
  return (await tryGit(gate, args, options)).exitCode === 0;
}

/** The agent's index, locked as git locks it. */
export class IndexLock {
  readonly #index: string;
  readonly #file: FileHandle;
  readonly #mode: number;

  private constructor(index: string, file: FileHandle, mode: number) {
    this.#index = index;
    this.#file = file;
    this.#mode = mode;
  }

  /** Throws `busy` while another process of git has the lock, or one that died left it. */
  static async take(gate: GateRepository): Promise<IndexLock> {
    const index = join(gate.agent.gitDir, 'index');
    try {
      const file = await open(`${index}.lock`, 'wx', 0o600);
      const found = await lstat(index).catch(() => undefined);
      return new IndexLock(index, file, found?.isFile() === true ? found.mode & 0o777 : 0o644);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
        throw new Refusal('busy', 'another git process is at work in the repository', {
          path: 'target',
          next: 'wait for it; if none runs, remove `.git/index.lock`',
        });
      }
      throw new Fault('internal', 'the index of the repository can not be locked', error);
    }
  }

  /** Puts the private index in the place of the agent's, whole, and lets go. */
  async replaceWith(privateIndex: string): Promise<void> {
    await this.#file.writeFile(await readFile(privateIndex));
    await this.#file.chmod(this.#mode);
    await this.#file.sync();
    await rename(`${this.#index}.lock`, this.#index);
    await this.#file.close();
  }

  /** Lets go and leaves the index as it is. */
  async release(): Promise<void> {
    const ours = await this.#file.stat();
    await this.#file.close();
    const standing = await lstat(`${this.#index}.lock`).catch(() => undefined);
    if (standing?.ino === ours.ino && standing.dev === ours.dev) await rm(`${this.#index}.lock`);
  }
}
