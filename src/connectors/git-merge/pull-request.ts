/**
 * What gh says of a pull request, read without believing more of it than its form.
 * Source: spec actions (git-merge: pins base and head repository, base ref, head SHA).
 */
import { Refusal, readJson, sha256Hex, utf8Decode } from '../../core/index.js';
import type { Call } from '../connector.js';
import { GH_LIMITS } from './limits.js';
import { type Gh, type GhRun, runGh } from './run.js';
import {
  FIELDS,
  type MergePreconditions,
  type PullRequest,
  type PullRequestName,
  pullRequest,
  readTarget,
} from './schema.js';

/** Refuses `invalid` for a target that names no pull request. */
export function nameOf({ target }: Pick<Call, 'target'>): PullRequestName {
  const found = readTarget(target);
  if (found !== undefined) return found;
  throw new Refusal('invalid', 'a pull request is named `owner/repo#N`', { path: 'target' });
}

/** The pull request as it is now; undefined where gh can't tell, or tells something else. */
export async function readPullRequest(
  gh: Gh,
  { repository, number }: PullRequestName,
  run: Omit<GhRun, 'timeoutMs'>,
): Promise<PullRequest | undefined> {
  const args = ['pr', 'view', String(number), '--repo', repository, '--json', FIELDS];
  const { exitCode, output } = await runGh(gh, args, { ...run, timeoutMs: GH_LIMITS.readMsMax });
  if (exitCode !== 0) return undefined;
  const read = readJson(output);
  const parsed = read.ok ? pullRequest.safeParse(read.value) : undefined;
  return parsed?.success === true && parsed.data.number === number ? parsed.data : undefined;
}

/** The repository by the name that its own address has. */
function repositoryIn({ url, number }: PullRequest): string | undefined {
  const [, repository, pull] = /^https:\/\/[^/?#]+\/([^/?#]+\/[^/?#]+)\/pull\/([0-9]+)$/.exec(url) ?? [];
  return pull === String(number) ? repository : undefined;
}

/**
 * The facts that a merge is pinned to. Refuses `target_mismatch` for a repository under another name than its own (a
 * rule about the name would not cover it), `stale_precondition` for a pull request that can not be merged.
 */
export function factsOf(found: PullRequest, { repository }: PullRequestName): MergePreconditions {
  const base = repositoryIn(found);
  if (base !== repository) {
    const next = 'propose the target by the exact name of the repository';
    throw new Refusal('target_mismatch', 'the repository has another name than the target says', {
      path: 'target',
      next,
    });
  }
  const { state, isDraft, mergeable, headRepository, headRepositoryOwner } = found;
  if (state !== 'OPEN') throw stale(`the pull request is ${state.toLowerCase()}`);
  if (isDraft) throw stale('the pull request is a draft');
  if (mergeable === 'CONFLICTING') throw stale('the pull request has conflicts');
  if (headRepository === null || headRepositoryOwner === null) throw stale('the repository of its branch is gone');
  return {
    base_repository: base,
    base_ref: found.baseRefName,
    head_repository: `${headRepositoryOwner.login}/${headRepository.name}`,
    head_ref: found.headRefName,
    head_sha: found.headRefOid,
  };
}

function stale(what: string): Refusal {
  return new Refusal('stale_precondition', what, { path: 'target' });
}

export interface Diff {
  readonly text: string;
  readonly sha256: string;
}

/** The diff of the pull request; undefined where gh gives none. */
export async function readDiff(
  gh: Gh,
  { repository, number }: PullRequestName,
  run: Omit<GhRun, 'timeoutMs'>,
): Promise<Diff | undefined> {
  const args = ['pr', 'diff', String(number), '--repo', repository, '--color', 'never'];
  const { exitCode, output } = await runGh(gh, args, { ...run, timeoutMs: GH_LIMITS.readMsMax });
  const text = exitCode === 0 ? utf8Decode(output) : undefined;
  return text === undefined ? undefined : { text, sha256: sha256Hex(text) };
}
