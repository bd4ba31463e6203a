/**
 * Real git repositories in a temporary folder, for the tests of `git-local`: an agent's repository with two branches,
 * and a state folder of the gate beside it. `plain` runs git as a person would, with everything that the repository
 * configures.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type GitLocalOptions, gitLocal, type Operation } from '../../src/connectors/index.js';
import type { ConnectorCase, ConnectorWorld } from '../contracts/connector.js';

export interface GitWorld extends ConnectorWorld {
  /** The temporary folder. */
  readonly root: string;
  /** The agent's repository. */
  readonly path: string;
  readonly stateDir: string;
  readonly merge: ConnectorCase;
  readonly write: ConnectorCase;
  /** Runs git in the agent's repository and gives its trimmed output; rejects when it fails. */
  plain(...args: string[]): Promise<string>;
  put(path: string, text: string): Promise<void>;
  /** The connector of this world with other options. */
  with(options: Partial<GitLocalOptions>): (operation: string) => Promise<Operation>;
  operation(name: string): Promise<Operation>;
}

/** Runs git in a folder as a person whose name is known would. */
export function plainGit(cwd: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: '/usr/bin:/bin:/usr/local/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
  return new Promise((resolve, reject) => {
    execFile('git', args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`git ${args.join(' ')}: ${stderr}`));
      else resolve(stdout.trim());
    });
  });
}

export const NEW_TEXT = 'written through the gate\n';

/** A repository whose `main` is checked out unless it is bare or told otherwise, and a branch `feature` to merge. */
export async function gitWorld(kind: 'checked-out' | 'elsewhere' | 'bare' = 'checked-out'): Promise<GitWorld> {
  const root = await mkdtemp(join(tmpdir(), 'git-local-'));
  const work = join(root, 'repo');
  await mkdir(work);
  const inWork = (...args: string[]) => plainGit(work, ...args);
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), text);
  };
  await inWork('init', '-q', '-b', 'main');
  await put('README.md', 'one\ntwo\nthree\n');
  await put('src/a.ts', 'export const a = 1;\n');
  await inWork('add', '.');
  await inWork('commit', '-q', '-m', 'first');
  await inWork('checkout', '-q', '-b', 'feature');
  await put('src/b.ts', 'export const b = 2;\n');
  await inWork('add', '.');
  await inWork('commit', '-q', '-m', 'feature');
  await inWork('checkout', '-q', 'main');
  await put('src/a.ts', 'export const a = 2;\n');
  await inWork('commit', '-q', '-a', '-m', 'second');
  if (kind === 'elsewhere') await inWork('checkout', '-q', '-b', 'other');
  const path = kind === 'bare' ? join(root, 'repo.git') : work;
  if (kind === 'bare') await plainGit(root, 'clone', '-q', '--bare', '--no-local', work, path);
  return worldOf(root, path, put);
}

async function worldOf(root: string, path: string, put: GitWorld['put']): Promise<GitWorld> {
  const stateDir = join(root, 'state');
  const options: GitLocalOptions = { repositories: { acme: { path } }, stateDir };
  const plain = (...args: string[]) => plainGit(path, ...args);
  const sourceSha = await plain('rev-parse', 'feature');
  const sha256 = createHash('sha256').update(NEW_TEXT).digest('hex');
  const content = new Map([[`sha256:${sha256}`, Buffer.from(NEW_TEXT)]]);
  const effects = async (actionId: string) => {
    const found = await plain('log', '--first-parent', '--format=%H', `--grep=Countersign-Action: ${actionId}`, 'main');
    return found === '' ? 0 : found.split('\n').length;
  };
  const merge: ConnectorCase = {
    operation: 'merge',
    target: 'acme#main',
    args: { source: 'feature', source_sha: sourceSha },
    refused: [
      { source: '-x', source_sha: sourceSha },
      { source: 'a..b', source_sha: sourceSha },
      { source: 'feature', source_sha: sourceSha.slice(0, 39) },
      { source: 'feature', source_sha: 'HEAD' },
      { source: 'feature' },
    ],
    effects,
  };
  const file = { path: 'docs/new.md', content_sha256: sha256, message: 'Add a page\n\nIt says why.' };
  const write: ConnectorCase = {
    operation: 'write',
    target: 'acme#main',
    args: file,
    refused: [
      { ...file, path: '../x' },
      { ...file, path: '.git/config' },
      { ...file, path: '/etc/passwd' },
      { ...file, content_sha256: `sha256:${sha256}` },
      { ...file, message: 'x\n\nCountersign-Action: act_other' },
    ],
    content,
    effects,
  };
  const operationOf = async (changes: Partial<GitLocalOptions>, name: string) => {
    const found = await gitLocal({ ...options, ...changes }).operation(name);
    if (found === undefined) throw new Error(`no operation ${name}`);
    return found;
  };
  return {
    root,
    path,
    stateDir,
    connector: gitLocal(options),
    changed: gitLocal({ ...options, codeVersion: '2' }),
    cases: [merge, write],
    merge,
    write,
    plain,
    put,
    with: (changes) => (name) => operationOf(changes, name),
    operation: (name) => operationOf({}, name),
    close: () => rm(root, { recursive: true, force: true }),
  };
}
