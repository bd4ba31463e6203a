/**
 * `git-merge`: merges a pull request on GitHub through gh, or looks at one.
 *
 * It promises: base and head repository, base branch and head commit of the proposal are those of the merge; gh is
 * given
 * the head commit, so that the server itself refuses another one; the outcome is what the server says of the pull
 * request
 * after the merge, never gh's exit status alone. A merge may land later by itself (a merge queue), so that an open pull
 * request is an unknown outcome. It refuses a repository under another name than its own, drafts, conflicts, and pull
 * requests that are not open.
 * Source: spec actions (git-merge).
 */
import { access, constants } from 'node:fs/promises';
import { Refusal } from '../../core/index.js';
import type { Call, Connector, Operation, Outcome, Preconditions, Preview, Problem } from '../connector.js';
import { lazyDigest, mayBegin, parseArgs } from '../operation.js';
import { GH_LIMITS } from './limits.js';
import { merge, whatBecame } from './merge.js';
import { factsOf, nameOf, readDiff, readPullRequest } from './pull-request.js';
import type { Gh } from './run.js';
import { type gitMergeConfig, mergeArgs, preconditions, viewArgs } from './schema.js';

export { gitMergeConfig } from './schema.js';

export interface GitMergeOptions {
  readonly config: ReturnType<(typeof gitMergeConfig)['parse']>;
  /** A folder of the gate's own. */
  readonly stateDir: string;
  /** Wall time in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Part of every operation's digest. */
  readonly codeVersion?: string;
}

const CONNECTOR = 'git-merge';

export function gitMerge(options: GitMergeOptions): Connector {
  const { gh_path, config_dir, host, token } = options.config;
  const gh: Gh = { path: gh_path, home: options.stateDir, configDir: config_dir ?? options.stateDir, host };
  const tokenOf = (call: Call) => (token === undefined ? Promise.resolve(undefined) : call.secret(token));
  const operations: ReadonlyMap<string, Operation> = new Map([
    ['merge', mergeOperation(gh, tokenOf, options)],
    ['view', viewOperation(gh, tokenOf, options)],
  ]);
  return {
    name: CONNECTOR,
    operations: [...operations.keys()],
    operation: async (name) => operations.get(name),
    check: () => check(gh_path),
  };
}

type TokenOf = (call: Call) => Promise<string | undefined>;

function mergeOperation(gh: Gh, tokenOf: TokenOf, { now = Date.now, codeVersion = '1' }: GitMergeOptions): Operation {
  const digest = lazyDigest({ connector: CONNECTOR, codeVersion, operation: 'merge', args: mergeArgs });
  return {
    get digest() {
      return digest();
    },
    args: mergeArgs,
    timeoutMs: GH_LIMITS.operationMsMax,
    dedupe: 'none',
    classify: () => 'irreversible',
    // The target is the operand itself.
    facts: () => ({}),
    summary: (call) => {
      const { method, delete_branch } = parseArgs(mergeArgs, call.args);
      const deleting = delete_branch === undefined ? [] : [{ name: 'delete branch', value: String(delete_branch) }];
      return [{ name: 'method', value: method }, ...deleting];
    },
    snapshot: async (call) => pin(gh, call, await tokenOf(call)),
    preview: async (call) => preview(gh, call, await tokenOf(call)),
    execute: async (call) => merge({ gh, call, token: await tokenOf(call), now }),
    reconcile: async (call) => whatBecame({ gh, call, token: await tokenOf(call) }),
  };
}

async function pin(gh: Gh, call: Call, token: string | undefined): Promise<Preconditions> {
  const name = nameOf(call);
  const found = await readPullRequest(gh, name, { token, signal: call.signal });
  if (found === undefined) {
    const next = 'see that the pull request exists, and that gh may read it';
    throw new Refusal('stale_precondition', 'the pull request can not be read', { path: 'target', next });
  }
  const facts = { ...(factsOf(found, name) as Readonly<Record<string, string>>) };
  const diff = await readDiff(gh, name, { token, signal: call.signal });
  return { ...facts, ...(diff === undefined ? {} : { diff_sha256: diff.sha256 }) };
}

/** The diff that the preconditions name; none where gh gave none. */
async function preview(gh: Gh, call: Call, token: string | undefined): Promise<Preview> {
  const pinned = preconditions.safeParse(call.preconditions);
  if (!pinned.success) {
    throw new Refusal('stale_precondition', 'the call has no preconditions of this connector');
  }
  const { diff_sha256 } = pinned.data;
  if (diff_sha256 === undefined) return { mediaType: 'text/plain', text: 'gh gives no diff of this pull request\n' };
  const diff = await readDiff(gh, nameOf(call), { token, signal: call.signal });
  if (diff?.sha256 === diff_sha256) return { mediaType: 'text/x-diff', text: diff.text };
  throw new Refusal('stale_precondition', 'the diff is another one');
}

function viewOperation(gh: Gh, tokenOf: TokenOf, { now = Date.now, codeVersion = '1' }: GitMergeOptions): Operation {
  const digest = lazyDigest({ connector: CONNECTOR, codeVersion, operation: 'view', args: viewArgs });
  return {
    get digest() {
      return digest();
    },
    args: viewArgs,
    timeoutMs: GH_LIMITS.readMsMax,
    dedupe: 'none',
    classify: () => 'read',
    facts: () => ({}),
    summary: () => [],
    execute: async (call): Promise<Outcome> => {
      if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
      const found = await readPullRequest(gh, nameOf(call), { token: await tokenOf(call), signal: call.signal });
      return found === undefined ? { result: 'failed', code: 'unreadable' } : { result: 'confirmed', evidence: found };
    },
  };
}

async function check(path: string): Promise<readonly Problem[]> {
  try {
    await access(path, constants.X_OK);
    return [];
  } catch {
    return [{ found: 'gh is not there, or can not be run', next: `install it, or correct \`gh_path\`: \`${path}\`` }];
  }
}
