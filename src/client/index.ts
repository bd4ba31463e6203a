/** A gate behind an address, for programs that speak to one over HTTP. */
import { Client } from './client.js';
import type { ClientOptions } from './given.js';

export type { AnswerOf, CallInput, CallName } from '../api/index.js';
export { Fault, NoEffect, Refusal } from '../core/index.js';
export { type ActionEventTold, Client } from './client.js';
export type { WorkerStarted } from './worker.js';
export type { WorkContext, WorkerOptions, WorkOperation } from './worker-given.js';
export type { WorkDone } from './worker-job.js';

/** A client of the server at `url`, as the agent whose token it has. */
export function connect(options: ClientOptions): Client {
  return new Client(options);
}
