/** Every kind of record, registered once: what a ledger of this program holds. */
import { actionKind, commentKind, effectKind, refusalKind } from '../actions/index.js';
import { freezeKind, grantKind, requestKind } from '../approvals/index.js';
import { agentKind, invitationKind, keyKind, ledgerKind, personKind, tokenKind } from '../identity/index.js';
import { registerKinds } from '../ledger/index.js';
import { threadKind } from '../messages/index.js';
import { packageKind } from '../packages/index.js';
import { budgetKind, configKind } from '../policy/index.js';

export const ALL_KINDS = registerKinds([
  ledgerKind,
  configKind,
  budgetKind,
  freezeKind,
  grantKind,
  personKind,
  agentKind,
  keyKind,
  tokenKind,
  invitationKind,
  requestKind,
  packageKind,
  effectKind,
  actionKind,
  commentKind,
  threadKind,
  refusalKind,
]);
