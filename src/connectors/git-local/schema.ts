/**
 * The wire forms of `git-local`: arguments, what `prepare` keeps, and the connector's configuration. Pure.
 *
 * They are closed: an unknown field, a short SHA, a branch that git would read in another way and a path into `.git`
 * are refused.
 * Source: spec actions (connectors).
 */
import * as z from 'zod';
import { absolutePath } from '../operation.js';
import { GIT_LIMITS } from './limits.js';
import { ALIAS, isBranchName, isWritablePath } from './names.js';

/** The full name of a git object in a SHA-1 repository. */
export const objectName = z.string().regex(/^[0-9a-f]{40}$/);

/** Lines that begin with this are the gate's own. */
export const ACTION_TRAILER = 'Countersign-Action';

const branch = z.string().refine(isBranchName, 'must be a branch name');

/** The proposer's words. Only a line feed of all control characters; no line that reads as the gate's own. */
const message = z
  .string()
  .min(1)
  .max(GIT_LIMITS.messageCharsMax)
  .refine((text) => !/[^\P{Cc}\n]/u.test(text) && !/\p{Cs}/u.test(text), 'must be plain text')
  .refine((text) => /\S/.test(text), 'must not be blank')
  .refine((text) => !/^\s*countersign-action/im.test(text), 'must not hold a line of the gate');

export const mergeArgs = z.strictObject({
  /** The branch that is merged. */
  source: branch,
  /** Its head, which the proposer names, so that nothing else can be meant. */
  source_sha: objectName,
});

export const writeArgs = z.strictObject({
  path: z.string().refine(isWritablePath, 'must be a relative path outside of `.git`'),
  /** SHA-256 of the file's new content, which the gate holds. */
  content_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  message,
});

export type MergeArgs = z.infer<typeof mergeArgs>;
export type WriteArgs = z.infer<typeof writeArgs>;

/** Facts that hold from the proposal to the launch. */
export const preconditions = z.strictObject({
  /** The head of the target branch, to which the ref is compared when it is swapped. */
  target_sha: objectName,
  /** The head of the source branch. Only for a merge. */
  source_sha: objectName.optional(),
  /** The tree of the new commit: every byte of the result. */
  tree_sha: objectName,
  /** SHA-256 of the diff's text, as `preview` gives it. */
  diff_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** `clean`: the branch is checked out and will be updated. `none`: no work tree is touched. */
  work_tree: z.enum(['clean', 'none']),
});

export type GitPreconditions = z.infer<typeof preconditions>;

/** What `prepare` found: the one commit that this action can make. */
export const prepared = z.strictObject({
  commit: objectName,
  tree: objectName,
  parents: z.array(objectName).min(1).max(2),
  target_sha: objectName,
  work_tree: z.enum(['clean', 'none']),
});

export type Prepared = z.infer<typeof prepared>;

const identityText = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^\p{Cc}<>]*[^\p{Cc}<>\s.,:;"'\\]$/u);

/** Who stands as author and committer of every commit. */
export const identity = z.strictObject({ name: identityText, email: identityText });

/** The connector's part of the trust configuration. */
export const gitLocalConfig = z.strictObject({
  /** Repositories by alias: the folder that holds `.git`, or a bare repository. */
  repositories: z.record(z.string().regex(ALIAS), z.strictObject({ path: absolutePath })),
  git_path: absolutePath.optional(),
  identity: identity.optional(),
});
