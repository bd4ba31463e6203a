/**
 * Packages at the gate: every verb of the action envelope's protocol, for one caller. Each door calls this.
 *
 * It refuses an envelope with `confirm_summary` that no person's receipt stands behind, and records what it refuses:
 * who, which code, the address of the bytes, and never the bytes.
 * Source: spec packages (who may confirm; release).
 */
import { type Caller, parseReceipt, propose, type RefusedSubject, type Services } from '../actions/index.js';
import { type Act, frozenIn, type IssuedAct, type Receipt } from '../approvals/index.js';
import { contentRef, isWellFormed, LIMITS, PATTERNS, Refusal } from '../core/index.js';
import type { View } from '../ledger/index.js';
import {
  type Applied,
  acceptEnvelope,
  type Checked,
  type Created,
  checkEnvelope,
  confirmSummary,
  createPackage,
  type EnvelopeTool,
  loadPackage,
  ManifestMemo,
  type OfferOptions,
  PACKAGE_STATES,
  type PackageState,
  parseEnvelope,
  placeOf,
  promptFor,
  type Replay,
  readContent,
  replayPackage,
  requestConfirmation,
  toolsFor,
} from '../packages/index.js';
import { atBorder } from './border.js';
import {
  type EnvelopeRow,
  envelopesOf,
  type PackageRow,
  type ReleaseRow,
  type RowPage,
  releasesOf,
  withIntents,
} from './package-reads.js';
import { type ReleaseInput, type ReleaseServices, releaseProposal } from './release.js';
import { demandScope } from './scope.js';

/** What became of a receipt that was handed in. */
export interface Submitted {
  readonly request_id: string;
  readonly act?: Act;
  /** Signatures of other people that the act waits for. */
  readonly missing?: number;
  readonly action_id?: string;
  /** The confirmation of a package's summary that it carried out. */
  readonly applied?: Applied;
}

/** Runs a verb of a caller, and records what is refused. */
export type Recording = <T>(subject: RefusedSubject, act: () => Promise<T>) => Promise<T>;

