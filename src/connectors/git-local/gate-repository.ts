/**
 * The gate's own side of an agent's repository, under the gate's state folder. Every run of git has one of these two as
 * its repository, so that no configuration, hook or attribute of the agent's is ever in reach:
 *
 * - `store.git`: a bare repository whose objects were copied in and named by the gate's own hashing. Everything is
 *   looked up, merged, committed and compared here. Its `info/attributes` outranks any `.gitattributes` and takes from
 *   every path what could convert it, drive it or hide it.
 * - `door.git`: an empty repository whose `refs` and `packed-refs` are links to the agent's. Only `update-ref` runs
 *   here, so that git's own locking and comparing moves the agent's ref, while configuration, hooks and logs are the
 *   gate's.
 *
 * It promises: folders that only their owner can enter, files made whole; opening twice changes nothing.
 * Source: spec actions (git); gitrepository-layout(5), gitattributes(5).
 */
import { mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, Refusal, sha256Hex } from '../../core/index.js';
import type { AgentRepository } from './agent-repository.js';
import { type Program, type RunOptions, type RunResult, runGit } from './run.js';

export interface GateRepository {
  readonly git: Program;
  readonly agent: AgentRepository;
  readonly store: string;
  readonly door: string;
  /** Where scratch folders are made. */
  readonly scratch: string;
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n';

/** Every attribute that git itself gives a meaning to, taken back to unspecified. */
const ATTRIBUTES =
  '* !text !eol !crlf !ident !filter !working-tree-encoding !diff !merge !conflict-marker-size ' +
  '!whitespace !delta !export-ignore !export-subst !encoding\n';

/** Makes the gate's side of a repository, or finds it as it was made before. */
export async function openGateRepository(
  stateDir: string,
  git: Program,
  agent: AgentRepository,
): Promise<GateRepository> {
  // Named by the agent's path, so that an alias that is pointed elsewhere gets another side.
  const root = join(stateDir, sha256Hex(agent.gitDir).slice(0, 32));
  const gate = {
    git,
    agent,
    store: join(root, 'store.git'),
    door: join(root, 'door.git'),
    scratch: join(root, 'scratch'),
  };
  try {
    for (const folder of [join(gate.store, 'objects', 'pack'), join(gate.store, 'refs'), join(gate.store, 'info')]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    await mkdir(gate.door, { recursive: true, mode: 0o700 });
    await mkdir(gate.scratch, { recursive: true, mode: 0o700 });
    for (const dir of [gate.store, gate.door]) {
      await writeWhole(gate.scratch, join(dir, 'HEAD'), 'ref: refs/none\n');
      await writeWhole(gate.scratch, join(dir, 'config'), CONFIG);
    }
    await writeWhole(gate.scratch, join(gate.store, 'info', 'attributes'), ATTRIBUTES);
    await linkTo(join(agent.gitDir, 'refs'), join(gate.door, 'refs'));
    await linkTo(join(agent.gitDir, 'packed-refs'), join(gate.door, 'packed-refs'));
  } catch (error) {
    throw new Fault('internal', 'the state folder of git-local can not be used', error);
  }
  return gate;
}

async function writeWhole(scratch: string, path: string, text: string): Promise<void> {
  const folder = await mkdtemp(join(scratch, 'file-'));
  await writeFile(join(folder, 'file'), text, { mode: 0o600 });
  await rename(join(folder, 'file'), path);
  await rm(folder, { recursive: true });
}

async function linkTo(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if ((await readlink(path)) !== target) throw new Error('a link of the state folder leads elsewhere');
  }
}

/** Runs `work` with a folder of its own, which is gone afterwards. */
export async function withScratch<Value>(
  gate: GateRepository,
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  let folder: string;
  try {
    folder = await mkdtemp(join(gate.scratch, 'call-'));
  } catch (error) {
    throw new Fault('internal', 'the state folder of git-local can not be used', error);
  }
  try {
    return await work(folder);
  } finally {
    // A leftover harms nobody and must not change what the caller is told.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

export type StoreOptions = Omit<RunOptions, 'gitDir' | 'cwd'>;

/** Runs git in the store, whatever it answers; never stopped half-way without being told apart. */
export async function tryGit(gate: GateRepository, args: readonly string[], options: StoreOptions): Promise<RunResult> {
  const cwd = options.workTree ?? gate.git.home;
  return runGit(gate.git, args, { ...options, gitDir: gate.store, cwd });
}

/** The output of a run that must succeed. Throws `invalid` when it went over a bound, and a `Fault` when it failed. */
export async function mustGit(gate: GateRepository, args: readonly string[], options: StoreOptions): Promise<Buffer> {
  const result = await tryGit(gate, args, options);
  if (result.exitCode === 0) return result.output;
  throw failureOf(args[0] ?? '', result, options.signal);
}

/** What a run that did not succeed means to the caller. Git's own words stay in the cause. */
export function failureOf(verb: string, result: RunResult, signal: AbortSignal | undefined): Refusal | Fault {
  if (result.exitCode !== undefined) {
    return new Fault('internal', `git ${verb} failed`, new Error(`exit ${result.exitCode}: ${result.errors}`));
  }
  if (signal?.aborted === true) return new Fault('internal', `git ${verb} was called off`);
  return new Refusal('invalid', 'the repository is beyond the bounds of the gate', { path: 'target' });
}
