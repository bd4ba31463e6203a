/** A server with an operation of workers, and workers in processes of their own. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CountersignGate } from '../../src/app/index.js';
import { type Child, startSource } from './gate-processes.js';
import { approve, TRUST } from './gate-world.js';
import { type ServerWorld, serverWorld } from './server-world.js';

/** An operation of workers as `worker-child.ts` registers it. */
export function workerTrust(timeout = '3s', more = ''): string {
  return `${TRUST}connectors:
  worker:
    operations:
      charge:
        version: '1'
        class: irreversible
        timeout: ${timeout}
        args: { text: { type: string }, cents: { type: integer, min: 1, optional: true } }
        facts: { target: text }
        reconcile: true
${more}`;
}

export interface WorkerWorld extends ServerWorld {
  /** How many workers are there that could run it. */
  present(): Promise<number>;
  /** A worker, once it waits for work. */
  worker(behaviour?: string, ...words: string[]): Promise<Child>;
  /** An action that a person approved. */
  approved(text: string): Promise<string>;
  /** Lines of the file of effects. */
  effects(): readonly string[];
}

export const charging = (text: string) => ({
  ...{ project: 'acme', connector: 'worker', operation: 'charge', target: text },
  args: { text },
});

export async function workerWorld(trust = workerTrust()): Promise<WorkerWorld> {
  const world = await serverWorld({ trust });
  const { text: token } = await world.token('agent:worker', { verbs: ['work'] });
  const file = join(world.folder, '..', 'effects.log');
  const children: Child[] = [];
  const gate = world.gate as CountersignGate;
  const present = async () => {
    const { digest } = await gate.operation('worker', 'charge');
    return gate.desk.seats.present({ project: 'acme', operation: 'charge', digest }).length;
  };
  /** Workers that wait: one that was killed is there until its connection is known to be gone. */
  const waits = () => children.filter(({ process }) => process.exitCode === null && process.signalCode === null).length;
  return {
    ...world,
    present,
    async worker(behaviour = 'ok', ...words) {
      await until(async () => (await present()) <= waits());
      const before = await present();
      const child = startSource('worker-child', world.serving.publicUrl, token, file, behaviour, ...words);
      children.push(child);
      await child.line('ready');
      await until(async () => (await present()) > before);
      return child;
    },
    async approved(text) {
      const { action_id } = await world.gate.propose(charging(text));
      await approve(world, action_id);
      return action_id;
    },
    effects: () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []),
    async close() {
      for (const child of children) child.process.kill('SIGKILL');
      for (const child of children) await child.ended;
      await world.close();
    },
  };
}

/** Tries until it holds; fails after half a minute. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 600; left > 0; left -= 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come to that in half a minute');
}

/** The state that a launch led to; asked again as long as no worker is there. */
export async function executed(world: WorkerWorld, action_id: string): Promise<string> {
  let state: string | undefined;
  await until(async () => {
    state = await world.gate.execute(action_id).then(
      (settled) => settled.state,
      ({ code }: { readonly code: string }) => (code === 'no_worker' || code === 'busy' ? undefined : code),
    );
    return state !== undefined;
  });
  return String(state);
}
