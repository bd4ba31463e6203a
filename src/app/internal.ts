/**
 * What the command line needs of the composition root and no application may have: confirming the first approver of a
 * ledger, and recovering it, which are a person's acts at a terminal; lists of people; damaging a copy for the
 * demonstration; the settings of a project, which are the command line's own; looking at drafts of policy; trying
 * channels and listing what did not arrive; and the reader of files. The server has its doors from here: for people,
 * for workers, for whoever listens. The package does not export this module.
 */
export { FILE_REASONS, readPlainFile, readStandardInput, textOf } from '../connectors/index.js';
export { passkeyAlgorithm } from '../identity/index.js';
export { Attendance } from './attendance.js';
export { damageCopy } from './damage.js';
export { historyOf } from './history.js';
export { makeFolder } from './home.js';
export { bootstrapApprover } from './init.js';
export { EMBEDDED, migrateSchema, migrateTo } from './migrate.js';
export { channelHost, type DeliveryRow, listDeliveries, type Tried, tryChannels } from './notify.js';
export { describeKey, describePerson } from './people.js';
export { PeopleDoor } from './people-door.js';
export { explainInFull, explainQuestion } from './policy-explain.js';
export { checkPolicyFile, demandSound, draftEngine } from './policy-file.js';
export { type FoundSettings, readSettings, writeStarter } from './project-file.js';
export { endOpenActions, placeKey, recoverApprover, recoverable } from './recover.js';
export { cedarOf } from './show-cedar.js';
export { simulate } from './simulate.js';
export { requestToken, rotateToken } from './tokens.js';
export { type WorkerAsk, WorkerDoor } from './worker-door.js';
