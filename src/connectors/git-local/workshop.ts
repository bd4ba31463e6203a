/**
 * The connector's lifetime: which git, which repositories, and one launch at a time in each.
 *
 * It promises: git is found once, by an absolute path, and is new enough; an alias leads to the configured repository
 * only.
 * It refuses unknown aliases and branches that don't exist; actions never make or delete a branch.
 * Source: spec actions (git: by absolute path).
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, isOurs, Refusal } from '../../core/index.js';
import type { Problem } from '../connector.js';
import { openAgentRepository, readBranch } from './agent-repository.js';
import { type GateRepository, openGateRepository } from './gate-repository.js';
import type { GitStep } from './launch.js';
import { parseTarget } from './names.js';
import { type Program, runGit } from './run.js';

export interface GitLocalOptions {
  /** Repositories by alias: the folder that holds `.git`, or a bare repository; absolute. */
  readonly repositories: Readonly<Record<string, { readonly path: string }>>;
  /** A folder of the gate's own, outside of every repository. It is made when it is missing. */
  readonly stateDir: string;
  /** Absolute; unless given, the first of the usual places. */
  readonly gitPath?: string;
  /** Author and committer of every commit. */
  readonly identity?: { readonly name: string; readonly email: string };
  readonly codeVersion?: string;
  /** Wall time in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called at each step of a launch; a test can stop it there. */
  readonly failpoint?: (step: GitStep) => void;
}

/** A repository opened for one operation. */
export interface Bench {
  readonly gate: GateRepository;
  readonly alias: string;
  readonly branch: string;
}

const USUAL_PLACES = ['/usr/bin/git', '/usr/local/bin/git', '/opt/homebrew/bin/git', '/bin/git'];

/** `merge-tree --write-tree` came with it. */
const OLDEST = { major: 2, minor: 38 };

export class Workshop {
  readonly #options: GitLocalOptions;
  readonly #launches = new Map<string, Promise<unknown>>();
  #program: Promise<Program> | undefined;

  constructor(options: GitLocalOptions) {
    this.#options = options;
  }

  /** Opens the target's repository. Throws `invalid` for a target that is malformed or can't be vouched for. */
  async open(target: string): Promise<Bench> {
    const parsed = parseTarget(target);
    if (parsed === undefined) {
      throw new Refusal('invalid', 'the target is no `alias#branch`', { path: 'target' });
    }
    const known = Object.hasOwn(this.#options.repositories, parsed.alias);
    const configured = known ? this.#options.repositories[parsed.alias] : undefined;
    if (configured === undefined) {
      throw new Refusal('invalid', 'no repository is configured under this alias', { path: 'target' });
    }
    const git = await this.#git();
    const agent = await openAgentRepository(configured.path);
    const gate = await openGateRepository(this.#options.stateDir, git, agent);
    return { gate, ...parsed };
  }

  /** Whether git is there and new enough, and each repository is one that can be vouched for. */
  async check(): Promise<readonly Problem[]> {
    const aliases = Object.entries(this.#options.repositories);
    const found = await Promise.all([
      problemOf('git', () => this.#git()),
      ...aliases.map(([alias, { path }]) => problemOf(`repository \`${alias}\``, () => openAgentRepository(path))),
    ]);
    return found.filter((problem) => problem !== undefined);
  }

  /** The git of this machine, looked for until it was found once. */
  async #git(): Promise<Program> {
    const home = join(this.#options.stateDir, 'home');
    try {
      await mkdir(home, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new Fault('internal', 'the state folder of git-local can not be used', error);
    }
    this.#program ??= findGit(this.#options, home).catch((error: unknown) => {
      this.#program = undefined;
      throw error;
    });
    return this.#program;
  }

  /** Runs one launch after the other in each repository. */
  async oneByOne<Value>(bench: Bench, work: () => Promise<Value>): Promise<Value> {
    const key = bench.gate.store;
    const before = this.#launches.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    // The next one waits for this one's end, however it ends.
    const ended = mine.catch(() => undefined);
    this.#launches.set(key, ended);
    try {
      return await mine;
    } finally {
      if (this.#launches.get(key) === ended) this.#launches.delete(key);
    }
  }
}

/** The head of a branch that must exist. */
export async function headOf(bench: Bench, branch: string, path: string): Promise<string> {
  const sha = await readBranch(bench.gate.agent, branch);
  if (sha === undefined) throw new Refusal('invalid', 'the repository has no such branch', { path });
  return sha;
}

/** What keeps a part from working, in its own words; undefined when nothing does. */
async function problemOf(part: string, look: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    if (!isOurs(error)) return { found: `${part}: it can not be looked at`, next: 'see its configuration' };
    return { found: `${part}: ${error.message}`, next: error.next };
  }
}

async function findGit(options: GitLocalOptions, home: string): Promise<Program> {
  const path = options.gitPath ?? USUAL_PLACES.find((place) => existsSync(place));
  const next = `install git ${OLDEST.major}.${OLDEST.minor} or later, or name it as \`git_path\` in \`trust.yaml\``;
  if (path === undefined || !path.startsWith('/') || !existsSync(path)) {
    throw new Refusal('config_invalid', 'there is no git at the path of the configuration, or at a usual one', {
      next,
    });
  }
  const program = { path, home };
  const asked = await runGit(program, ['version'], { gitDir: home, cwd: home });
  const found = /^git version (\d+)\.(\d+)/.exec(asked.output.toString('latin1'));
  const major = Number(found?.[1] ?? 0);
  const minor = Number(found?.[2] ?? 0);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    throw new Refusal('config_invalid', `git ${OLDEST.major}.${OLDEST.minor} or later is needed`, { next });
  }
  return program;
}
