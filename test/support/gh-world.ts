/** A pull request in the world of the stand-in of gh, and the connector that talks to it. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitMergeOptions, gitMerge } from '../../src/connectors/index.js';
import { ROOT } from './files.js';

export const PULL_REQUEST = {
  number: 7,
  url: 'https://github.com/acme/web/pull/7',
  state: 'OPEN',
  isDraft: false,
  mergeable: 'MERGEABLE',
  baseRefName: 'main',
  headRefName: 'repair-login',
  headRefOid: 'a'.repeat(40),
  headRepository: { id: 'R_1', name: 'web' },
  headRepositoryOwner: { id: 'U_1', name: 'A fork', login: 'helper' },
  mergeCommit: null,
};

export interface World {
  pr: Record<string, unknown>;
  diff: string | null;
  merge?: string;
  words?: string;
  view?: string;
  hangView?: boolean;
  merges?: number;
  deleted?: boolean;
}

export interface Recorded {
  readonly words: readonly string[];
  readonly variables: readonly string[];
  readonly token?: string;
}

export class GhWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'countersign-gh-'));
  readonly path = join(this.folder, 'gh');
  readonly #world = join(this.folder, 'world.json');

  static async make(changes: Partial<World> = {}): Promise<GhWorld> {
    const world = new GhWorld();
    const script = join(ROOT, 'test/support/gh-stand-in.mjs');
    // The stand-in is found by its own path and node's: the connector lends it no other.
    const source = readFileSync(script, 'utf8').replace('#!/usr/bin/env node', `#!${process.execPath}`);
    copyFileSync(script, `${world.path}.mjs`);
    writeFileSync(`${world.path}.mjs`, source);
    writeFileSync(world.path, `#!/bin/sh\nexec '${process.execPath}' '${world.path}.mjs' "$@"\n`);
    await chmod(world.path, 0o755);
    world.write({ pr: { ...PULL_REQUEST }, diff: 'diff --git a/login.ts b/login.ts\n+fixed\n', ...changes });
    return world;
  }

  read(): World {
    return JSON.parse(readFileSync(this.#world, 'utf8')) as World;
  }

  write(world: World): void {
    writeFileSync(this.#world, JSON.stringify(world));
  }

  change(changes: Partial<World>): void {
    this.write({ ...this.read(), ...changes });
  }

  changePr(changes: Record<string, unknown>): void {
    const world = this.read();
    this.write({ ...world, pr: { ...world.pr, ...changes } });
  }

  calls(verb?: string): readonly Recorded[] {
    const text = (() => {
      try {
        return readFileSync(join(this.folder, 'calls.jsonl'), 'utf8');
      } catch {
        return '';
      }
    })();
    const lines = text
      .trim()
      .split('\n')
      .filter((line) => line !== '');
    const calls = lines.map((line) => JSON.parse(line) as Recorded);
    return verb === undefined ? calls : calls.filter(({ words }) => words[1] === verb);
  }

  connector(changes: Partial<GitMergeOptions> = {}, config: Partial<GitMergeOptions['config']> = {}) {
    const whole = { gh_path: this.path, config_dir: this.folder, ...config };
    return gitMerge({ config: whole, stateDir: join(this.folder, 'state'), ...changes });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
