/** A desk of workers whose time is the test's, and a call for it. */

import type { Call } from '../../src/connectors/connector.js';
import { WorkerDesk } from '../../src/connectors/worker/desk.js';

export const ALL = () => true;
export const ASKED = { project: 'acme', operation: 'charge', digest: 'sha256:x' };
export const OFFER = { action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', attempt: 1, what: 'run' } as const;

export function deskAt() {
  let now = 0;
  const ringing: { at: number; ring(): void }[] = [];
  const desk = new WorkerDesk({
    now: () => now,
    monotonic: () => now,
    timer: (ms) => ({
      rings: new Promise<void>((ring) => ringing.push({ at: now + ms, ring })),
      stop: () => undefined,
    }),
  });
  const pass = async (ms: number) => {
    now += ms;
    for (const { at, ring } of ringing) if (at <= now) ring();
    for (let turns = 20; turns > 0; turns -= 1) await Promise.resolve();
  };
  return { desk, pass, now: () => now };
}

export const callOf = (signal: AbortSignal) =>
  ({ actionId: OFFER.action_id, attempt: 1, deadline: 3_600_000, signal }) as unknown as Call;
