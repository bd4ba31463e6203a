/**
 * A person's receipt reaches the action. Everything is recomputed from what is stored, the receipt is checked
 * against it, and all that may have changed meanwhile is checked again inside the commit.
 *
 * `storeReceipt` keeps a receipt with its request and changes no action; `attachReceipt` lets it count: it approves,
 * or, as a deny, cancels at once and uses its nonce up.
 * Source: spec authority (request and receipt), actions (transitions).
 */
import {
  type Approval,
  checkInView,
  type Expected,
  excludedOf,
  FREEZE_RECORD,
  frozenIn,
  methodsOf,
  namesIn,
  Receipt,
  readForReceipt,
  receiptRecords,
  requestKind,
  ruleFor,
  signRequest,
  useRequest,
  verifyReceipt,
} from '../approvals/index.js';
import { isWellFormed, type Json, LIMITS, type Principal, Refusal } from '../core/index.js';
import { LEDGER_RECORD } from '../identity/index.js';
import type { NewEvent, View } from '../ledger/index.js';
import { CONFIG_RECORD, configKind } from '../policy/index.js';
import { actionKind, stateAfter } from './evolve.js';
import { currentSummary, type LoadedAction, loadAction } from './load.js';
import { type ActionCommand, decideAction } from './machine.js';
import { epochBarrier, policyBarrier } from './request.js';
import { type Caller, type Services, STALE, STALE_TRUST, withFreshFacts } from './services.js';

export type Attached = { readonly action_id: string; readonly state: string; readonly approvals: number };

/** What goes with a denial. */
export interface DenialExtras {
  /** For people and agents to read; no part of the signature. */
  readonly words?: string | null;
  /** Whether the agent is asked to come again with something else. */
  readonly sendBack?: boolean;
}

/** Refuses `format` for anything that is not a receipt. */
export function parseReceipt(value: unknown): Receipt {
  const parsed = Receipt.safeParse(value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    throw new Refusal('format', 'this is not a receipt', { path });
  }
  return parsed.data;
}

/** What a receipt for this action has to be. */
export function expectedFor(services: Services, loaded: LoadedAction, summaryDigest: string): Expected {
  const { content, state } = loaded;
  const { config } = services.trust();
  const rule = ruleFor(config, { ...content, factsUnknown: content.flags.includes('facts_unknown') });
  return {
    kind: 'action',
    subject: content.action_id,
    digest: content.digest,
    binding: content.binding,
    summaryDigest,
    notBefore: state.proposed_at,
    methods: rule === undefined ? [] : methodsOf(rule, content.class),
    approvers: rule === undefined ? [] : content.approvers,
    excluded:
      rule === undefined ? [] : excludedOf(rule, config, content.proposed_by, content.on_behalf_of, content.edited_by),
  };
}

/** Verifies a receipt for an action as it stands now; `decision` is the one that the receipt itself names. */
async function verifyForAction(services: Services, receipt: Receipt, actionId: string) {
  const [loaded, read] = await Promise.all([
    loadAction(services, actionId),
    readForReceipt(services.ledger, namesIn(receipt)),
  ]);
  // What the action itself refuses comes first: it is the plainest reason.
  const decision = receipt.request.kind === 'action' ? receipt.request.decision : 'approve';
  const plain = plainRefusal(loaded, decision, services.clock.now());
  if (plain !== undefined) throw plain;
  const barrier = policyBarrier(services, loaded);
  if (barrier !== undefined && decision === 'approve') throw barrier;
  const summary = await currentSummary(services, loaded);
  const expected: Expected = { ...expectedFor(services, loaded, summary.digest), decision };
  await verifyReceipt(services, receipt, expected, read);
  return { loaded, decision, expected };
}

/** Why no receipt can count any more, whatever it says. */
function plainRefusal({ state }: LoadedAction, decision: 'approve' | 'deny', now: number): Refusal | undefined {
  const approval: Approval = { request_id: '', approver: '' as Principal, credential_id: '', nonce: '' };
  const command: ActionCommand =
    decision === 'deny' ? { do: 'cancel', how: 'denied', by: '', words: null } : { do: 'approve', approval };
  const decided = decideAction(state, command, now);
  return decided instanceof Refusal ? decided : undefined;
}

/** Keeps a verified receipt with its request; the action is not changed. */
export function storeReceipt(services: Services, caller: Caller, value: unknown): Promise<{ request_id: string }> {
  const receipt = parseReceipt(value);
  return withFreshFacts(services, async () => {
    const { loaded, expected } = await verifyForAction(services, receipt, receipt.request.subject);
    const { request_id, subject } = receipt.request;
    const { head } = services.trust();
    const committed = await services.ledger.commit({
      actor: caller.principal,
      reads: [LEDGER_RECORD, CONFIG_RECORD, { kind: 'action', id: subject }, ...receiptRecords(receipt)],
      writes: [{ kind: 'request', id: request_id }],
      decide: (view) => {
        if (view.get(actionKind, subject)?.head !== loaded.snapshot.head) return STALE;
        if (view.get(configKind, CONFIG_RECORD.id)?.head !== head) return STALE_TRUST;
        const refused = checkInView(view, receipt, expected);
        if (refused !== undefined) return refused;
        if (view.get(requestKind, request_id)?.state.state !== 'open') {
          return new Refusal('replay', 'the request was signed already');
        }
        return { events: [signRequest(receipt, false)], outcome: { request_id } };
      },
    });
    return committed.outcome;
  });
}

