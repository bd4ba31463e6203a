/**
 * The one effect of `git-merge`: gh merges a pull request whose head is the pinned commit, and is never believed about
 * it. What the server says of the pull request afterwards counts.
 *
 * It promises: `confirmed` only for a pull request that is merged, with a commit, at the pinned head; `failed`
 * only where
 * nothing was sent, where the server's own refusal came back and the pull request is still open, or where it is closed
 * or merged at another head; all else is `unknown`: a lost answer, gh's own success while the pull request is open (a
 * merge queue), an answer that can not be read.
 * Source: spec actions (git-merge).
 */
import type { Call, Outcome } from '../connector.js';
import { mayBegin } from '../operation.js';
import { GH_LIMITS } from './limits.js';
import { factsOf, nameOf, readPullRequest } from './pull-request.js';
import { type Gh, type GhResult, runGh } from './run.js';
import { type MergeArgs, type MergePreconditions, mergeArgs, type PullRequest, preconditions } from './schema.js';

export interface Merging {
  readonly gh: Gh;
  readonly call: Call;
  readonly token: string | undefined;
  readonly now: () => number;
}

/** Refusals of the server in the words that gh hands on: it looked at the merge, and did not make it. */
const REFUSALS: readonly RegExp[] = [
  /^GraphQL: Head branch was modified\. /m,
  /^GraphQL: Base branch was modified\. /m,
  /^GraphQL: Pull Request (?:is not mergeable|has merge conflicts|is still a draft)/im,
  /^GraphQL: (?:Merge commits|Squash merges|Rebase merges) are not allowed /m,
  /^GraphQL: (?:At least [0-9]+ approving reviews? is required|Required status check|Changes must be made through)/m,
  /^GraphQL: Repository rule violations found/m,
  /^X Pull request \S+ (?:is not mergeable: |is still a draft|was already merged)/m,
];

/** Whether gh's words say that the server refused the merge. Anything else may hide a merge that went through. */
export function isRefusal(words: string): boolean {
  return REFUSALS.some((refusal) => refusal.test(words));
}

export async function merge(step: Merging): Promise<Outcome> {
  const { gh, call, token, now } = step;
  const args = mergeArgs.safeParse(call.args);
  const pinned = preconditions.safeParse(call.preconditions);
  if (!args.success || !pinned.success) return { result: 'failed', code: 'not_prepared' };
  if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
  const name = nameOf(call);
  const before = await readPullRequest(gh, name, { token, signal: call.signal });
  const wrong = before === undefined ? 'unreadable' : wrongBefore(before, step, pinned.data);
  if (wrong !== undefined) return { result: 'failed', code: wrong };
  // INVARIANT: nothing was sent before this question is asked for the last time (connectors.gh.certain).
  if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
  const timeoutMs = Math.min(GH_LIMITS.mergeMsMax, Math.max(1, call.deadline - now()));
  const words = mergeWords(name, args.data, pinned.data);
  const answered = await runGh(gh, words, { token, signal: call.signal, timeoutMs });
  // Without the signal: what became of it has to be seen, also when nobody waits any more.
  return outcomeOf(answered, await readPullRequest(gh, name, { token }), pinned.data);
}

/** Why nothing may be sent; undefined for a pull request that is as it was pinned. */
function wrongBefore(found: PullRequest, { call }: Merging, pinned: MergePreconditions): string | undefined {
  if (found.state !== 'OPEN') return found.state === 'MERGED' ? 'already_merged' : 'closed';
  try {
    const { diff_sha256: _, ...facts } = pinned;
    const seen = factsOf(found, nameOf(call)) as Readonly<Record<string, string>>;
    const isSame = Object.entries(facts).every(([fact, value]) => seen[fact] === value);
    return isSame ? undefined : 'stale_precondition';
  } catch {
    return 'stale_precondition';
  }
}

function mergeWords(
  { repository, number }: { repository: string; number: number },
  { method, delete_branch }: MergeArgs,
  { head_sha }: MergePreconditions,
): readonly string[] {
  const words = ['pr', 'merge', String(number), '--repo', repository, `--${method}`, '--match-head-commit', head_sha];
  return delete_branch === true ? [...words, '--delete-branch'] : words;
}

function outcomeOf(answered: GhResult, after: PullRequest | undefined, pinned: MergePreconditions): Outcome {
  if (after === undefined) return { result: 'unknown', code: 'unreadable' };
  const settled = settledBy(after, pinned);
  if (settled !== undefined) return settled;
  const { exitCode, errors } = answered;
  if (exitCode === 0) return { result: 'unknown', code: 'merge_queue', evidence: evidenceOf(after) };
  if (exitCode !== undefined && isRefusal(errors)) {
    return { result: 'failed', code: 'refused', evidence: evidenceOf(after) };
  }
  return { result: 'unknown', code: exitCode === undefined ? 'no_answer' : 'not_merged_yet' };
}

/** What a pull request that is not open any more says of the merge; undefined for one that is. */
function settledBy(found: PullRequest, { head_sha }: MergePreconditions): Outcome | undefined {
  const evidence = evidenceOf(found);
  if (found.state === 'CLOSED') return { result: 'failed', code: 'closed', evidence };
  if (found.state !== 'MERGED') return undefined;
  if (found.headRefOid !== head_sha) return { result: 'failed', code: 'merged_other_head', evidence };
  const commit = found.mergeCommit?.oid;
  return commit === undefined
    ? { result: 'unknown', code: 'no_commit', evidence }
    : { result: 'confirmed', externalRef: commit, evidence };
}

function evidenceOf({ state, headRefOid, mergeCommit }: PullRequest) {
  return { state: state.toLowerCase(), head_sha: headRefOid, commit: mergeCommit?.oid ?? null };
}

/** What the server says of a merge whose answer is missing; undefined where it can't be read. */
export async function whatBecame({ gh, call, token }: Omit<Merging, 'now'>): Promise<Outcome | undefined> {
  const pinned = preconditions.safeParse(call.preconditions);
  if (!pinned.success) return undefined;
  const found = await readPullRequest(gh, nameOf(call), { token });
  if (found === undefined) return undefined;
  return settledBy(found, pinned.data) ?? { result: 'unknown', code: 'open' };
}
