/**
 * What the events of a log mean, read in order: whether every receipt was good by the registry as it stood at its
 * place, whether every launch had its authority, and whether people, keys and configuration changed by signatures
 * alone. It keeps the keys, the people, and what is open: memory does not grow with what is done.
 * Source: spec ledger (verify), authority (request and receipt).
 */
import type { ActionContent, Attempt, Resolution } from '../actions/index.js';
import {
  type Act,
  actDigest,
  challengeOf,
  ProofVerifier,
  type Receipt,
  type RequestDocument,
  type WebauthnSettings,
} from '../approvals/index.js';
import type { Json } from '../core/index.js';
import { keyKind } from '../identity/index.js';
import type { Defect, LedgerEvent } from '../ledger/index.js';
import type { Decision, TrustConfig } from '../policy/index.js';
import { BoundInspection } from './bound-inspection.js';
import { GrantInspection } from './grant-inspection.js';
import { type Authorization, isAllowed, isFound, noncesOf, type OpenAction, sameBytes } from './inspection-facts.js';
import { isAllowedStep, stateAfter } from './legal-steps.js';
import { confirmationDefect } from './package-inspection.js';
import { isChangeOf, isOwnChange, type KnownKey, RecoveryInspection } from './registry-inspection.js';

const DEFECTS_MAX = 100;

/** The registry, the requests and the actions as they stand at one place of the log. */
export class Inspection {
  receipts = 0;
  launches = 0;
  readonly defects: Defect[] = [];
  readonly #keys = new Map<string, KnownKey>();
  readonly #people = new Map<string, { readonly roles: readonly string[]; active: boolean }>();
  readonly #opened = new Map<string, { readonly request: RequestDocument; readonly act: Json }>();
  readonly #signed = new Map<string, Receipt>();
  readonly #actions = new Map<string, OpenAction>();
  readonly #bounds = new BoundInspection();
  readonly #grants = new GrantInspection();
  readonly #proofs = new ProofVerifier();
  readonly #recovery = new RecoveryInspection();
  #webauthn: WebauthnSettings | undefined;
  #configured = false;
  #bootstrapped = false;
  #epoch = 0;

  get recoveries() {
    return this.#recovery.recoveries;
  }

