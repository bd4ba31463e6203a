/**
 * Every promise of the product: an id, the specification it comes from, and what it is. A test that shows a promise
 * cites its id with `verifies`; `requirements.test.ts` fails on a promise without a test, and on a citation of no
 * promise.
 */
import { actionRequirements } from './requirements/actions.js';
import { appRequirements } from './requirements/app.js';
import { authorityRequirements } from './requirements/authority.js';
import { cliRequirements } from './requirements/cli.js';
import { connectorRequirements } from './requirements/connectors.js';
import { consoleRequirements } from './requirements/console.js';
import { coreRequirements } from './requirements/core.js';
import { houseRequirements } from './requirements/house.js';
import { ledgerRequirements } from './requirements/ledger.js';
import { messageRequirements } from './requirements/messages.js';
import { notificationRequirements } from './requirements/notifications.js';
import { packageRequirements } from './requirements/packages.js';
import { policyRequirements } from './requirements/policy.js';
import { postgresRequirements } from './requirements/postgres.js';
import { receiptRequirements } from './requirements/receipts.js';
import { serverRequirements } from './requirements/server.js';
import { workerRequirements } from './requirements/workers.js';

export interface Requirement {
  /** The page of the specification, such as `actions`. */
  readonly source: string;
  /** One sentence. */
  readonly behaviour: string;
}

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  ...coreRequirements,
  ...ledgerRequirements,
  ...postgresRequirements,
  ...messageRequirements,
  ...authorityRequirements,
  ...policyRequirements,
  ...receiptRequirements,
  ...connectorRequirements,
  ...actionRequirements,
  ...packageRequirements,
  ...notificationRequirements,
  ...appRequirements,
  ...serverRequirements,
  ...workerRequirements,
  ...consoleRequirements,
  ...cliRequirements,
  ...houseRequirements,
};
