/**
 * The one effect of `git-local`: a branch's ref moves from the pinned head to the prepared commit.
 *
 * It promises: `failed` only before the swap was begun, or where the ref is seen unmoved after the swap's process is
 * gone; `confirmed` only where the commit is seen in the branch's first-parent history; else `unknown`. The
 * compare-and-swap is git's own, so that of two launches one moves the ref and the other finds it moved. Once the ref
 * has moved the action is confirmed, also when the work tree could not follow: the code then says
 * `work_tree_not_updated`.
 * It refuses to begin the swap after the deadline or once it is called off.
 * Source: spec actions (launch; git-local).
 */
import { join } from 'node:path';
import { isOurs, Refusal } from '../../core/index.js';
import type { Call, Outcome } from '../connector.js';
import { mayBegin } from '../operation.js';
import { isCheckedOut, readBranch } from './agent-repository.js';
import { readCommit } from './commit.js';
import { type GateRepository, mustGit, withScratch } from './gate-repository.js';
import { handOut, takeIn } from './objects.js';
import { runGit } from './run.js';
import type { Prepared } from './schema.js';
import { demandClean, demandRoom, IndexLock, updateFiles } from './work-tree.js';

/** Places at which a test can stop a launch. */
export type GitStep = 'git.before-swap' | 'git.after-swap' | 'git.after-files';

export interface Launch {
  readonly gate: GateRepository;
  /** The target branch. */
  readonly branch: string;
  /** The branch that is merged and the head that it must have. */
  readonly source?: { readonly branch: string; readonly sha: string };
  readonly prepared: Prepared;
  readonly call: Call;
  readonly now: () => number;
  readonly failpoint: (step: GitStep) => void;
}

export function launch(step: Launch): Promise<Outcome> {
  return withScratch(step.gate, async (folder) => {
    const index = join(folder, 'index');
    let lock: IndexLock | undefined;
    try {
      try {
        const earlier = await earlierOutcome(step);
        if (earlier !== undefined) return earlier;
        lock = await lockWorkTree(step);
        await makeReady(step, index);
      } catch (error) {
        // INVARIANT: nothing before the swap has an effect outside (connectors.git.certain).
        if (isOurs(error)) return { result: 'failed', code: error.code };
        throw error;
      }
      const outcome = await swap(step);
      if (outcome.result !== 'confirmed' || lock === undefined) return outcome;
      const held = lock;
      lock = undefined;
      return { ...outcome, ...(await bringFiles(step, held, index)) };
    } finally {
      await lock?.release();
    }
  });
}

/** Whether there is nothing to do: the commit stands there already, or it can't any more. */
async function earlierOutcome(step: Launch): Promise<Outcome | undefined> {
  const { gate, prepared, call } = step;
  const commit = await readCommit(gate, prepared.commit, call.signal);
  const sameParents = commit?.parents.join() === prepared.parents.join();
  if (commit?.tree !== prepared.tree || !sameParents || prepared.parents[0] !== prepared.target_sha) {
    return { result: 'failed', code: 'not_prepared' };
  }
  const head = await readBranch(gate.agent, step.branch);
  if (head === prepared.target_sha) return undefined;
  const found = await establish(step);
  if (found === 'in') return confirmed(prepared, 'already_done');
  // After a rewritten history only an action that was never launched before is sure to have no effect.
  if (found === 'unclear' && call.attempt > 1) return { result: 'unknown', code: 'target_rewritten' };
  return { result: 'failed', code: 'target_moved' };
}

/** Locks the agent's index where the branch is checked out. Throws when that changed since `prepare`. */
async function lockWorkTree(step: Launch): Promise<IndexLock | undefined> {
  const checkedOut = await isCheckedOut(step.gate.agent, step.branch);
  if (checkedOut !== (step.prepared.work_tree === 'clean')) {
    throw new Refusal('stale_precondition', 'the branch was checked out or left since');
  }
  return checkedOut ? IndexLock.take(step.gate) : undefined;
}

