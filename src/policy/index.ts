/** What the operator decided, and what policy says of one action. */
export {
  classRule,
  type Decision,
  decidePolicy,
  type PolicyAnswer,
  type PolicyEngine,
  type PolicyQuestion,
} from './engine.js';
export { applyConfig, type ConfigState, configKind } from './machine.js';
export { type ApprovalRule, CONFIG_RECORD, policyVersion, TrustConfig, WrittenTrustConfig } from './schema.js';
