/**
 * What the routes for workers do: they hand over to the door of workers. No rule stands here.
 * Source: spec doors (workers).
 */
import type { Handler } from './handlers.js';

type WorkerRoute = 'workNext' | 'workClaim' | 'workDone';

export const WORKER_HANDLERS: Readonly<Record<WorkerRoute, Handler>> = {
  workNext: async ({ gate, workers, body, signal }) => {
    const offer = await workers.next(gate.caller, body, signal);
    return offer === undefined ? {} : { offer };
  },
  workClaim: ({ gate, workers, body: { worker, ...offer } }) => workers.claim(gate.caller, worker, offer),
  workDone: ({ gate, workers, body: { fence, result, code, external_ref, evidence } }) =>
    workers.settle(gate.caller, fence, {
      result,
      ...(code === undefined ? {} : { code }),
      ...(external_ref === undefined ? {} : { externalRef: external_ref }),
      ...(evidence === undefined ? {} : { evidence }),
    }),
};
