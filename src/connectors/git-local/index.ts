/**
 * `git-local`: merges a branch, or writes one file, in a local repository, on behalf of an agent who works there.
 *
 * It promises: one new commit for an action, whose id `prepare` knows before the launch; preview and preconditions made
 * from full SHAs; nothing in the repository, its configuration, its hooks or its attributes is ever run or obeyed (how:
 * gate-repository.ts, objects.ts, work-tree.ts).
 * It refuses conflicts, a source that moved, a branch that is checked out and not clean, a path that stands for `.git`,
 * and repositories that it can't vouch for (agent-repository.ts).
 *
 * The target `alias#branch` is the operand itself and no argument names another one, so that `facts` has nothing to
 * add.
 * Not defended against: a process of the gate's own user, or an agent who swaps folders of `.git` for links between a
 * look and its use. Give the gate a user of its own that can enter nothing but these repositories.
 * Source: spec actions (connectors).
 */
import { type Json, LIMITS, Refusal } from '../../core/index.js';
import type { Call, Connector, Dedupe, Operation, Outcome, Preconditions, Preview, SummaryLine } from '../connector.js';
import { lazyDigest } from '../operation.js';
import { isCheckedOut } from './agent-repository.js';
import { diffOf, makeCommit } from './commit.js';
import { withScratch } from './gate-repository.js';
import { type Kind, merge, write } from './kinds.js';
import { launch, whatBecame } from './launch.js';
import { GIT_LIMITS } from './limits.js';
import { takeIn } from './objects.js';
import { type GitPreconditions, type Prepared, preconditions, prepared } from './schema.js';
import { demandClean } from './work-tree.js';
import { type Bench, type GitLocalOptions, headOf, Workshop } from './workshop.js';

export type { GitStep } from './launch.js';
export { gitLocalConfig } from './schema.js';
export type { GitLocalOptions } from './workshop.js';

const DEDUPE: Dedupe = { windowMs: 'forever', comparesBody: true, cachesErrors: false };
const IDENTITY = { name: 'Countersign', email: 'countersign@localhost' };

export function gitLocal(options: GitLocalOptions): Connector {
  const workshop = new Workshop(options);
  const operations = new Map([merge, write].map((kind) => [kind.name as string, operationOf(kind, workshop, options)]));
  return {
    name: 'git-local',
    operations: [...operations.keys()],
    operation: async (name) => operations.get(name),
    check: () => workshop.check(),
  };
}

function operationOf(kind: Kind, workshop: Workshop, options: GitLocalOptions): Operation {
  const { codeVersion = '1' } = options;
  const digest = lazyDigest({ connector: 'git-local', codeVersion, operation: kind.name, args: kind.args });
  return {
    get digest() {
      return digest();
    },
    args: kind.args,
    timeoutMs: GIT_LIMITS.operationMsMax,
    dedupe: DEDUPE,
    classify: () => 'irreversible',
    facts: () => ({}),
    summary: (call) => summaryOf(kind, call),
    snapshot: async (call) => snapshot(kind, await workshop.open(call.target), call),
    preview: async (call) => preview(kind, await workshop.open(call.target), call),
    prepare: async (call) => prepare(kind, await workshop.open(call.target), call, options.identity ?? IDENTITY),
    execute: (call) => execute(kind, workshop, call, options),
    reconcile: (call) => reconcile(workshop, call),
  };
}

function summaryOf(kind: Kind, call: Call): SummaryLine[] {
  const at = call.target.indexOf('#');
  return [
    { name: 'repository', value: at < 0 ? call.target : call.target.slice(0, at) },
    { name: 'branch', value: at < 0 ? '' : call.target.slice(at + 1) },
    ...kind.lines(call),
  ];
}

/** Looks at both heads, the work tree and the result. */
async function snapshot(kind: Kind, bench: Bench, call: Call): Promise<Preconditions> {
  const target = await heads(kind, bench, call);
  const source = kind.source(call);
  const workTree = await workTreeOf(bench, call, target);
  const tree = await kind.tree(bench, call, target);
  const diff = await diffOf(bench.gate, target, tree, call.signal);
  if (diff.text.length > LIMITS.contentBytesMax) throw new Refusal('invalid', 'the diff is too large to be read');
  return {
    target_sha: target,
    ...(source === undefined ? {} : { source_sha: source.sha }),
    tree_sha: tree,
    diff_sha256: diff.sha256,
    work_tree: workTree,
  };
}