  async see(event: LedgerEvent): Promise<void> {
    switch (event.record.kind) {
      case 'ledger':
        return this.#ledger(event);
      case 'config':
        return this.#config(event);
      case 'person':
      case 'key':
        return this.#registry(event);
      case 'request':
        return this.#request(event);
      case 'action':
        return this.#action(event);
      case 'grant':
        if (event.type === 'grant-opened' || event.type === 'grant-revoked') {
          this.#demandAct(
            event,
            'standing',
            (act) => act.kind === 'standing' && act.change.grant_id === event.record.id,
          );
        }
        return this.#wrong(event, this.#grants.see(event));
      case 'freeze':
        return this.#demandAct(event, 'freeze', (act) => act.kind === 'freeze' && act.scope.scope === event.data.scope);
      case 'package':
        return this.#wrong(
          event,
          confirmationDefect(event, this.#opened, this.#signed, (person) => this.#has(person, 'approver')),
        );
      case 'budget':
        return this.#wrong(event, this.#bounds.budget(event));
      default:
    }
  }

  #ledger(event: LedgerEvent): void {
    if (event.type === 'bootstrap-completed') {
      if (this.#bootstrapped) this.#defect(event, 'there was a first approver already');
      this.#bootstrapped = true;
    }
    if (event.type === 'ledger-recovered') this.#recovery.begin(event);
    else if (event.type === 'ledger-restored') this.#demandAct(event, 'restore', () => true);
    else return;
    this.#epoch += 1;
    this.#opened.clear();
    this.#signed.clear();
  }

  #config(event: LedgerEvent): void {
    const { version, config } = event.data as { version: string; config: Json };
    if (this.#configured) this.#demandAct(event, 'config', (act) => actDigest(act) === version);
    this.#configured = true;
    this.#webauthn = (config as unknown as TrustConfig).webauthn;
  }

  /**
   * INVARIANT: people and keys change by a signature alone, but for the first and a recovery
   * (audit.registry-authority).
   */
  #registry(event: LedgerEvent): void {
    const { id } = event.record;
    if (this.#bootstrapped && !this.#recovery.covers(event)) {
      this.#demandAct(event, 'registry', (act) => act.kind === 'registry' && isChangeOf(act.change, event));
    }
    switch (event.type) {
      case 'person-added': {
        const { roles } = event.data as { roles: readonly string[] };
        this.#people.set(id, { roles, active: true });
        return;
      }
      case 'person-removed': {
        const person = this.#people.get(id);
        if (person !== undefined) person.active = false;
        return;
      }
      case 'person-recovered': {
        const { roles } = event.data as { roles: readonly string[] };
        this.#people.set(id, { roles, active: true });
        return;
      }
      case 'key-added': {
        const key = keyKind.evolve(undefined, event);
        this.#keys.set(id, { person: key.person, key, revoked: false });
        return;
      }
      case 'key-revoked': {
        const key = this.#keys.get(id);
        if (key !== undefined) key.revoked = true;
        return;
      }
      default:
    }
  }

  /** The act that an event says it carries out was signed, by somebody who could, and is this one. */
  #demandAct(event: LedgerEvent, kind: Act['kind'], isThis: (act: Act) => boolean): void {
    const { request_id } = (event.data.authorization ?? {}) as { request_id?: string };
    const receipt = this.#signed.get(request_id ?? '');
    const act = this.#opened.get(request_id ?? '')?.act as unknown as Act | undefined;
    const covers = receipt?.request.kind === kind && act?.kind === kind && actDigest(act) === receipt.request.digest;
    if (!covers || !isThis(act)) {
      this.#defect(event, `no receipt of kind ${kind} stands behind this`);
      return;
    }
    const { approver } = receipt.request;
    if (isOwnChange(act, approver, this.#keys)) return;
    const stops = act.kind === 'freeze' && act.op === 'set';
    const may = this.#has(approver, 'operator') || ((stops || kind === 'standing') && this.#has(approver, 'approver'));
    if (!may) this.#defect(event, 'who signed this is no operator');
    else if (kind === 'registry' && !this.#byTwo(event, receipt)) this.#defect(event, 'too few operators signed this');
  }

  /** Whether a second operator signed the same, where there are two. */
  #byTwo(event: LedgerEvent, { request }: Receipt): boolean {
    const able = new Set<string>();
    for (const { person, revoked } of this.#keys.values()) {
      if (!revoked && this.#has(person, 'operator') && this.#people.get(person)?.active === true) able.add(person);
    }
    if (able.size < 2) return true;
    const { also = [] } = event.data.authorization as { also?: readonly { readonly request_id: string }[] };
    return also.some(({ request_id }) => {
      const other = this.#signed.get(request_id)?.request;
      return other?.digest === request.digest && other.approver !== request.approver && able.has(other.approver);
    });
  }

  #has(person: string, role: string): boolean {
    return this.#people.get(person)?.roles.includes(role) === true;
  }

  async #request(event: LedgerEvent): Promise<void> {
    if (event.type === 'request-opened') {
      const { request, act } = event.data as unknown as { request: RequestDocument; act: Json };
      this.#opened.set(request.request_id, { request, act });
    }
    if (event.type === 'request-withdrawn') this.#opened.delete(event.record.id);
    if (event.type === 'request-signed') {
      const { receipt } = event.data as unknown as { receipt: Receipt };
      this.receipts += 1;
      const wrong = await this.#receiptDefect(event, receipt);
      if (wrong !== undefined) return this.#defect(event, wrong);
      this.#signed.set(receipt.request.request_id, receipt);
    }
  }

  async #receiptDefect(event: LedgerEvent, receipt: Receipt): Promise<string | undefined> {
    const { request } = receipt;
    const known = this.#keys.get(receipt.credential_id);
    const opened = this.#opened.get(request.request_id)?.request;
    if (opened === undefined || !sameBytes(challengeOf(opened), challengeOf(request))) {
      return 'the receipt is for a request that was not issued';
    }
    if (request.aud.epoch !== this.#epoch) return 'the receipt is from another epoch';
    if (known === undefined || known.revoked) return 'the key of the receipt was not active';
    if (known.person !== request.approver) return "the key of the receipt is somebody else's";
    if (this.#people.get(request.approver)?.active !== true) return 'the signer was not registered';
    const wrong = await this.#proofs.verify(receipt, known.key, this.#webauthn);
    if (wrong !== undefined) return 'the signature of the receipt does not verify';
    return event.at >= request.exp ? 'the receipt came after its request had expired' : undefined;
  }

  #action(event: LedgerEvent): void {
    const { id } = event.record;
    const open = this.#actions.get(id);
    if (!isAllowedStep(open?.state, event.type)) this.#defect(event, 'the action can not take this step');
    if (event.type === 'action-launched') this.#launch(event, open);
    if (event.type === 'action-proposed') {
      const { content, decision } = event.data as unknown as { content: ActionContent; decision: Decision };
      this.#actions.set(id, { content, decision, state: 'proposed', authorization: null, launchBy: 0 });
      return;
    }
    if (open === undefined) return;
    if (isFound(event)) this.#demandResolution(event, 'finding', open);
    if (event.type === 'action-replaced') this.#demandResolution(event, 'assume_duplicate', open);
    if (event.type === 'action-approved' || (event.type === 'retry-approved' && event.data.authorization !== null)) {
      const { authorization, launch_by } = event.data as unknown as { authorization: Authorization; launch_by: number };
      open.authorization = authorization;
      open.launchBy = launch_by;
    }
    open.state = stateAfter(open.state, event.type);
    if (open.state === 'confirmed' || open.state === 'cancelled') this.#actions.delete(id);
  }

  /**
   * INVARIANT: a launch stands on receipts whose nonces it used up, or on a decision of policy
   * (audit.launch-authority).
   */
  #launch(event: LedgerEvent, open: OpenAction | undefined): void {
    this.launches += 1;
    const { attempt } = event.data as unknown as { attempt: Attempt };
    if (open === undefined) {
      this.#defect(event, 'what was launched was never proposed');
      return;
    }
    if (event.at >= open.launchBy) this.#defect(event, 'the launch came after its deadline');
    const { authorization } = attempt;
    this.#wrong(event, this.#bounds.launch(event.record.id, attempt));
    if (authorization.kind === 'policy') {
      if (!isAllowed(open, attempt, authorization.decision_id)) this.#defect(event, 'policy did not allow this launch');
      return;
    }
    if (authorization.kind === 'grant') {
      this.#wrong(event, this.#grants.launch(authorization.grant_id, open.content, attempt.no));
      return;
    }
    const taken = noncesOf(event);
    const people = new Set<string>();
    for (const requestId of authorization.request_ids) {
      const receipt = this.#signed.get(requestId);
      const wrong = receipt === undefined ? 'that is not there' : this.#approvalDefect(receipt, open.content);
      if (receipt === undefined || wrong !== undefined) {
        this.#defect(event, `a launch stands on a receipt ${wrong}`);
        continue;
      }
      if (!taken.has(receipt.request.nonce)) this.#defect(event, 'a launch did not use up the nonce of its receipt');
      people.add(receipt.request.approver);
      this.#signed.delete(requestId);
      this.#opened.delete(requestId);
    }
    if (people.size < open.content.quorum) this.#defect(event, 'a launch stands on too few approvals');
  }

  /** INVARIANT: what people decide about an outcome stands on their signature (audit.resolution-authority). */
  #demandResolution(event: LedgerEvent, kind: Resolution['kind'], open: OpenAction | undefined): void {
    const { request_id, outcome } = event.data as { request_id?: string; outcome?: string };
    const request = this.#signed.get(request_id ?? '')?.request;
    const act = this.#opened.get(request_id ?? '')?.act as unknown as Resolution | undefined;
    const same = request?.kind === kind && act?.kind === kind && request?.subject === event.record.id;
    const says = act?.kind !== 'finding' || act?.outcome === outcome;
    const may = open === undefined || open.content.approvers.includes(request?.approver ?? '');
    if (!same || !says || !may) this.#defect(event, `no receipt of kind ${kind} stands behind this`);
  }

  #approvalDefect(receipt: Receipt, content: ActionContent): string | undefined {
    const { request } = receipt;
    if (request.kind !== 'action' || request.decision !== 'approve') return 'that approves nothing';
    const same = request.subject === content.action_id && request.digest === content.digest;
    if (!same || request.binding !== content.binding) return 'for something else';
    if (!content.approvers.includes(request.approver)) return 'of somebody who may not approve it';
    if (this.#keys.get(receipt.credential_id)?.revoked !== false) return 'whose key was revoked';
    if (this.#people.get(request.approver)?.active !== true) return 'of somebody who was removed';
    return undefined;
  }

  #wrong(event: LedgerEvent, what: string | undefined): void {
    if (what !== undefined) this.#defect(event, what);
  }

  #defect(event: LedgerEvent, what: string): void {
    const where = `${event.record.kind}/${event.record.id}#${event.revision}`;
    if (this.defects.length < DEFECTS_MAX) this.defects.push({ where, what });
  }
}
