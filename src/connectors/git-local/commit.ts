/**
 * What the new commit is: its tree, its text and its id, made in the store from pinned SHAs and pinned content alone.
 *
 * It promises: the same action, parents and tree give the same commit, byte for byte, whenever and wherever they are
 * computed: author, committer, date and message come from the configuration, the arguments and the action id.
 * It refuses conflicts, a merge or a write that changes nothing, and a tree with a `.git` in any guise.
 * Source: spec actions (git-local).
 */
import { join } from 'node:path';
import { isActionId, Refusal, sha256Hex } from '../../core/index.js';
import { failureOf, type GateRepository, mustGit, tryGit, withScratch } from './gate-repository.js';
import { isTreeSegment } from './names.js';
import { ACTION_TRAILER } from './schema.js';

/** The tree of both branches merged. Throws `invalid` for conflicts and where there is nothing to merge. */
export async function mergedTree(
  gate: GateRepository,
  target: string,
  source: string,
  signal: AbortSignal,
): Promise<string> {
  const ancestor = await tryGit(gate, ['merge-base', '--is-ancestor', '--end-of-options', source, target], { signal });
  if (ancestor.exitCode === 0) throw new Refusal('invalid', 'the source is part of the target already');
  const args = ['merge-tree', '--write-tree', '--no-messages', '-z', '--end-of-options', target, source];
  const merged = await tryGit(gate, args, { signal });
  if (merged.exitCode === 1) {
    throw new Refusal('invalid', 'the merge has conflicts', { next: 'resolve them on the source branch' });
  }
  if (merged.exitCode === 128) throw new Refusal('invalid', 'the branches can not be merged');
  if (merged.exitCode !== 0) throw failureOf('merge-tree', merged, signal);
  const tree = /^([0-9a-f]{40})\0/.exec(merged.output.toString('latin1'))?.[1];
  if (tree === undefined) throw failureOf('merge-tree', merged, signal);
  await refuseHiddenNames(gate, tree, signal);
  return tree;
}

/** The target's tree with one file set to the content. Throws `invalid` for no change, and where the path is taken. */
export async function writtenTree(
  gate: GateRepository,
  target: string,
  file: { readonly path: string; readonly content: Uint8Array },
  signal: AbortSignal,
): Promise<string> {
  const blob = line(
    await mustGit(gate, ['hash-object', '-w', '--no-filters', '--stdin'], { input: file.content, signal }),
  );
  return withScratch(gate, async (folder) => {
    const index = join(folder, 'index');
    await mustGit(gate, ['read-tree', '--end-of-options', target], { index, signal });
    const before = line(await mustGit(gate, ['write-tree'], { index, signal }));
    // Without `--replace`: a file where the path has a folder, or a folder where it has a file, is refused by git.
    const args = ['update-index', '--add', '--cacheinfo', `100644,${blob},${file.path}`];
    const added = await tryGit(gate, args, { index, signal });
    if (added.exitCode === undefined) throw failureOf('update-index', added, signal);
    if (added.exitCode !== 0) {
      throw new Refusal('invalid', 'the path can not be written in this tree', { path: 'args.path' });
    }
    const tree = line(await mustGit(gate, ['write-tree'], { index, signal }));
    if (tree === before) throw new Refusal('invalid', 'the file has this content already', { path: 'args.path' });
    await refuseHiddenNames(gate, tree, signal);
    return tree;
  });
}

/** Every path of the tree, also of folders without a file, leads where it seems to lead. */
async function refuseHiddenNames(gate: GateRepository, tree: string, signal: AbortSignal): Promise<void> {
  const args = ['ls-tree', '-r', '-t', '-z', '--name-only', '--full-tree', '--end-of-options', tree];
  const listed = await mustGit(gate, args, { signal });
  for (const path of listed.toString('utf8').split('\0')) {
    if (path !== '' && !path.split('/').every(isTreeSegment)) {
      throw new Refusal('invalid', 'the tree has a path that stands for `.git`');
    }
  }
}

/**
 * The diff that a person reads, and its digest. Nothing of it can be hidden or rewritten by the repository: no drivers,
 * no renames, whole object names; a file that is not text stands there by its object names.
 */
export async function diffOf(
  gate: GateRepository,
  target: string,
  tree: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly sha256: string }> {
  const args = [
    'diff-tree',
    '-r',
    '-p',
    '--full-index',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--no-renames',
  ];
  const shape = ['--diff-algorithm=myers', '--unified=3', '--src-prefix=a/', '--dst-prefix=b/', '--submodule=short'];
  const operands = ['--ignore-submodules=none', '--end-of-options', target, tree, '--'];
  const text = (await mustGit(gate, [...args, ...shape, ...operands], { signal })).toString('utf8');
  return { text, sha256: sha256Hex(text) };
}

export interface CommitPlan {
  readonly actionId: string;
  readonly tree: string;
  /** The target's head first. */
  readonly parents: readonly string[];
  /** The subject and body, without the gate's own line. */
  readonly message: string;
  readonly identity: { readonly name: string; readonly email: string };
}

/** Makes the commit in the store and gives its id. */
export async function makeCommit(gate: GateRepository, plan: CommitPlan, signal: AbortSignal): Promise<string> {
  const stamp = { ...plan.identity, seconds: Math.floor(timeOf(plan.actionId) / 1_000) };
  const input = `${plan.message.trimEnd()}\n\n${ACTION_TRAILER}: ${plan.actionId}\n`;
  const parents = plan.parents.flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', '--no-gpg-sign', ...parents, '-F', '-', '--end-of-options', plan.tree];
  return line(await mustGit(gate, args, { input, stamp, signal }));
}

/** The tree and parents of a commit in the store; undefined when it isn't there. */
export async function readCommit(
  gate: GateRepository,
  sha: string,
  signal: AbortSignal,
): Promise<{ readonly tree: string; readonly parents: readonly string[] } | undefined> {
  const found = await tryGit(gate, ['cat-file', 'commit', sha], { signal });
  if (found.exitCode !== 0) return undefined;
  const head = found.output.toString('latin1').split('\n\n', 1)[0] ?? '';
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1];
  const parents = [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map((match) => match[1] ?? '');
  return tree === undefined ? undefined : { tree, parents };
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Milliseconds since the epoch at which the action was proposed: the front of its id. */
function timeOf(actionId: string): number {
  if (!isActionId(actionId)) throw new Refusal('invalid', 'the action id is not well-formed', { path: 'action_id' });
  return [...actionId.slice(4, 14)].reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0);
}

function line(output: Buffer): string {
  return output.toString('latin1').trim();
}