/** All that can be done without an effect: the last checks, and the objects. */
async function makeReady(step: Launch, index: string): Promise<void> {
  const { gate, prepared, source, call } = step;
  const { signal } = call;
  if (source !== undefined && (await readBranch(gate.agent, source.branch)) !== source.sha) {
    throw new Refusal('stale_precondition', 'the source branch moved');
  }
  const { workTree } = gate.agent;
  if (prepared.work_tree === 'clean' && workTree !== undefined) {
    await demandClean(gate, workTree, { from: prepared.target_sha, index, signal });
    await demandRoom(gate, workTree, { from: prepared.target_sha, to: prepared.commit, index, signal });
  }
  await handOut(gate, prepared.commit, prepared.parents, signal);
}

async function swap(step: Launch): Promise<Outcome> {
  const { gate, prepared, call } = step;
  step.failpoint('git.before-swap');
  // Nothing may come between this question and the swap: `failed` after the deadline leans on it.
  if (!mayBegin(call, step.now())) return { result: 'failed', code: 'too_late' };
  const ref = `refs/heads/${step.branch}`;
  const args = ['update-ref', '--no-deref', '--end-of-options', ref, prepared.commit, prepared.target_sha];
  await runGit(gate.git, args, {
    gitDir: gate.door,
    cwd: gate.git.home,
    objects: join(gate.agent.gitDir, 'objects'),
    signal: call.signal,
  });
  step.failpoint('git.after-swap');
  // What it answered doesn't matter: it is gone, and the ref tells what it did.
  const found = await establish(step);
  if (found === 'in') return confirmed(prepared, undefined);
  return found === 'not_in'
    ? { result: 'failed', code: 'not_swapped' }
    : { result: 'unknown', code: 'target_rewritten' };
}

/** The work tree follows. Its words are added to an outcome that is confirmed whatever happens here. */
async function bringFiles(step: Launch, lock: IndexLock, index: string): Promise<Partial<Outcome>> {
  const { gate, prepared } = step;
  const { workTree } = gate.agent;
  const moved = { from: prepared.target_sha, to: prepared.commit, index };
  try {
    if (workTree !== undefined && (await updateFiles(gate, workTree, moved))) {
      step.failpoint('git.after-files');
      await lock.replaceWith(index);
      return { evidence: evidenceOf(prepared, 'updated') };
    }
  } catch {
    // The effect stands. The lock may be lost with it, which the next `busy` explains.
  }
  await lock.release().catch(() => undefined);
  return { code: 'work_tree_not_updated', evidence: evidenceOf(prepared, 'not_updated') };
}

function confirmed(prepared: Prepared, code: string | undefined): Outcome {
  const evidence = evidenceOf(prepared, prepared.work_tree === 'none' ? 'none' : 'unchecked');
  const outcome: Outcome = { result: 'confirmed', externalRef: prepared.commit, evidence };
  return code === undefined ? outcome : { ...outcome, code };
}

function evidenceOf(prepared: Prepared, workTree: 'updated' | 'not_updated' | 'none' | 'unchecked') {
  return { commit: prepared.commit, target_sha: prepared.target_sha, work_tree: workTree };
}

/**
 * Whether the prepared commit is in the first-parent history of the branch. `not_in` only where that history still has
 * the pinned head; a branch that is gone or was rewritten since tells nothing.
 */
async function establish(
  step: Pick<Launch, 'gate' | 'branch' | 'prepared' | 'call'>,
): Promise<'in' | 'not_in' | 'unclear'> {
  const { gate, branch, prepared, call } = step;
  const head = await readBranch(gate.agent, branch);
  if (head === undefined) return 'unclear';
  if (head === prepared.commit) return 'in';
  if (head === prepared.target_sha) return 'not_in';
  await takeIn(gate, branch, head, call.signal);
  const args = ['rev-list', '--first-parent', '--parents', '--end-of-options', head, `^${prepared.target_sha}`];
  const listed = (await mustGit(gate, args, { signal: call.signal })).toString('latin1').trim().split('\n');
  if (listed.some((row) => row.startsWith(prepared.commit))) return 'in';
  return listed.at(-1)?.split(' ')[1] === prepared.target_sha ? 'not_in' : 'unclear';
}

/** What the world says of a launch whose answer is missing; undefined when it can't tell. */
export async function whatBecame(
  step: Pick<Launch, 'gate' | 'branch' | 'prepared' | 'call'>,
): Promise<Outcome | undefined> {
  const found = await establish(step);
  if (found === 'unclear') return undefined;
  return found === 'in' ? confirmed(step.prepared, undefined) : { result: 'failed', code: 'no_effect' };
}
