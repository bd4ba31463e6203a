/**
 * Start-up of the command line over bare node: `--version`, and `action show` in the home of a demonstration. Medians of
 * interleaved runs. `npm run build && npm run bench:cli`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, printTable } from './support/measure.js';

const RUNS = 15;
const MAIN = join('dist', 'bin', 'main.js');

function runMs(words: readonly string[]): number {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, words, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`exit ${status}: ${words.join(' ')}`);
  return performance.now() - startedAt;
}

const folder = join(mkdtempSync(join(tmpdir(), 'countersign-bench-')), 'demo');
const { stdout } = spawnSync(process.execPath, [MAIN, 'demo', '--json', '--folder', folder], { encoding: 'utf8' });
const { home, action_id } = JSON.parse(stdout) as { home: string; action_id: string };
const commands = {
  'bare node': ['-e', '0'],
  '--version': [MAIN, '--version'],
  'action show': [MAIN, 'action', 'show', action_id, '--home', home],
};
const times = Object.keys(commands).map(() => [] as number[]);
for (let run = 0; run < RUNS; run += 1) {
  Object.values(commands).forEach((words, i) => {
    times[i]?.push(runMs(words));
  });
}
const medians = times.map((of) => median(of));
const bare = medians[0] ?? 0;
const goals = ['', '<= 40 ms', '<= 120 ms'];
printTable(
  ['command', 'median', 'over bare node', 'goal'],
  Object.keys(commands).map((name, i) => {
    const time = medians[i] ?? 0;
    return [name, `${time.toFixed(0)} ms`, `${(time - bare).toFixed(0)} ms`, goals[i] ?? ''];
  }),
);
rmSync(folder, { recursive: true, force: true });
