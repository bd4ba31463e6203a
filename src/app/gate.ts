/**
 * The gate as a program holds it: every verb of the product, for one caller. All doors call this; none has rules of
 * its own.
 *
 * Each method rejects with a `Refusal` (the request can't be granted, nothing changed) or a `Fault` (our side
 * failed), and with nothing else. Refusals are recorded.
 */
import {
  type Attached,
  approveByGrant,
  attachReceipt,
  type Caller,
  type Comment,
  callLaunched,
  cancel,
  comment,
  type DenialExtras,
  editAction,
  execute,
  fetchSigned,
  type IssuedRequest,
  loadAction,
  type Proposal,
  type ProposedAction,
  pinnedOperation,
  propose,
  proposeLike,
  proposeUndo,
  type Recovered,
  RefusalRecorder,
  type RefusedSubject,
  type RequestInput,
  type Resolution,
  reconcile,
  recover,
  requestApproval,
  requestResolution,
  retry,
  type Services,
  type Settled,
} from '../actions/index.js';
import { type Act, actBySession, type Grant, type IssuedAct, requestAct } from '../approvals/index.js';
import { type JsonObject, LIMITS, type PlainLimits, type Principal, Refusal, traced } from '../core/index.js';
import { atBorder } from './border.js';
import { explainFor } from './explain.js';
import { admitFeasible, subjectOf } from './gate-checks.js';
import type { GateHome } from './gate-home.js';
import { GatePackages, type Recording, type Submitted } from './gate-packages.js';
import { GateReads } from './gate-reads.js';
import { type Approved, launchedBy } from './launch-after.js';
import { outcomeOf } from './outcome.js';
import { interruptOpen } from './restore.js';
import { demandScope } from './scope.js';
import { submitReceipt } from './submit.js';

/** An action that was asked for, or joined. */
type Asked = { action_id: string; joined: boolean; state: string };

/**
 * The gate of a caller whom a door has authenticated: of the same home, counted with the same refusals. It needs no
 * closing. No application has it: there a caller is who opened the gate (authority.local-is-agent).
 */
export let visitorOf: (gate: Gate, caller: Caller) => Gate;

