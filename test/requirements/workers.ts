/** Promises of workers: functions of an application that run what was launched. */
import type { Requirement } from '../requirements.js';

export const workerRequirements = {
  'server.worker.cycle': {
    source: 'doors',
    behaviour:
      'an approved launch is claimed by a worker, run once with the bytes that were signed, and settled by its word',
  },
  'server.worker.scoped': {
    source: 'doors',
    behaviour: 'nobody works without a token that says so, nor outside its projects',
  },
  'server.worker.silent': {
    source: 'doors',
    behaviour: 'a worker that is killed, hangs or throws in the middle leaves an unknown outcome',
  },
  'server.worker.reconnects': {
    source: 'doors',
    behaviour: 'a worker comes again after its server ended, and its late word settles the attempt that it claimed',
  },
  'connectors.worker.pinned': {
    source: 'actions',
    behaviour: 'a declaration is pinned; a worker of another version or schema is let in for nothing',
  },
  'connectors.worker.present': {
    source: 'doors',
    behaviour: 'where no worker is there, or has room, nothing is launched, and the inbox says so',
  },
  'connectors.worker.fenced': {
    source: 'doors',
    behaviour: 'one worker gets a call, once; a claim after its time is refused, and certainly had no effect',
  },
  'connectors.worker.silent': {
    source: 'doors',
    behaviour: 'what was claimed by a worker of which nothing is heard any more is unknown, and goes to no second one',
  },
  'connectors.worker.late': {
    source: 'actions',
    behaviour: 'a late word settles its own attempt alone, by whoever claimed it',
  },
  'client.worker.late': { source: 'doors', behaviour: 'a claim that came back late is not run' },
  'client.worker.given': { source: 'doors', behaviour: 'what is no worker is refused when it is handed over' },
} as const satisfies Readonly<Record<string, Requirement>>;
