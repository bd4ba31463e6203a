/**
 * Objects cross the boundary as packs, in both directions.
 *
 * It promises: what is in the store is named by the gate's own hashing and complete, whatever the agent's object files,
 * indexes, bitmaps and graphs claim; what goes out is only the new commit and what it brings.
 * It refuses a head whose history can't be read in full.
 *
 * In: `pack-objects` runs in the store with the agent's object folder as one more place to read from, which reads data
 * and no configuration; `index-pack` hashes every object anew; `rev-list --objects` proves that none is missing.
 * Out: `index-pack` runs in the store with the agent's object folder as its place to write.
 * Source: spec actions (git: objects fetched in).
 */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, Refusal, sha256Hex } from '../../core/index.js';
import { failureOf, type GateRepository, mustGit, tryGit, withScratch } from './gate-repository.js';
import { GIT_LIMITS } from './limits.js';

/** Brings a branch's head into the store with its whole history. Throws `invalid` when it can't be had. */
export async function takeIn(gate: GateRepository, branch: string, sha: string, signal: AbortSignal): Promise<void> {
  if (!(await isComplete(gate, sha, signal))) {
    const known = await mustGit(gate, ['for-each-ref', '--format=^%(objectname)'], { signal });
    const revisions = `${sha}\n${known.toString('utf8')}`;
    await withScratch(gate, async (folder) => {
      const alternate = join(gate.agent.gitDir, 'objects');
      const pack = await packed(gate, join(folder, 'in.pack'), revisions, { alternate, signal });
      if (!pack) throw incomplete();
      await unpacked(gate, join(folder, 'in.pack'), { signal });
    });
    if (!(await isComplete(gate, sha, signal))) throw incomplete();
  }
  const type = await mustGit(gate, ['cat-file', '-t', '--end-of-options', sha], { signal });
  if (type.toString('utf8').trim() !== 'commit') throw incomplete();
  // Only a mark from which the next head is taken in; when another process moves it first, it is as good.
  await tryGit(gate, ['update-ref', '--end-of-options', `refs/seen/${sha256Hex(branch).slice(0, 32)}`, sha], {
    signal,
  });
}

/** Hands the new commit, and what its parents don't have, to the agent's repository. Nothing names it there yet. */
export async function handOut(
  gate: GateRepository,
  commit: string,
  parents: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const revisions = [commit, ...parents.map((parent) => `^${parent}`)].join('\n');
  await withScratch(gate, async (folder) => {
    const path = join(folder, 'out.pack');
    if (!(await packed(gate, path, revisions, { signal }))) throw new Fault('internal', 'the commit can not be packed');
    await unpacked(gate, path, { signal, objects: join(gate.agent.gitDir, 'objects') });
  });
}

function incomplete(): Refusal {
  return new Refusal('invalid', 'the history of the branch can not be read in full', { path: 'target' });
}

/** Whether the store has the commit and everything that it needs. */
async function isComplete(gate: GateRepository, sha: string, signal: AbortSignal): Promise<boolean> {
  const args = ['rev-list', '--objects', '--quiet', '--not', '--all', '--not', '--end-of-options', sha];
  const result = await tryGit(gate, args, { signal });
  if (result.exitCode === undefined) throw failureOf('rev-list', result, signal);
  return result.exitCode === 0;
}

/** Writes a pack of the revisions to a new file; false when objects are missing or broken. */
async function packed(
  gate: GateRepository,
  path: string,
  revisions: string,
  options: { readonly alternate?: string; readonly signal: AbortSignal },
): Promise<boolean> {
  return withFile(path, 'wx', async (file) => {
    const args = ['pack-objects', '--revs', '--stdout', '-q'];
    const result = await tryGit(gate, args, { ...options, input: `${revisions.trim()}\n`, outputFile: file.fd });
    if (result.exitCode === undefined) throw failureOf('pack-objects', result, options.signal);
    return result.exitCode === 0;
  });
}

async function unpacked(
  gate: GateRepository,
  path: string,
  options: { readonly objects?: string; readonly signal: AbortSignal },
): Promise<void> {
  await withFile(path, 'r', async (file) => {
    const args = ['index-pack', '--stdin', `--max-input-size=${GIT_LIMITS.packBytesMax}`];
    await mustGit(gate, args, { ...options, inputFile: file.fd });
  });
}

async function withFile<Value>(path: string, mode: string, work: (file: FileHandle) => Promise<Value>): Promise<Value> {
  let file: FileHandle;
  try {
    file = await open(path, mode, 0o600);
  } catch (error) {
    throw new Fault('internal', 'the state folder of git-local can not be used', error);
  }
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
