/**
 * The wire forms of `git-merge`: the target, arguments, preconditions, what gh answers, and the connector's
 * configuration. Pure. They are closed, but for what gh answers, of which nothing else is read.
 * Source: spec actions (git-merge).
 */
import * as z from 'zod';
import { PATTERNS } from '../../core/index.js';
import { absolutePath } from '../operation.js';

const TARGET = /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/[A-Za-z0-9._-]{1,100})#([1-9][0-9]{0,9})$(?!\n)/;

/** `owner/repo#N`. */
export interface PullRequestName {
  readonly repository: string;
  readonly number: number;
}

/** Undefined for anything else, and for a repository named `.` or `..`. */
export function readTarget(target: string): PullRequestName | undefined {
  const [, repository, number] = TARGET.exec(target) ?? [];
  if (repository === undefined || /\/\.{1,2}$/.test(repository)) return undefined;
  return { repository, number: Number(number) };
}

export const mergeArgs = z.strictObject({
  method: z.enum(['merge', 'squash', 'rebase']),
  /** Deletes the head branch once it is merged. */
  delete_branch: z.boolean().optional(),
});
export type MergeArgs = z.infer<typeof mergeArgs>;

export const viewArgs = z.strictObject({});

const objectName = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
/** A name that a summary can show in one line; names of branches never hold these. */
const name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);

/** What gh says of a pull request, as far as it is read. */
export const pullRequest = z.object({
  number: z.int().min(1),
  url: z.string().max(1_024),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  mergeable: z.enum(['MERGEABLE', 'CONFLICTING', 'UNKNOWN']),
  baseRefName: name,
  headRefName: name,
  headRefOid: objectName,
  headRepository: z.object({ name }).nullable(),
  headRepositoryOwner: z.object({ login: name }).nullable(),
  mergeCommit: z.object({ oid: objectName }).nullable(),
});
export type PullRequest = z.infer<typeof pullRequest>;

/** The fields above, as gh is asked for them. */
export const FIELDS = Object.keys(pullRequest.shape).join(',');

/** What has to hold from the proposal to the launch. */
export const preconditions = z.strictObject({
  base_repository: name,
  base_ref: name,
  head_repository: name,
  head_ref: name,
  head_sha: objectName,
  /** SHA-256 of the diff as `preview` shows it; absent where gh gives none. */
  diff_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
export type MergePreconditions = z.infer<typeof preconditions>;

/** The connector's part of the trust configuration. */
export const gitMergeConfig = z.strictObject({
  gh_path: absolutePath,
  /** The name of the secret that holds the token; without one gh uses what stands in `config_dir`. */
  token: z.string().regex(PATTERNS.secretName).optional(),
  /** The folder of gh's own configuration; an empty one of the gate unless given. */
  config_dir: absolutePath.optional(),
  /** Another server than github.com. */
  host: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)
    .optional(),
});
