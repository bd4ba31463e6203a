/**
 * Starts `ledger-child.ts` in processes of their own. The child is bundled once, because a process that is killed a hundred
 * times has to start in a few milliseconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface Child {
  readonly process: ChildProcess;
  /** The lines so far, each an object. */
  readonly lines: readonly Record<string, unknown>[];
  /** Resolves with the first line that has this member. */
  line(member: string): Promise<Record<string, unknown>>;
  /** Says that it may begin. */
  go(): void;
  /** Resolves when the process is gone and its lines are all read. */
  readonly ended: Promise<void>;
}

export interface Children {
  /** `flags` are those of the runtime. */
  start(path: string, mode: string, name?: string, count?: number, flags?: readonly string[]): Child;
  remove(): void;
}

/** Bundles the child; `remove` deletes the bundle. */
export async function bundleChild(): Promise<Children> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-child-'));
  const outfile = join(folder, 'child.cjs');
  const entry = fileURLToPath(new URL('./ledger-child.ts', import.meta.url));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['better-sqlite3', 'pg'],
    // An import would not look for the driver where NODE_PATH says.
    supported: { 'dynamic-import': false },
  });
  // The folder that holds better-sqlite3: three above its main file.
  const modules = dirname(dirname(dirname(createRequire(import.meta.url).resolve('better-sqlite3'))));
  return {
    start: (path, mode, name = '', count = 0, flags = []) =>
      start(modules, [...flags, outfile, path, mode, name, String(count)]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function start(modules: string, parts: readonly string[]): Child {
  const env = { ...process.env, NODE_PATH: modules };
  const child = spawn(process.execPath, parts, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Map<string, (line: Record<string, unknown>) => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (text) => {
    const line = lineOf(text);
    if (line === undefined) return;
    lines.push(line);
    for (const member of Object.keys(line)) {
      waiting.get(member)?.(line);
      waiting.delete(member);
    }
  });
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => undefined);
  child.stdin.on('error', () => undefined);
  return {
    process: child,
    lines,
    line: (member) => {
      const found = lines.find((line) => member in line);
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => waiting.set(member, resolve));
    },
    go: () => child.stdin.write('go\n'),
    ended,
  };
}

/** The last line of a process that was killed may be a part of one. */
function lineOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
