/** What the operator decided, and what policy says of one action. */
export {
  type BudgetEvents,
  type BudgetState,
  budgetKind,
  budgetRecords,
  overBound,
  overDecision,
  type Reservation,
  type Reserved,
  reservedRecords,
  type Settling,
  settleReserved,
  takeRoom,
} from './budget.js';
export { CedarEngine } from './cedar-engine.js';
export { classRule, decidePolicy } from './engine.js';
export { applyConfig, type ConfigState, configKind } from './machine.js';
export { type Decision, type PolicyAnswer, type PolicyEngine, type PolicyQuestion, refusalOf } from './question.js';
export {
  type ApprovalRule,
  CONFIG_RECORD,
  METHODS,
  policyVersion,
  TrustConfig,
  WrittenTrustConfig,
} from './schema.js';