export interface PackageFilter {
  readonly states?: readonly string[];
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export class GatePackages {
  readonly #services: ReleaseServices;
  readonly #caller: Caller;
  readonly #recording: Recording;
  readonly #home: { admit(): void } | undefined;

  /** `home.admit` throws where the caller may no longer ask for anything. */
  constructor(services: Services, caller: Caller, recording: Recording, home?: { admit(): void }) {
    const frozen = (view: View, actor: string) => frozenIn(view, { project: '', connector: '', proposed_by: actor });
    this.#services = { ...services, manifests: new ManifestMemo(), frozen };
    this.#caller = caller;
    this.#recording = recording;
    this.#home = home;
  }

  /** Revision 0 of a package, from its intent. The same again answers the same package. Refuses `PACKAGE_EXISTS`. */
  create(packageId: string, intent: string): Promise<Created> {
    const begun = { package_id: packageId, intent };
    return this.#verb({ verb: 'package create', ...named(packageId) }, { begun }, (asked) =>
      createPackage(this.#services, this.#caller.principal, asked.begun),
    );
  }

  /**
   * Applies an envelope, given as text, bytes or an object. One with `confirm_summary` needs the receipt of a person:
   * `receipt_required`. Refuses with the codes of the protocol.
   */
  apply(input: unknown, options: { readonly receipt?: unknown } = {}): Promise<Applied> {
    const { receipt } = options;
    // The envelope is read at once, and the reading copies it.
    return this.#verb(subjectOf(input), { receipt }, async (asked) => {
      const envelope = parseEnvelope(input);
      if (asked.receipt !== undefined) return confirmSummary(this.#services, parseReceipt(asked.receipt), envelope);
      // INVARIANT: no token and no process of an agent confirms a summary (packages.confirm.human).
      if (placeOf(envelope.action).isHuman) {
        const next = `ask a person: \`countersign package confirm ${envelope.package_id}\``;
        throw new Refusal('receipt_required', `${envelope.action} is a person's act`, { next });
      }
      return acceptEnvelope(this.#services, this.#caller.principal, envelope);
    });
  }

  /** Whether an envelope would be accepted now, or told again. Nothing is written. Refuses as `apply` does. */
  check(input: unknown): Promise<Checked> {
    return this.#at('read packages', {}, () => checkEnvelope(this.#services, input));
  }

  /** Asks a person to confirm the summary that stands: issues the request that their key signs. */
  requestConfirmation(packageId: string, person?: string): Promise<IssuedAct> {
    const ask = (asked: { readonly packageId: string; readonly person: string | undefined }) =>
      requestConfirmation(this.#services, this.#caller.principal, asked.packageId, asked.person);
    return this.#verb(
      { verb: 'package confirm', ...named(packageId) },
      { packageId, person },
      ask,
      'confirm a package',
    );
  }

  /** Carries out what a person signed for a package. The gate's `submit` comes here. */
  confirm(receipt: Receipt): Promise<Applied> {
    return confirmSummary(this.#services, receipt);
  }

  /** The manifest as it stands, checked against its digest. Refuses `PACKAGE_NOT_FOUND`, `MANIFEST_INVALID`. */
  status(packageId: string): Promise<PackageState> {
    return this.#read({ packageId }, async (asked) => (await loadPackage(this.#services, asked.packageId)).state);
  }

  /** The bytes of an input or a draft, by its 64 hex digits. */
  content(packageId: string, sha256: string): Promise<Uint8Array> {
    return this.#read({ packageId, sha256 }, (asked) => readContent(this.#services, asked.packageId, asked.sha256));
  }

  /** Replays the package from its first event. */
  verify(packageId: string): Promise<Replay> {
    return this.#read({ packageId }, (asked) => replayPackage(this.#services.ledger, asked.packageId));
  }

  /** What a model is told: the envelopes that are legal now. */
  async prompt(packageId: string, options: OfferOptions = {}): Promise<string> {
    return promptFor(await this.status(packageId), options);
  }

  /** The same as tools with JSON Schema. */
  async tools(packageId: string, options: OfferOptions = {}): Promise<readonly EnvelopeTool[]> {
    return toolsFor(await this.status(packageId), options);
  }

  /** The envelopes that it took, the newest first. `after` is the `next` of the page before. */
  envelopes(packageId: string, after?: string): Promise<RowPage<EnvelopeRow>> {
    return this.#read({ packageId, after }, async (asked) => {
      demandCursor(asked.after, /^(?:0|[1-9][0-9]{0,8})$(?!\n)/);
      const { state } = await loadPackage(this.#services, asked.packageId);
      return envelopesOf(this.#services.ledger, state, asked.after === undefined ? undefined : Number(asked.after));
    });
  }

  /** Actions that carry its draft, the newest first; a page may hold none and name where to look on. */
  releases(packageId: string, after?: string): Promise<RowPage<ReleaseRow>> {
    return this.#read({ packageId, after }, async (asked) => {
      demandCursor(asked.after, PATTERNS.action);
      const { state } = await loadPackage(this.#services, asked.packageId);
      return releasesOf(this.#services.ledger, this.#caller, state, asked.after);
    });
  }

  /** A page of packages. Refuses `invalid` for what no list can be asked for. */
  list(filter: PackageFilter = {}): Promise<RowPage<PackageRow>> {
    return this.#read({ filter }, async (asked) => {
      const { states, limit, after } = asked.filter;
      if (states?.some((state) => !(PACKAGE_STATES as readonly string[]).includes(state))) {
        const known = [...PACKAGE_STATES];
        throw new Refusal('invalid', `a state is one of ${known.join(', ')}`, { path: 'states', details: { known } });
      }
      if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMITS.pageRowsMax)) {
        throw new Refusal('invalid', `a page has 1 to ${LIMITS.pageRowsMax} rows`, { path: 'limit' });
      }
      demandCursor(after, PATTERNS.package);
      const { ledger } = this.#services;
      const { rows, next } = await ledger.list({
        kind: 'package',
        ...(states === undefined ? {} : { statuses: states }),
        ...(limit === undefined ? {} : { limit }),
        ...(after === undefined ? {} : { after }),
      });
      return { rows: await withIntents(ledger, rows), ...(next === undefined ? {} : { next }) };
    });
  }

  /**
   * Proposes the release of the draft: an action that writes it to its logical path. Refuses `GATE_UNSATISFIED`
   * before there is a draft, and with the codes of a proposal.
   */
  release(packageId: string, input: ReleaseInput): Promise<{ action_id: string; joined: boolean }> {
    return this.#verb(
      { verb: 'package release', ...named(packageId) },
      { packageId, release: input },
      async (asked) => {
        const proposal = await releaseProposal(this.#services, asked.packageId, asked.release);
        // It is an action as well, of a project and a connector.
        await demandScope(this.#services, this.#caller, 'propose', { proposal });
        const { action_id, joined } = await propose(this.#services, this.#caller, proposal);
        return { action_id, joined };
      },
    );
  }

  /** For a caller who may still ask: what was handed over is copied, once, and what is refused is recorded. */
  #verb<Given extends object, T>(
    subject: RefusedSubject,
    given: Given,
    act: (asked: Given) => Promise<T>,
    verb = 'package',
  ): Promise<T> {
    return this.#recording(subject, () =>
      this.#at(verb, given, (asked) => {
        this.#home?.admit();
        return act(asked);
      }),
    );
  }

  #read<Given extends object, T>(given: Given, act: (asked: Given) => Promise<T>): Promise<T> {
    return this.#at('read packages', given, act);
  }

  /**
   * INVARIANT: a token reaches packages where its scope has the word for them, whatever else it covers; being signed in
   * reads them, and asks for a confirmation (packages.token).
   */
  #at<Given extends object, T>(verb: string, given: Given, act: (asked: Given) => Promise<T>): Promise<T> {
    return atBorder(this.#services.log, given, async (asked) => {
      await demandScope(this.#services, this.#caller, verb, {});
      return act(asked);
    });
  }
}

/** Refuses `invalid` for what no page handed out. */
function demandCursor(after: unknown, form: RegExp): void {
  if (after === undefined || (typeof after === 'string' && form.test(after))) return;
  throw new Refusal('invalid', 'the cursor is not one of a page', { path: 'after' });
}

function named(packageId: unknown): { readonly package_id?: string } {
  return typeof packageId === 'string' ? { package_id: packageId } : {};
}

/** What a refusal records of an envelope: the address of its bytes, hashed only where there is something to record. */
function subjectOf(input: unknown): RefusedSubject {
  const isBytes = (typeof input === 'string' && isWellFormed(input)) || input instanceof Uint8Array;
  return {
    verb: 'package apply',
    get content() {
      return isBytes ? contentRef(input) : '';
    },
  };
}
