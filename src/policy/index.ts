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
export { CedarDoor } from './cedar.js';
export { CedarEngine } from './cedar-engine.js';
export { cedarDefect, checkPolicy, type PolicyFinding } from './check.js';
export { classRule, decidePolicy } from './engine.js';
export { type ExplainedRule, explainRules, nearestRule } from './explain.js';
export { applyConfig, type ConfigState, configKind } from './machine.js';
export { policiesOf } from './policies.js';
export { type Decision, type PolicyAnswer, type PolicyEngine, type PolicyQuestion, refusalOf } from './question.js';
export type { TypedOperation } from './request.js';
export { StoredPolicy } from './rule-schema.js';
export { runTests, type TestResult } from './run-tests.js';
export {
  type ApprovalRule,
  CONFIG_RECORD,
  METHODS,
  policyVersion,
  TrustConfig,
  WrittenTrustConfig,
} from './schema.js';
export { shapeOf } from './shape.js';
