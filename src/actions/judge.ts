/**
 * Everything about a proposal that is judged before its commit: the operation, its arguments in canonical bytes, facts,
 * class, what must still hold at launch, policy, and who may approve. Nothing is written here.
 * Source: spec actions (the action), authority (approval rules).
 */
import { excludedOf, raisedBarrier, ruleFor } from '../approvals/index.js';
import type { ActionClass, Operation, SummaryLine } from '../connectors/index.js';
import {
  ACTION_CLASSES,
  canonicalize,
  contentRef,
  type Defect,
  defectClause,
  defectIn,
  Fault,
  hasHighEntropy,
  type Json,
  type JsonObject,
  LIMITS,
  PATTERNS,
  Refusal,
  secretPath,
  utf8Length,
} from '../core/index.js';
import type { BudgetEvents, Decision, PolicyQuestion } from '../policy/index.js';
import { callFor, consult } from './consult.js';
import { decideStrictly } from './decide.js';
import { checkedApprovers } from './eligible.js';
import { findOperation, readOnlyArgs } from './load.js';
import type { Launch } from './machine.js';
import { type ActionContent, type Flag, Proposal } from './schema.js';
import type { Caller, Services, WorkItemFacts } from './services.js';

export type ParsedProposal = ReturnType<typeof parseProposal>;

/** Everything about a proposal that is known before its commit. */
export interface Judged {
  /** Head of the configuration that it was judged under. */
  readonly trustHead: string;
  readonly proposal: ParsedProposal;
  readonly operation: Operation;
  readonly args: JsonObject;
  readonly argsText: string;
  readonly unbound: Omit<
    ActionContent,
    'digest' | 'binding' | 'effect' | 'approve_by' | 'flags' | 'duplicates' | 'launches_seen' | 'epoch' | 'ledger_id'
  >;
  readonly flags: readonly Flag[];
  readonly decision: Decision;
  readonly approveWithinMs: number;
  /** Canonical text of the operation's own lines, where they have to be kept. */
  readonly ownLines: string | undefined;
  /** Set when the launch shall be part of the same commit. */
  readonly launch?: Launch;
  readonly workItem?: WorkItemFacts;
  /** What that launch takes of the bounds of policy. */
  readonly reserving?: BudgetEvents;
}

export function parseProposal(input: unknown) {
  const parsed = Proposal.safeParse(input);
  if (parsed.success) return parsed.data;
  const defect = defectIn(parsed.error.issues, input, { ownWords: true });
  const within = defect.path.length === 0 ? ['proposal'] : [];
  throw new Refusal('invalid', defectClause(defect, within), { path: defect.path.join('.') });
}

export function freshContent(proposal: ParsedProposal): ReadonlyMap<string, Uint8Array> {
  return new Map((proposal.content ?? []).map((bytes) => [contentRef(bytes), bytes]));
}

export async function judge(
  services: Services,
  caller: Caller,
  proposal: ParsedProposal,
  action_id: string,
  launch: boolean,
  explains = false,
): Promise<Judged> {
  const { config, version, head: trustHead } = services.trust();
  const operation = await findOperation(services, proposal.connector, proposal.operation);
  const { args, argsText } = checkedArgs(operation, proposal.args);
  const { amount, currency, factsUnknown } = checkedFacts(operation, args, proposal);
  const actionClass = checkedClass(operation, args, proposal.class);
  const { project, connector, target } = proposal;
  const named = { action_id, project, connector, operation: proposal.operation, target, amount, currency };
  const fresh = freshContent(proposal);
  const before = { content: { ...named, preconditions: null }, argsText, args };
  const seen = await consult(services, before, { fresh }, (call) => operation.snapshot?.(call));
  const workItem = await services.workItem?.(proposal.work_item ?? null, args);
  const preconditions = workItem === undefined ? (seen ?? null) : { ...seen, ...workItem.preconditions };
  const subject = { content: { ...named, preconditions }, argsText, args };
  const question = questionOf(
    { ...named, class: actionClass, proposed_by: caller.principal, on_behalf_of: proposal.on_behalf_of ?? [] },
    factsUnknown,
    args,
  );
  const decisionId = `dec_${action_id.slice('act_'.length)}`;
  const floor = operation.classify(args);
  const { decision, unraised } = await decideStrictly(services, question, floor, decisionId, operation.args);
  const ruled = { ...named, class: actionClass, factsUnknown };
  // Where nobody had to approve it, whoever has to is one more.
  const isAsked = unraised === 'REQUIRE_APPROVAL' && decision.outcome !== 'DENY';
  const raised = isAsked ? raisedBarrier(config, ruled, floor) : undefined;
  if (raised !== undefined) throw raised;
  const rule = ruleFor(config, ruled);
  const excluded =
    rule === undefined
      ? []
      : excludedOf(rule, config, caller.principal, proposal.on_behalf_of ?? [], caller.editedBy ?? null);
  const quorum = Math.max(rule?.quorum ?? 1, proposal.quorum ?? 1);
  const standing = { rule, excluded, quorum };
  // Whoever asks why is told also where too few may approve.
  const demanded = explains ? { ...decision, outcome: 'ALLOW' as const } : decision;
  const approvers = await checkedApprovers(services, standing, proposal.approvers, demanded, actionClass);
  const goes = launch && decision.outcome === 'ALLOW';
  const prepared = goes
    ? ((await consult(services, subject, { fresh }, (call) => operation.prepare?.(call))) ?? null)
    : null;
  const authorization = { kind: 'policy', decision_id: decisionId } as const;
  const plan = { authorization, decision, launchedBy: caller.principal, timeoutMs: operation.timeoutMs, prepared };
  const ownLines =
    operation.inProcess === true ? ownLinesText(operation.summary(callFor(services, subject, { fresh }))) : undefined;
  return {
    trustHead,
    ownLines,
    proposal,
    operation,
    args,
    argsText,
    flags: flagsOf(proposal.target, args, factsUnknown),
    decision,
    approveWithinMs: Math.min(proposal.approve_within_ms ?? Infinity, rule?.expires ?? LIMITS.approveWithinMsDefault),
    unbound: {
      ...named,
      work_item: proposal.work_item ?? null,
      proposed_by: caller.principal,
      on_behalf_of: proposal.on_behalf_of ?? [],
      args_ref: contentRef(argsText),
      own_lines_ref: ownLines === undefined ? null : contentRef(ownLines),
      class: actionClass,
      policy_version: version,
      approvers,
      quorum,
      rule: rule?.title ?? null,
      launch_within_ms: Math.min(
        proposal.launch_within_ms ?? Infinity,
        rule?.launch_within ?? LIMITS.launchWithinMsDefault,
      ),
      operation_digest: operation.digest,
      preconditions,
      provenance: null,
      edited_by: caller.editedBy ?? null,
      revised_from: null,
      changed_paths: [],
      replaces: null,
    },
    ...(goes ? { launch: plan } : {}),
    ...(workItem === undefined ? {} : { workItem }),
  };
}