export class Gate extends GateReads {
  readonly caller: Caller;
  /** Packages: envelopes, their confirmation, and their release. */
  readonly packages: GatePackages;
  readonly #refusals: RefusalRecorder;
  readonly #close: () => Promise<void>;
  readonly #home: GateHome | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    services: Services,
    caller: Caller,
    close: () => Promise<void>,
    home?: GateHome,
    refusals = new RefusalRecorder(services),
  ) {
    super(services);
    this.caller = caller;
    this.#refusals = refusals;
    this.#close = close;
    this.#home = home;
    const recording: Recording = (subject, act) => this.#recording(() => subject, act);
    this.packages = new GatePackages(services, caller, recording, home);
  }

  static {
    visitorOf = (gate, caller) => {
      // Whom the configuration lets speak is said of processes of the store's owner, not of whoever came to a door.
      const home = gate.#home && { ...gate.#home, admit: () => undefined };
      return new Gate(gate.services, caller, async () => undefined, home, gate.#refusals);
    };
  }

  /** Proposes an action; nothing runs yet. The same open action of the same caller is joined. */
  propose(proposal: Proposal): Promise<Asked> {
    return this.#guard('propose', { proposal }, async (asked) =>
      this.#asked(await propose(this.services, this.caller, asked.proposal)),
    );
  }

  /** Proposes and, where policy allows it, launches in the same commit. Else the action waits. */
  proposeAndLaunch(proposal: Proposal): Promise<{ proposed: ProposedAction; settled?: Settled }> {
    return this.#guard('propose', { proposal }, async (asked) => {
      await demandScope(this.services, this.caller, 'execute', asked);
      const barrier = this.services.launchBarrier();
      if (barrier !== undefined) throw barrier;
      const proposed = await propose(this.services, this.caller, asked.proposal, { launch: true });
      if (proposed.launched === undefined) {
        const known = proposed.joined ? await outcomeOf(this.ledger, proposed.action_id) : undefined;
        return { proposed, ...(known === undefined ? {} : { settled: known }) };
      }
      const loaded = await loadAction(this.services, proposed.action_id);
      const operation = await pinnedOperation(this.services, loaded.content);
      return {
        proposed,
        settled: await callLaunched(this.services, loaded, operation, proposed.launched, proposed.monotonic),
      };
    });
  }

  /** What would be decided, who could approve, and the connector's view; nothing is written. `as` is for people. */
  explain(proposal: Proposal, as?: string) {
    return this.#guard('explain', { proposal, as }, (asked) =>
      explainFor(this.services, this.caller, asked.proposal, asked.as),
    );
  }

  /** Proposes again what an action of any caller asked for, flagged where its effect may have happened. */
  proposeLike(actionId: string, options: { readonly idempotencyKey?: string } = {}): Promise<Asked> {
    return this.#guard('propose', { actionId, options }, async (asked) =>
      this.#asked(await proposeLike(this.services, this.caller, asked.actionId, asked.options.idempotencyKey)),
    );
  }

  /** Proposes what would undo a confirmed action, as its connector described it. */
  proposeUndo(actionId: string): Promise<Asked> {
    return this.#guard('propose', { actionId }, async (asked) =>
      this.#asked(await proposeUndo(this.services, this.caller, asked.actionId)),
    );
  }

  async #asked({ action_id, joined, state }: Pick<ProposedAction, 'action_id' | 'joined' | 'state'>): Promise<Asked> {
    return { action_id, joined, state: state ?? (await this.show(action_id)).state };
  }

  /** Asks a person: issues the request that their key signs. */
  request(actionId: string, input: RequestInput = {}): Promise<IssuedRequest> {
    return this.#guard('request', { actionId, input }, (asked) =>
      requestApproval(this.services, this.caller, asked.actionId, asked.input),
    );
  }

  /** Hands a signed receipt in: an approval is kept, a denial ends its action, an act is carried out once it may be. */
  submit(value: unknown): Promise<Submitted> {
    return this.#guard('sign', { receipt: value }, (asked) => submitReceipt(this, this.#home, asked.receipt));
  }

  /** Lets a receipt that the caller holds count toward the action: it approves, or denies. */
  approve(actionId: string, receipt: unknown, extras: DenialExtras = {}): Promise<Approved> {
    return this.#guard('approve', { actionId, receipt, extras }, async (asked) =>
      launchedBy(
        this.services,
        this.caller,
        await attachReceipt(this.services, this.caller, asked.actionId, asked.receipt, asked.extras),
      ),
    );
  }

  /** Fetches the signed receipts of an action's requests and attaches them; undefined while none is signed. */
  fetchReceipt(actionId: string): Promise<Approved | undefined> {
    return this.#guard('fetch-receipt', { actionId }, async (asked) => {
      await this.show(asked.actionId);
      const attached = await fetchSigned(this.services, this.caller, asked.actionId);
      return attached === undefined ? undefined : launchedBy(this.services, this.caller, attached);
    });
  }

  /** Launches an unknown action again, which people approved since, where the operation knows a repeated call. */
  retry(actionId: string): Promise<Settled> {
    return this.#guard('retry', { actionId }, (asked) => retry(this.services, this.caller, asked.actionId));
  }

  /** Asks a person to establish an unknown outcome, or to let the same effect run again as another action. */
  requestResolution(resolution: Resolution, person?: string): Promise<IssuedRequest> {
    return this.#guard('request', { resolution, person }, (asked) =>
      requestResolution(this.services, this.caller, asked.resolution, asked.person),
    );
  }

  /** Launches an approved action, once, and tells what became of it. */
  execute(actionId: string): Promise<Settled> {
    return this.#guard('execute', { actionId }, (asked) => execute(this.services, this.caller, asked.actionId));
  }

  /** Asks the connector what became of an unknown outcome. */
  reconcile(actionId: string): Promise<Settled> {
    return this.#guard('reconcile', { actionId }, (asked) => reconcile(this.services, this.caller, asked.actionId));
  }

  /** Ends overdue launches as unknown and overdue proposals as expired; calls nothing. */
  recover(): Promise<Recovered> {
    return this.#guard('recover', {}, async () => {
      await interruptOpen(this.services);
      return recover(this.services, this.caller);
    });
  }

  cancel(actionId: string, words?: string): Promise<void> {
    return this.#guard('cancel', { actionId, words }, (asked) =>
      cancel(this.services, this.caller, asked.actionId, asked.words),
    );
  }

  /** Says something about an action, to whoever reads it; nothing that is signed or launched depends on it. */
  comment(actionId: string, text: string): Promise<Comment> {
    return this.#guard('comment', { actionId, text }, (asked) =>
      comment(this.services, this.caller, asked.actionId, asked.text),
    );
  }

  /**
   * A changed copy of an action, by a person who is signed in. It needs its own approval; the action itself is over.
   * Refuses `invalid` where nothing changed.
   */
  edit(actionId: string, args: JsonObject): Promise<{ action_id: string; changed_paths: readonly string[] }> {
    return this.#guard('edit', { actionId, args }, (asked) => {
      if (this.caller.session !== true)
        throw new Refusal('forbidden', 'only a person who is signed in changes an action');
      return editAction(this.services, this.caller.principal as Principal, asked.actionId, asked.args);
    });
  }

  /** Asks `person`, or the first operator, for an act on people, keys, configuration or the store. */
  requestAct(act: Act, person?: string): Promise<IssuedAct> {
    const ask = async (asked: { readonly act: unknown; readonly person: string | undefined }) => {
      const remembered = () => this.#home?.remembered();
      const feasible = await admitFeasible(this.ledger, asked.act, remembered, this.services.clock.now());
      return requestAct(this.services, this.caller.principal, feasible, asked.person);
    };
    return this.#guard('request an act', { act, person }, ask, { bytesMax: LIMITS.actBytesMax });
  }

  /**
   * What a person does who is signed in, and signs nothing: freezes, or takes an own key or standing approval back.
   * Refuses `forbidden` for everything else.
   */
  actBySession(act: Act): Promise<{ readonly kind: Act['kind'] }> {
    return this.#guard('act by session', { act }, async (asked) => {
      if (this.caller.session !== true) throw new Refusal('forbidden', 'this is for people who are signed in');
      const { kind } = await actBySession(this.services, this.caller.principal as Principal, asked.act);
      return { kind };
    });
  }

  /** Asks people for a standing approval. */
  async requestStanding(grant: unknown, person?: string): Promise<{ grant_id: string; issued: IssuedAct }> {
    const grant_id = this.services.ids.mint('grant');
    const act = { kind: 'standing', change: { op: 'open', grant_id, grant: grant as Grant } } as const;
    return { grant_id, issued: await this.requestAct(act, person) };
  }

  /** Approves an action by a standing approval that covers it. Refuses `no_cover`. */
  coverByStanding(actionId: string): Promise<Attached> {
    return this.#guard('cover', { actionId }, (asked) => approveByGrant(this.services, this.caller, asked.actionId));
  }

  /** Closed again it is as closed as before. */
  close(): Promise<void> {
    this.#closed ??= this.#refusals.flush().then(this.#close);
    return this.#closed;
  }

  /** The way into every verb: the border, the caller's leave, and a refusal written down. */
  async #guard<Given extends object, T>(
    verb: string,
    given: Given,
    act: (asked: Given) => Promise<T>,
    limits?: PlainLimits,
  ): Promise<T> {
    let subject = subjectOf(verb, {});
    const known = async (asked: Given) => {
      subject = subjectOf(verb, asked);
      this.#home?.admit();
      await demandScope(this.services, this.caller, verb, asked);
      return act(asked);
    };
    return this.#recording(
      () => subject,
      () => atBorder(this.services.log, given, known, limits),
    );
  }

  /** Refusals are recorded, but `busy`, after which the same may be asked again. */
  async #recording<T>(subject: () => RefusedSubject, act: () => Promise<T>): Promise<T> {
    try {
      return await traced(this.services.tracing, subject().verb, {}, act);
    } catch (error) {
      if (error instanceof Refusal) this.services.log?.write('debug', `${subject().verb} was refused`, error);
      if (error instanceof Refusal && error.code !== 'busy') await this.#refusals.record(this.caller, error, subject());
      throw error;
    }
  }
}