/** Lets a receipt that the caller holds, or that was stored, count toward the action. */
export function attachReceipt(
  services: Services,
  caller: Caller,
  actionId: string,
  value: unknown,
  { words = null, sendBack = false }: DenialExtras = {},
): Promise<Attached> {
  const receipt = parseReceipt(value);
  demandWords(words);
  if (sendBack && (words === null || receipt.request.kind !== 'action' || receipt.request.decision !== 'deny')) {
    throw new Refusal('invalid', 'sending back takes a signed denial and words for the agent', { path: 'words' });
  }
  return withFreshFacts(services, async () => {
    // Read before anything is judged: what is applied meanwhile, by this process as well, is noticed in the commit.
    const { head } = services.trust();
    const { loaded, decision, expected } = await verifyForAction(services, receipt, actionId);
    const { request } = receipt;
    const denies = decision === 'deny';
    const committed = await services.ledger.commit<Attached>({
      actor: denies ? request.approver : caller.principal,
      ...(denies ? { once: [{ scope: 'nonce', key: request.nonce }] } : {}),
      reads: [LEDGER_RECORD, CONFIG_RECORD, FREEZE_RECORD, ...receiptRecords(receipt)],
      writes: [
        { kind: 'request', id: request.request_id },
        { kind: 'action', id: actionId },
      ],
      decide: (view) => {
        if (view.get(actionKind, actionId)?.head !== loaded.snapshot.head) return STALE;
        if (view.get(configKind, CONFIG_RECORD.id)?.head !== head && !denies) return STALE_TRUST;
        const barrier = denies ? undefined : (epochBarrier(view, loaded.content) ?? frozenIn(view, loaded.content));
        const refused = barrier ?? checkInView(view, receipt, expected);
        if (refused !== undefined) return refused;
        return attach(view, loaded, receipt, denies && { how: sendBack ? 'changes_requested' : 'denied', words });
      },
    });
    return committed.outcome;
  });
}

/** Words that somebody gives along, for people and agents to read. Refuses `invalid`. */
export function demandWords(words: string | null): void {
  if (words === null || (words.length <= LIMITS.wordsCharsMax && isWellFormed(words))) return;
  throw new Refusal('invalid', 'the words are too long, or no text', { path: 'words' });
}

type Denial = Pick<Extract<ActionCommand, { do: 'cancel' }>, 'how' | 'words'>;

function attach(view: View, loaded: LoadedAction, receipt: Receipt, denies: false | Denial) {
  const { request } = receipt;
  const stored = view.get(requestKind, request.request_id)?.state;
  if (stored?.state === 'used') return new Refusal('replay', 'the receipt was used already');
  if (loaded.state.approvals.some((known) => known.request_id === request.request_id)) {
    return new Refusal('replay', 'the receipt counts already');
  }
  const approval: Approval = {
    request_id: request.request_id,
    approver: request.approver as Principal,
    credential_id: receipt.credential_id,
    nonce: request.nonce,
  };
  const command: ActionCommand = denies
    ? { do: 'cancel', by: request.approver, ...denies }
    : { do: 'approve', approval };
  const decided = decideAction(loaded.state, command, view.now);
  if (decided instanceof Refusal) return decided;
  const record = { kind: 'action', id: loaded.content.action_id } as const;
  const signed = stored?.state === 'open' ? signRequest(receipt, true) : useRequest(request.request_id);
  const events: NewEvent[] = [signed];
  events.push(...decided.map((event) => ({ record, ...event })));
  const state = stateAfter(loaded.content.action_id, loaded.state, decided);
  const approvals = denies ? 0 : ((decided[0]?.data.approvals as Json[] | undefined)?.length ?? 0);
  return { events, outcome: { action_id: loaded.content.action_id, state, approvals } };
}

/**
 * Attaches the signed receipts of an action's requests, the oldest first; undefined while none is signed. One that
 * can no longer count does not stand in the way of the others: its refusal is told when none of them counts.
 */
export async function fetchSigned(services: Services, caller: Caller, actionId: string): Promise<Attached | undefined> {
  let attached: Attached | undefined;
  let refused: Refusal | undefined;
  for (const { id, status } of await services.ledger.lookup('request', actionId)) {
    const request = status === 'signed' ? await services.ledger.readVerified(requestKind, id) : undefined;
    const receipt = request?.state.receipt;
    if (!receipt) continue;
    try {
      attached = await attachReceipt(services, caller, actionId, receipt);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused = error;
    }
  }
  if (attached === undefined && refused !== undefined) throw refused;
  return attached;
}