/** What policy is asked about an action: at its proposal and again at each launch. */
export function questionOf(content: Asked, factsUnknown: boolean, args: JsonObject): PolicyQuestion {
  return {
    principal: content.proposed_by,
    on_behalf_of: content.on_behalf_of,
    project: content.project,
    connector: content.connector,
    operation: content.operation,
    class: content.class,
    target: content.target,
    amount: content.amount,
    currency: content.currency,
    facts_unknown: factsUnknown,
    args,
  };
}

type Asked = Pick<
  ActionContent,
  'proposed_by' | 'on_behalf_of' | 'project' | 'connector' | 'operation' | 'class' | 'target' | 'amount' | 'currency'
>;

function ownLinesText(lines: readonly SummaryLine[]): string {
  return canonicalize(lines.map(({ name, value }) => ({ name, value })));
}

function checkedArgs(operation: Operation, input: JsonObject): { args: JsonObject; argsText: string } {
  const args = readArgs(operation, input);
  const argsText = canonicalize(args);
  if (utf8Length(argsText) > LIMITS.argsBytesMax) {
    throw new Refusal('invalid', 'the arguments are too long', { path: 'args' });
  }
  const secret = secretPath(args);
  if (secret !== undefined) throw new Refusal('secret_value', 'a secret stands here in plain', { path: secret });
  // INVARIANT: what is judged is what will be signed, and no connector can change it (actions.propose.args-read-only).
  return { args: readOnlyArgs(argsText), argsText };
}

/** What a schema throws of itself (a cycle that it follows for ever) is a refusal as well. */
function readArgs(operation: Operation, input: JsonObject): JsonObject {
  let defect: Defect;
  try {
    const parsed = operation.args.safeParse(input);
    if (parsed.success) return parsed.data as JsonObject;
    // INVARIANT: what is wrong is told, and not in words of the schema, which may say the value (core.defects).
    defect = defectIn(parsed.error.issues, input);
  } catch {
    throw new Refusal('invalid', 'the arguments can not be read', { path: 'args' });
  }
  const path = ['args', ...defect.path].join('.');
  throw new Refusal('invalid', defectClause(defect, ['args']), { path });
}

function checkedFacts(operation: Operation, args: JsonObject, proposal: ParsedProposal) {
  const facts = operation.facts?.(args);
  const amount = proposal.amount ?? facts?.amount?.amount ?? null;
  const currency = proposal.currency ?? facts?.amount?.currency ?? null;
  if (facts?.target !== undefined && facts.target !== proposal.target) {
    throw new Refusal('target_mismatch', 'the arguments name another target', { path: 'target' });
  }
  const sameAmount =
    facts?.amount === undefined || (facts.amount.amount === amount && facts.amount.currency === currency);
  const unfounded = facts !== undefined && facts.amount === undefined && amount !== null;
  if (!sameAmount || unfounded) {
    throw new Refusal('amount_mismatch', 'the arguments say another amount', { path: 'amount' });
  }
  const isMoney = amount === null || (Number.isSafeInteger(amount) && amount >= 0);
  if (!isMoney || (currency !== null && !PATTERNS.currency.test(currency))) {
    throw new Refusal('invalid', 'an amount is a whole number of minor units', { path: 'amount' });
  }
  if ((amount === null) !== (currency === null)) {
    throw new Refusal('invalid', 'an amount and its currency come together', { path: 'currency' });
  }
  return { amount, currency, factsUnknown: facts === undefined };
}

/** INVARIANT: nothing lowers the class below the operation's (actions.propose.class-floor). */
function checkedClass(operation: Operation, args: JsonObject, asked: ActionClass | undefined): ActionClass {
  const floor = operation.classify(args);
  if (!ACTION_CLASSES.includes(floor)) throw new Fault('internal', 'the operation names no class');
  if (asked === undefined) return floor;
  if (ACTION_CLASSES.indexOf(asked) < ACTION_CLASSES.indexOf(floor)) {
    throw new Refusal('class', `the operation is of class ${floor}`, { path: 'class' });
  }
  return asked;
}

/** Every string in a value, at any depth. */
function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(stringsIn) : [];
}

function flagsOf(target: string, args: JsonObject, factsUnknown: boolean): readonly Flag[] {
  const flags: Flag[] = [];
  if (factsUnknown) flags.push('facts_unknown');
  if (!/^[!-~ ]*$/.test(target)) flags.push('non_ascii_target');
  if (stringsIn(args).some(hasHighEntropy)) flags.push('high_entropy_args');
  return flags;
}
