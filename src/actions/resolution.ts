/**
 * A person resolves what nobody knows: by a finding, signed with its evidence, or by letting the same effect run again
 * as another action that is known to be a possible duplicate.
 *
 * It promises that what is carried out is what was signed, once, and that nothing else leaves `unknown` without the
 * connector's word.
 * Source: spec authority (human acts: finding, assume_duplicate), actions (transitions, replace).
 */
import * as z from 'zod';
import {
  checkInView,
  countingMethods,
  type Expected,
  isStale,
  openRequest,
  type People,
  peopleOf,
  type Receipt,
  type RequestDocument,
  receiptRecords,
  renderSummary,
  requestKind,
  resolversOf,
  ruleFor,
  signRequest,
  summaryDigest,
  verifyReceipt,
} from '../approvals/index.js';
import { base64urlEncode, contentRef, digest, type Json, LIMITS, PATTERNS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import { CONFIG_RECORD, METHODS, type TrustConfig } from '../policy/index.js';
import { boundRecords, settledBounds } from './bounds.js';
import { effectRecord } from './effect.js';
import { actionKind } from './evolve.js';
import { draftReplacement } from './like.js';
import { currentSummary, type LoadedAction, loadAction } from './load.js';
import { decideAction } from './machine.js';
import type { IssuedRequest } from './request.js';
import type { ActionContent } from './schema.js';
import { type Caller, type Services, STALE, withFreshFacts } from './services.js';

/** What a person can say of an outcome that is unknown, or contradicted by a later word. */
export const Resolution = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('finding'),
    action_id: z.string().regex(PATTERNS.action),
    outcome: z.enum(['confirmed', 'failed']),
    /** What was found, for those who read it later. */
    evidence: z.string().min(1).max(LIMITS.wordsCharsMax),
  }),
  z.strictObject({ kind: z.literal('assume_duplicate'), action_id: z.string().regex(PATTERNS.action) }),
]);
export type Resolution = z.infer<typeof Resolution>;

export function isResolution(kind: RequestDocument['kind']): kind is Resolution['kind'] {
  return kind === 'finding' || kind === 'assume_duplicate';
}

function admitResolution(value: unknown): Resolution {
  const parsed = Resolution.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
  throw new Refusal('invalid', 'this is no finding that could be signed', { path });
}

/** The lines that are signed: what is decided, in front of the whole action with every attempt. */
async function linesOf(services: Services, loaded: LoadedAction, resolution: Resolution): Promise<readonly string[]> {
  const { rendered } = await currentSummary(services, loaded);
  const line = (name: string, value: string) => ({ name, value });
  const decided =
    resolution.kind === 'finding'
      ? [
          line('decision', `the outcome was ${resolution.outcome === 'confirmed' ? 'the effect' : 'no effect'}`),
          line('evidence', resolution.evidence),
        ]
      : [line('decision', 'ask for the same effect again: it may happen twice')];
  return [...renderSummary(decided), ...rendered];
}

/** What the action itself says against a resolution. */
function plainRefusal({ state }: LoadedAction, resolution: Resolution, now: number): Refusal | undefined {
  const command =
    resolution.kind === 'finding'
      ? ({ do: 'find', finding: { outcome: resolution.outcome, by: '', request_id: '', evidence_ref: '' } } as const)
      : ({ do: 'replace', by: '', requestId: '' } as const);
  const decided = decideAction(state, command, now);
  return decided instanceof Refusal ? decided : undefined;
}

/** Asks `person`, or the first approver of the action. Refuses as a receipt for it would be refused now. */
export function requestResolution(
  services: Services,
  caller: Caller,
  asked: unknown,
  person?: string,
): Promise<IssuedRequest> {
  const resolution = admitResolution(asked);
  return withFreshFacts(services, async () => {
    const loaded = await loadAction(services, resolution.action_id);
    const { content, snapshot } = loaded;
    const plain = plainRefusal(loaded, resolution, services.clock.now());
    if (plain !== undefined) throw plain;
    const people = await peopleOf(services.ledger);
    const resolvers = resolversFor(services, content, people);
    const approver = person ?? resolvers[0];
    if (approver === undefined) {
      const next = 'register a passkey of an operator, or let a software key count in the rule';
      throw new Refusal('approvers', 'nobody who may decide about this has a key that counts', { next });
    }
    if (!resolvers.includes(approver)) {
      throw new Refusal('approver_not_allowed', `${approver} may not decide about this`);
    }
    // Nobody signs for another action that could not be proposed.
    if (resolution.kind === 'assume_duplicate') await draftReplacement(services, loaded);
    const summary = await linesOf(services, loaded, resolution);
    const request_id = services.ids.mint('req');
    const nonce = base64urlEncode(services.random.bytes(32));
    const committed = await services.ledger.commit({
      actor: caller.principal,
      reads: [LEDGER_RECORD, { kind: 'person', id: approver }, { kind: 'action', id: content.action_id }],
      writes: [{ kind: 'request', id: request_id }],
      decide: (view) => {
        if (view.get(actionKind, content.action_id)?.head !== snapshot.head) return STALE;
        if (view.get(personKind, approver)?.state.state !== 'active') {
          return new Refusal('unknown_approver', 'no such person is registered');
        }
        const request: RequestDocument = {
          v: 1,
          kind: resolution.kind,
          aud: { ledger_id: content.ledger_id, epoch: view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0 },
          request_id,
          approver,
          subject: content.action_id,
          digest: resolutionDigest(resolution),
          summary_digest: summaryDigest(summary),
          requested_by: caller.principal,
          nonce,
          iat: view.now,
          exp: view.now + LIMITS.requestTtlMsDefault,
        };
        return { events: [openRequest(request, resolution as unknown as Json)], outcome: request };
      },
    });
    return { request: committed.outcome, summary };
  });
}

