/**
 * Connectors: the doors out that open in this process. What a connector is stands in connector.ts.
 */
export type {
  ActionClass,
  Amount,
  Call,
  Connector,
  Dedupe,
  Facts,
  Log,
  LogLevel,
  Operation,
  Outcome,
  Preconditions,
  Preview,
  Problem,
  SummaryLine,
} from './connector.js';
export { type GitLocalOptions, type GitStep, gitLocal } from './git-local/index.js';
export { type GitMergeOptions, gitMerge } from './git-merge/index.js';
export { type HttpOptions, httpConnector } from './http/index.js';
export { type OperationPin, operationDigest, parseArgs } from './operation.js';
export { FILE_REASONS, type FileResult, readPlainFile, readStandardInput, textOf } from './plain-file.js';
export { CONNECTORS, type ConnectorHost, connectorsConfig, openConnectors } from './registry.js';
export { type ShellNoopOptions, shellNoop } from './shell-noop/index.js';
export { type Seat, WorkerDesk, type WorkOffer, type WorkWhat, workerPin } from './worker/index.js';
