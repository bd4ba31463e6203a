/**
 * A package replayed from its first event: every stored envelope has to be legal on its predecessor, lead to the
 * bytes whose digest its event names, stand under the claim of its action_id, and a signed confirmation has to be for
 * exactly the manifest that it met. Reads the ledger alone; repairs nothing.
 * Source: spec packages (manifest: verify).
 */
import { type PartAct, requestKind } from '../approvals/index.js';
import { type Json, type JsonObject, Refusal, utf8Decode } from '../core/index.js';
import type { Ledger, LedgerEvent } from '../ledger/index.js';
import { ACCEPTED, CREATED } from './evolve.js';
import { eventsOf, notFound, packageRecord } from './load.js';
import { createdManifest, decide } from './machine.js';
import { manifestDigest } from './manifest.js';
import type { AcceptedData, CreatedData, PackageState } from './schema.js';
import { CLAIM_SCOPE, contentOf, envelopeDigest, putTogether } from './stored.js';
import { SummaryAct } from './summary-act.js';

export interface Replay {
  /** Events that were replayed. */
  readonly revisions: number;
  /** Envelopes whose content was erased: what depends on it is not recomputed. */
  readonly erased: number;
  /** The first defect, and the revision at which it stands; nothing behind it is looked at. */
  readonly defect?: { readonly revision: number; readonly what: string };
}

/** Refuses `PACKAGE_NOT_FOUND`; faults `corrupt` where an event or a payload is not the one that was written. */
export async function replayPackage(ledger: Ledger, packageId: string): Promise<Replay> {
  let state: PackageState | undefined;
  let erased = 0;
  for await (const event of eventsOf(ledger, packageId)) {
    const { revision } = event;
    const next = state === undefined ? firstState(event, packageId) : nextState(state, event);
    if (typeof next === 'string') return { revisions: revision, erased, defect: { revision, what: next } };
    if (state !== undefined) {
      const wrong = (await claimDefect(ledger, event, packageId)) ?? (await signatureDefect(ledger, event, state));
      if (wrong === ERASED) erased += 1;
      else if (wrong !== undefined) return { revisions: revision, erased, defect: { revision, what: wrong } };
    }
    state = next;
  }
  if (state === undefined) throw notFound();
  return { revisions: state.manifest.revision + 1, erased };
}

/** What a claim says of an envelope whose content is gone. */
const ERASED = 'erased';

function firstState(event: LedgerEvent, packageId: string): PackageState | string {
  if (event.type !== CREATED) return 'a package does not begin with this';
  const { package_id, intent, manifest_sha256 } = event.data as CreatedData;
  if (package_id !== packageId) return 'the package is another one';
  const manifest = createdManifest({ package_id, intent }, event.at);
  if (manifestDigest(manifest) !== manifest_sha256) return 'the manifest is not the one that its event names';
  return { manifest, manifest_sha256, waiting_since: null };
}

function nextState(state: PackageState, event: LedgerEvent): PackageState | string {
  if (event.type !== ACCEPTED) return 'a package takes no such step';
  const { envelope, manifest_sha256 } = event.data as AcceptedData;
  if (envelope.package_id !== state.manifest.package_id) return 'the envelope is for another package';
  const next = decide(state, envelope, event.at);
  if (next instanceof Refusal) return `the envelope could not be accepted here: ${next.code}`;
  if (next.manifest_sha256 !== manifest_sha256) return 'the envelope leads to another manifest than its event names';
  return next;
}

/** Whether the envelope, content and all, is the one that took its action_id. */
async function claimDefect(ledger: Ledger, event: LedgerEvent, packageId: string): Promise<string | undefined> {
  const { envelope, authorization } = event.data as AcceptedData;
  const bearers =
    authorization === undefined ? [event] : await ledger.events({ kind: 'request', id: authorization.request_id });
  const claim = [event, ...bearers]
    .flatMap(takenIn)
    .find(([scope, principal, key]) => scope === CLAIM_SCOPE && principal === packageId && key === envelope.action_id);
  if (claim === undefined) return 'the envelope did not take its action_id';
  const address = contentOf(envelope);
  let content: string | undefined;
  if (address !== undefined) {
    if (!event.payloads.includes(address.ref)) return 'the content does not stand with its event';
    const bytes = await ledger.payload(packageRecord(packageId), event.revision, address.ref);
    if (bytes === undefined) return ERASED;
    content = utf8Decode(bytes);
    if (content === undefined || bytes.length !== address.size) return 'the content has another size';
  }
  const same = envelopeDigest(putTogether(envelope, content)) === claim[3];
  return same ? undefined : 'the action_id was taken by another envelope';
}

/** The claims that an event took, as scope, principal, key and command. */
function takenIn({ data }: LedgerEvent): readonly (readonly string[])[] {
  return ((data['claims'] as JsonObject | undefined)?.['taken'] ?? []) as unknown as readonly (readonly string[])[];
}

/** Whether the signature behind a confirmation is for the manifest that it met. Whose it is, the audit says. */
async function signatureDefect(
  ledger: Ledger,
  { data }: LedgerEvent,
  before: PackageState,
): Promise<string | undefined> {
  const { authorization } = data as AcceptedData;
  if (authorization === undefined) return undefined;
  const request = (await ledger.readVerified(requestKind, authorization.request_id))?.state;
  const act = SummaryAct.safeParse(request?.act as Json).data;
  const { manifest, manifest_sha256 } = before;
  const kind: PartAct['kind'] = 'summary';
  const isFor =
    request?.request.kind === kind &&
    act?.package_id === manifest.package_id &&
    act.revision === manifest.revision &&
    act.manifest_sha256 === manifest_sha256 &&
    act.summary_sha256 === manifest.summary?.canonical_sha256;
  return isFor ? undefined : 'the signature behind this is for another manifest';
}