export function resolutionDigest(resolution: Resolution): string {
  return digest('countersign-command/1', resolution as unknown as Json);
}

/** The resolution that a request holds, and its lines as they are now. Refuses `unknown_request`. */
export async function readResolution(services: Services, requestId: string) {
  const stored = await services.ledger.readVerified(requestKind, requestId);
  if (stored === undefined || stored.state.act === null) {
    throw new Refusal('unknown_request', 'this gate did not issue the request');
  }
  const resolution = admitResolution(stored.state.act);
  const loaded = await loadAction(services, resolution.action_id);
  return { resolution, loaded, summary: await linesOf(services, loaded, resolution) };
}

/**
 * Carries a signed resolution out, in the commit that uses its nonce up. A finding settles the action; an assumed
 * duplicate becomes another action in the place of this one, in the same commit.
 */
export function resolve(services: Services, receipt: Receipt): Promise<{ request_id: string; action_id: string }> {
  const { request } = receipt;
  return withFreshFacts(services, async () => {
    const { resolution, loaded, summary } = await readResolution(services, request.request_id);
    const { content, snapshot } = loaded;
    const plain = plainRefusal(loaded, resolution, services.clock.now());
    if (plain !== undefined) throw plain;
    const people = await peopleOf(services.ledger);
    const expected: Expected = {
      kind: resolution.kind,
      subject: content.action_id,
      digest: resolutionDigest(resolution),
      summaryDigest: summaryDigest(summary),
      notBefore: loaded.state.proposed_at,
      methods: methodsOfResolution(services.trust().config, content),
      approvers: resolversFor(services, content, people),
      excluded: [],
    };
    await verifyReceipt(services, receipt, expected);
    const attempts = resolution.kind === 'finding' ? loaded.state.attempts : [];
    const more = resolution.kind === 'finding' ? undefined : await draftReplacement(services, loaded);
    const record = { kind: 'action', id: content.action_id } as const;
    const committed = await services.ledger.commit({
      actor: request.approver,
      once: [{ scope: 'nonce', key: request.nonce }],
      reads: [LEDGER_RECORD, CONFIG_RECORD, ...receiptRecords(receipt), ...(more?.reads ?? [])],
      writes: [
        { kind: 'request', id: request.request_id },
        effectRecord(content.effect),
        record,
        ...boundRecords(attempts),
        ...(more?.writes ?? []),
      ],
      lookups: more?.lookups ?? [],
      decide: (view) => {
        if (view.get(actionKind, content.action_id)?.head !== snapshot.head || isStale(view, people)) return STALE;
        const refused = checkInView(view, receipt, expected);
        if (refused !== undefined) return refused;
        if (view.get(requestKind, request.request_id)?.state.state !== 'open') {
          return new Refusal('replay', 'the request was signed already');
        }
        const decided = decideAction(loaded.state, commandOf(resolution, receipt, more?.action_id), view.now);
        if (decided instanceof Refusal) return decided;
        const again = more?.eventsIn(view) ?? [];
        if (again instanceof Refusal) return again;
        const payloads = resolution.kind === 'finding' ? [evidenceOf(resolution)] : [];
        const settled = decided.flatMap((event) => settledBounds(loaded.state, event));
        const own = decided.map((event) => ({ record, ...event, payloads }));
        const outcome = { request_id: request.request_id, action_id: more?.action_id ?? content.action_id };
        return { events: [signRequest(receipt, true), ...settled, ...own, ...again], outcome };
      },
    });
    return committed.outcome;
  });
}

function resolversFor({ trust }: Services, content: ActionContent, people: People): readonly string[] {
  const { config } = trust();
  const subject = { ...content, factsUnknown: content.flags.includes('facts_unknown') };
  return resolversOf(config, subject, content.approvers, people, methodsOfResolution(config, content));
}

/**
 * Ways of signing that count. Where no rule covers the action any more, people can still say what happened; a software
 * key never does for high impact (authority.finding.methods).
 */
export function methodsOfResolution(config: TrustConfig, content: ActionContent): readonly string[] {
  const subject = { ...content, factsUnknown: content.flags.includes('facts_unknown') };
  if (ruleFor(config, subject) !== undefined) return countingMethods(config, subject);
  return content.class === 'costly' ? METHODS.filter((method) => method !== 'ed25519') : METHODS;
}

function evidenceOf({ evidence }: Extract<Resolution, { kind: 'finding' }>) {
  return { ref: contentRef(evidence), bytes: evidence };
}

function commandOf(resolution: Resolution, { request }: Receipt, replacedBy: string | undefined) {
  if (resolution.kind === 'assume_duplicate')
    return { do: 'replace', by: replacedBy ?? '', requestId: request.request_id } as const;
  const { outcome } = resolution;
  const evidence_ref = evidenceOf(resolution).ref;
  const finding = { outcome, by: request.approver, request_id: request.request_id, evidence_ref };
  return { do: 'find', finding } as const;
}
