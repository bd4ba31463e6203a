/**
 * The two operations of `git-local` in what they differ: their arguments, the tree that they lead to, their words.
 * Everything else is the same for both and stands in index.ts.
 * Source: spec actions (git-local).
 */
import type { ZodType } from 'zod';
import { LIMITS, Refusal, sha256Hex } from '../../core/index.js';
import type { Call, SummaryLine } from '../connector.js';
import { parseArgs } from '../operation.js';
import { mergedTree, writtenTree } from './commit.js';
import { mergeArgs, writeArgs } from './schema.js';
import type { Bench } from './workshop.js';

/** A branch and the head that it must have. */
export interface Source {
  readonly branch: string;
  readonly sha: string;
}

export interface Kind {
  readonly name: 'merge' | 'write';
  readonly args: ZodType;
  /** The branch that is merged; undefined for a write. */
  source(call: Call): Source | undefined;
  /** The tree of the new commit over the target's head; both heads are in the store already. */
  tree(bench: Bench, call: Call, target: string): Promise<string>;
  /** The commit's message without the gate's line. */
  message(call: Call, branch: string): string;
  /** The operation's own lines after those of the target. */
  lines(call: Call): readonly SummaryLine[];
}

export const merge: Kind = {
  name: 'merge',
  args: mergeArgs,
  source: (call) => {
    const args = parseArgs(mergeArgs, call.args);
    return { branch: args.source, sha: args.source_sha };
  },
  tree: (bench, call, target) =>
    mergedTree(bench.gate, target, parseArgs(mergeArgs, call.args).source_sha, call.signal),
  message: (call, branch) => `Merge branch '${parseArgs(mergeArgs, call.args).source}' into ${branch}`,
  lines: (call) => {
    const args = parseArgs(mergeArgs, call.args);
    return [
      { name: 'source branch', value: args.source },
      { name: 'source commit', value: args.source_sha },
    ];
  },
};

export const write: Kind = {
  name: 'write',
  args: writeArgs,
  source: () => undefined,
  tree: async (bench, call, target) => {
    const args = parseArgs(writeArgs, call.args);
    const content = await contentOf(call, args.content_sha256);
    return writtenTree(bench.gate, target, { path: args.path, content }, call.signal);
  },
  message: (call) => parseArgs(writeArgs, call.args).message,
  lines: (call) => {
    const args = parseArgs(writeArgs, call.args);
    return [
      { name: 'path', value: args.path },
      { name: 'content sha256', value: args.content_sha256 },
      { name: 'message', value: args.message },
    ];
  },
};

/** The bytes that the gate holds under the hash. They are hashed again: whoever stored them is not believed. */
async function contentOf(call: Call, sha256: string): Promise<Uint8Array> {
  const content = await call.content(`sha256:${sha256}`);
  if (content === undefined) {
    throw new Refusal('invalid', 'the gate does not hold the content', {
      path: 'args.content_sha256',
      next: 'hand the content over with the proposal',
    });
  }
  if (content.length > LIMITS.contentBytesMax) {
    throw new Refusal('invalid', 'the content is too large', { path: 'args.content_sha256' });
  }
  if (sha256Hex(content) !== sha256) {
    throw new Refusal('binding_changed', 'the content that is held is not the one that is named');
  }
  return content;
}