/** Takes both heads in and gives the target's. Throws `stale_precondition` when the source isn't where it should be. */
async function heads(kind: Kind, bench: Bench, call: Call): Promise<string> {
  const target = await headOf(bench, bench.branch, 'target');
  const source = kind.source(call);
  if (source !== undefined && (await headOf(bench, source.branch, 'args.source')) !== source.sha) {
    throw new Refusal('stale_precondition', 'the source branch is not at the named commit', {
      path: 'args.source_sha',
    });
  }
  await takeHeads(kind, bench, call, target);
  return target;
}

async function takeHeads(kind: Kind, bench: Bench, call: Call, target: string): Promise<void> {
  await takeIn(bench.gate, bench.branch, target, call.signal);
  const source = kind.source(call);
  if (source !== undefined) await takeIn(bench.gate, source.branch, source.sha, call.signal);
}

async function workTreeOf(bench: Bench, call: Call, target: string): Promise<'clean' | 'none'> {
  const { workTree } = bench.gate.agent;
  if (!(await isCheckedOut(bench.gate.agent, bench.branch)) || workTree === undefined) return 'none';
  await withScratch(bench.gate, (folder) =>
    demandClean(bench.gate, workTree, { from: target, index: `${folder}/index`, signal: call.signal }),
  );
  return 'clean';
}

/** The pinned facts. Throws `stale_precondition` where a call comes without them. */
function pinned(call: Call): GitPreconditions {
  const parsed = preconditions.safeParse(call.preconditions);
  if (parsed.success) return parsed.data;
  throw new Refusal('stale_precondition', 'the call has no preconditions of this connector');
}

/** The diff between two pinned trees. Live names are not looked at. */
async function preview(kind: Kind, bench: Bench, call: Call): Promise<Preview> {
  const facts = pinned(call);
  const tree = await pinnedTree(kind, bench, call, facts);
  const diff = await diffOf(bench.gate, facts.target_sha, tree, call.signal);
  if (diff.sha256 !== facts.diff_sha256) throw new Refusal('stale_precondition', 'the diff is another one');
  return { mediaType: 'text/x-diff', text: diff.text };
}

/** The result made again from the pinned heads. It must be the pinned tree. */
async function pinnedTree(kind: Kind, bench: Bench, call: Call, facts: GitPreconditions): Promise<string> {
  if (kind.source(call)?.sha !== facts.source_sha) {
    throw new Refusal('stale_precondition', 'the preconditions are of another source');
  }
  await takeHeads(kind, bench, call, facts.target_sha);
  const tree = await kind.tree(bench, call, facts.target_sha);
  if (tree !== facts.tree_sha) throw new Refusal('stale_precondition', 'the result is another one');
  return tree;
}

/** The one commit that the launch may make. It is made in the store, where nobody sees it. */
async function prepare(
  kind: Kind,
  bench: Bench,
  call: Call,
  identity: { readonly name: string; readonly email: string },
): Promise<Json> {
  const facts = pinned(call);
  if ((await heads(kind, bench, call)) !== facts.target_sha) {
    throw new Refusal('stale_precondition', 'the target branch moved', { path: 'target' });
  }
  const tree = await pinnedTree(kind, bench, call, facts);
  const source = kind.source(call);
  const parents = [facts.target_sha, ...(source === undefined ? [] : [source.sha])];
  const message = kind.message(call, bench.branch);
  const plan = { actionId: call.actionId, tree, parents, message, identity };
  const commit = await makeCommit(bench.gate, plan, call.signal);
  return { commit, tree, parents, target_sha: facts.target_sha, work_tree: facts.work_tree } satisfies Prepared;
}

async function execute(kind: Kind, workshop: Workshop, call: Call, options: GitLocalOptions): Promise<Outcome> {
  const plan = prepared.safeParse(call.prepared);
  if (!plan.success || !kind.args.safeParse(call.args).success) return { result: 'failed', code: 'not_prepared' };
  let bench: Bench;
  try {
    bench = await workshop.open(call.target);
  } catch (error) {
    if (error instanceof Refusal) return { result: 'failed', code: error.code };
    throw error;
  }
  const source = kind.source(call);
  return workshop.oneByOne(bench, () =>
    launch({
      gate: bench.gate,
      branch: bench.branch,
      ...(source === undefined ? {} : { source }),
      prepared: plan.data,
      call,
      now: options.now ?? Date.now,
      failpoint: options.failpoint ?? (() => undefined),
    }),
  );
}

async function reconcile(workshop: Workshop, call: Call): Promise<Outcome | undefined> {
  const plan = prepared.safeParse(call.prepared);
  if (!plan.success) return undefined;
  try {
    const { gate, branch } = await workshop.open(call.target);
    return await whatBecame({ gate, branch, prepared: plan.data, call });
  } catch {
    // A repository that can't be read tells nothing, and nothing is what is passed on.
    return undefined;
  }
}
