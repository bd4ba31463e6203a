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
  'connectors.worker.elsewhere': {
    source: 'doors',
    behaviour: 'a process to which no worker can come says where its call can be run, and not that no worker is there',
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
  'connectors.worker.asked': {
    source: 'actions',
    behaviour: 'what only a worker says that was not asked what became of a call settles nothing',
  },
  'server.worker.keyless': {
    source: 'doors',
    behaviour: 'what workers ask takes no idempotency key: nothing is given out again from memory',
  },
  'server.worker.code': {
    source: 'doors',
    behaviour: 'the code of what became of a call is a short word; what is none is refused',
  },
  'client.worker.asked': {
    source: 'doors',
    behaviour: 'what became of a call is the word of its function alone: late, unfit or broken it is unknown',
  },
  'client.worker.throws': {
    source: 'doors',
    behaviour: 'nothing that a schema or a function throws ends the process of a worker',
  },
  'client.worker.stop': { source: 'doors', behaviour: 'a call that a worker claimed before it was stopped is run' },
  'client.worker.at-once': {
    source: 'doors',
    behaviour: 'a worker runs no more at once than it was started for, also where the gate forgot what it runs',
  },
  'client.worker.lost': {
    source: 'doors',
    behaviour:
      'after a claim without an answer a worker goes on under another name: nobody waits long for it, and what runs goes on',
  },
  'client.worker.evidence': {
    source: 'doors',
    behaviour: 'what was done is told also where what the function answered is longer than what can be told',
  },
  'client.worker.late': { source: 'doors', behaviour: 'a claim that came back late is not run' },
  'client.worker.given': { source: 'doors', behaviour: 'what is no worker is refused when it is handed over' },
} as const satisfies Readonly<Record<string, Requirement>>;
