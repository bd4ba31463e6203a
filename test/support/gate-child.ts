/**
 * A process of its own that works at a gate's home, for tests with several of them, and for those that are stopped or killed.
 * It is told what to do by its arguments: home, mode, and what the mode needs. It answers lines of JSON, each written before
 * the next step begins.
 *
 * `race ACTION COUNT`: so many callers at once execute one action. `cycles NAME POINT HIT`: proposes, approves and executes,
 * one action behind the other, until it is killed; at the HIT-th call of the failpoint POINT it kills itself. `pause ACTION`:
 * stops itself at `launch.before-call`, and goes on when it is told by a signal; a number behind it is the time of its lease.
 * `notify NAME MS`: tells people and programs, by a lease of so many milliseconds, until it ends; with a name it first runs one
 * action of that text.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type CountersignGate, open } from '../../src/app/index.js';
import { signWith } from '../../src/approvals/index.js';
import { type Connector, shellNoop } from '../../src/connectors/index.js';
import { isOurs } from '../../src/core/index.js';
import { ALICE } from './gate-people.js';

function tell(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** `shell-noop`, with a line in a log for each call that it gets. */
export function loggedNoop(folder: string, now: () => number = Date.now): Connector {
  const inner = shellNoop({ dir: join(folder, 'effects'), now });
  return {
    name: 'shell-noop',
    operations: inner.operations,
    operation: async (name) => {
      const operation = await inner.operation(name);
      if (operation === undefined) return undefined;
      return {
        ...operation,
        execute: (call) => {
          appendFileSync(join(folder, 'calls.log'), `${call.actionId} ${call.attempt}\n`);
          return operation.execute(call);
        },
      };
    },
  };
}

/** The clock of everything that works in a folder: as far ahead as the file `ahead` says, in milliseconds. */
function clockOf(folder: string) {
  const path = join(folder, 'ahead');
  const ahead = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  return { now: () => Date.now() + ahead, monotonic: () => performance.now() };
}

async function race(gate: CountersignGate, actionId: string, count: number): Promise<void> {
  tell({ ready: true });
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const results = await Promise.allSettled(Array.from({ length: count }, () => gate.execute(actionId)));
  tell({
    codes: results.map((r) => {
      if (r.status === 'fulfilled') return r.value.state;
      return isOurs(r.reason) ? r.reason.code : `native ${String(r.reason)}`;
    }),
  });
}

/** Every third action is allowed by policy alone; the others are approved. What was answered is told at once. */
async function cycles(gate: CountersignGate, name: string): Promise<void> {
  tell({ ready: true });
  for (let no = 0; ; no += 1) {
    const operation = no % 3 === 2 ? 'note' : 'send';
    const args = { text: `${name} ${no}` };
    const common = { project: 'acme', connector: 'shell-noop', operation, target: 'customers', args };
    const { action_id } = await gate.propose(common);
    tell({ proposed: action_id });
    if (operation === 'send') {
      const { request } = await gate.request(action_id);
      await gate.submit(signWith(ALICE.key, request));
      tell({ stored: action_id });
      await gate.fetchReceipt(action_id);
    }
    tell({ approved: action_id });
    const { state } = await gate.execute(action_id);
    tell({ settled: action_id, state });
  }
}

/** One action that policy allows, and then only what the gate does by itself. */
async function notifying(gate: CountersignGate, text: string): Promise<void> {
  if (text !== '') {
    const common = { project: 'acme', connector: 'shell-noop', operation: 'note', target: 'customers' };
    const { action_id } = await gate.propose({ ...common, args: { text } });
    await gate.execute(action_id);
    tell({ settled: action_id });
  }
  tell({ ready: true });
  await new Promise((resolve) => process.stdin.once('data', resolve));
}

/** At the `hit`-th call of a failpoint the process dies, as it would by a power switch of its own. */
function killingAt(point: string, hit: number): (name: string) => void {
  let seen = 0;
  return (name) => {
    if (name !== point) return;
    seen += 1;
    if (seen === hit) process.kill(process.pid, 'SIGKILL');
  };
}

async function main(): Promise<void> {
  const [folder = '', mode = '', first = '', point = '', hit = '0'] = process.argv.slice(2);
  const pausing = (name: string) => {
    if (name !== 'launch.before-call') return;
    tell({ stopping: true });
    process.kill(process.pid, 'SIGSTOP');
  };
  const failpoint = mode === 'pause' ? pausing : killingAt(point, Number(hit));
  // A stopped process has a short lease where it is told so.
  const hasLease = mode === 'notify' || (mode === 'pause' && point !== '');
  const lease = hasLease ? { leaseMs: Number(point), notify: mode === 'notify' } : {};
  const clock = clockOf(folder);
  const connectors = [loggedNoop(folder, () => clock.now())];
  const gate = await open({ home: join(folder, 'home'), connectors, clock, failpoint, ...lease });
  if (mode === 'race') await race(gate, first, Number(point));
  if (mode === 'cycles') await cycles(gate, first);
  if (mode === 'notify') await notifying(gate, first);
  if (mode === 'pause') tell(await gate.execute(first));
  await gate.close();
  process.exit(0);
}

if (process.argv.length > 3) {
  main().catch((error: unknown) => {
    tell({ error: isOurs(error) ? error.code : String(error) });
    process.exit(1);
  });
}
