/**
 * The door for people: a passkey signs somebody in, a link lets somebody make one, and a typed code says whose it is.
 * Being signed in reads and asks; whatever needs a person is signed by a gesture of its own.
 *
 * It promises that nobody is signed in without an active key of an active person over a challenge of this gate, used
 * once; that a session ends with the key, the person or the epoch; and that a passkey made behind a link counts for
 * nothing before its code was typed and a receipt was signed for it.
 * Source: spec authority (human authority; approvers and keys), doors (HTTP API).
 */
import type { Caller } from '../actions/index.js';
import { type IssuedAct, type Registration, readRegistration, verifyGesture } from '../approvals/index.js';
import { base64urlDecode, base64urlEncode, LIMITS, PATTERNS, Refusal } from '../core/index.js';
import {
  bootstrapKey,
  confirmationCode,
  type InvitationState,
  invitationHash,
  invitationKind,
  invitationRecord,
  invite,
  isSameCode,
  keepPasskey,
  keyId,
  keyKind,
  LEDGER_RECORD,
  openInvitation,
  type Passkey,
  personKind,
  type Role,
  voidInvitation,
} from '../identity/index.js';
import { epochOf } from './epoch.js';
import { type Gate, visitorOf } from './gate.js';
import type { CountersignGate } from './open.js';
import { listPeople } from './people.js';
import { type Sealer, sealerOf } from './sealed.js';

export interface SignedIn {
  /** What the browser keeps, and nobody reads there. */
  readonly session: string;
  readonly person: string;
  readonly roles: readonly Role[];
  readonly expires: number;
}

export interface SignIn {
  readonly state: string;
  readonly credential: string;
  readonly proof: { readonly authenticator_data: string; readonly client_data: string; readonly signature: string };
}

interface Challenge {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly expires: number;
}

function usedChallenge(): Refusal {
  return new Refusal('challenge_mismatch', 'the challenge is over, or was used: start again');
}

/** Challenges that were tried, until they are over: each is good once. */
const USED_MAX = 10_000;

export class PeopleDoor {
  readonly #gate: CountersignGate;
  readonly #sealer: Sealer;
  readonly #used = new Map<string, number>();
  /** Which door asked: what another process remembers of its challenges is not known here. */
  readonly #door: string;

  constructor(gate: CountersignGate) {
    this.#door = base64urlEncode(gate.services.random.bytes(16));
    this.#gate = gate;
    this.#sealer = sealerOf(gate.home.sessionsKey, gate.services.random);
  }

  /** A challenge to sign in with. Refuses `method_refused` where the configuration names no page for passkeys. */
  signInOptions() {
    const { rp_id } = this.#settings();
    return { ...this.#challenge('sign-in', {}), rp_id };
  }

  /** Signs somebody in. Refuses `unauthenticated`, and as a gesture is refused. */
  async signIn({ state, credential, proof }: SignIn): Promise<SignedIn> {
    const settings = this.#settings();
    const challenge = this.#openChallenge('sign-in', state);
    const key = (await listPeople(this.#gate.ledger)).keys.find(
      (one): one is Passkey => one.method === 'webauthn' && one.credential === credential && one.state === 'active',
    );
    if (key === undefined) throw new Refusal('unauthenticated', 'no such passkey is registered here');
    this.#use(challenge);
    const wrong = await verifyGesture({ proof }, challenge.bytes, key, settings);
    if (wrong !== undefined) throw wrong;
    const person = (await this.#gate.ledger.read(personKind, key.person))?.state;
    if (person?.state !== 'active' || person.roles.length === 0)
      throw new Refusal('unauthenticated', 'nobody active has this passkey');
    const expires = this.#now() + LIMITS.sessionMs;
    const said = { person: key.person, key_id: key.key_id, epoch: await epochOf(this.#gate.ledger) };
    return { session: this.#sealer.seal('session', expires, said), person: key.person, roles: person.roles, expires };
  }

  /** The gate for whoever shows a session. Refuses `unauthenticated`. */
  async visitor(session: string): Promise<Gate> {
    return visitorOf(this.#gate, await this.callerOf(session));
  }

  /** Who is signed in by this. Refuses `unauthenticated`, with one answer for every reason. */
  async callerOf(session: string): Promise<Caller & { readonly roles: readonly Role[] }> {
    const said = this.#sealer.unseal('session', this.#now(), session);
    const { ledger } = this.#gate;
    const [person, key] = await Promise.all([
      ledger.read(personKind, String(said?.['person'] ?? '-')),
      ledger.read(keyKind, String(said?.['key_id'] ?? '-')),
    ]);
    const stands =
      said !== undefined &&
      said['epoch'] === (await epochOf(this.#gate.ledger)) &&
      person?.state.state === 'active' &&
      key?.state.state === 'active' &&
      key.state.person === person.state.person;
    if (!stands) throw new Refusal('unauthenticated', 'nobody is signed in by this');
    return { principal: person.state.person, session: true, roles: person.state.roles };
  }

  /** A link's secret for one person, good for 15 minutes. */
  async invite(person: string, roles: readonly Role[], by: string) {
    if (!PATTERNS.human.test(person)) {
      throw new Refusal('invalid', 'a person is named `human:NAME`', { path: 'person' });
    }
    this.#settings();
    const { services, ledger } = this.#gate;
    const invitation_id = services.ids.mint('inv');
    const secret = base64urlEncode(services.random.bytes(32));
    await ledger.commit({
      actor: by,
      writes: [invitationRecord(invitation_id)],
      decide: (view) => ({ events: [invite(invitation_id, person, roles, secret, view.now)], outcome: null }),
    });
    return { invitation_id, secret, person, expires: this.#now() + LIMITS.invitationMs };
  }

  /** Opens a link, once, and answers what the page needs to make a passkey. Refuses `invitation`. */
  async open(secret: string) {
    const state = await this.#invitationOf(secret);
    const { outcome } = await this.#gate.ledger.commit<{ isVoid: boolean }>({
      actor: 'engine:gate',
      writes: [invitationRecord(state?.invitation_id ?? 'inv')],
      decide: (view) => {
        const known = view.get(invitationKind, state?.invitation_id ?? 'inv')?.state;
        const event = openInvitation(known, view.now);
        if (event instanceof Refusal) return event;
        return { events: [event], outcome: { isVoid: event.type === 'invitation-voided' } };
      },
    });
    if (outcome.isVoid || state === undefined) {
      throw new Refusal('invitation', 'the link was opened before: it is void now, and so is what was made with it');
    }
    const { ledger_id, name } = await this.#gate.identity();
    const { rp_id } = this.#settings();
    const asked = this.#challenge('enrol', { invitation_id: state.invitation_id });
    return { ...asked, person: state.person, roles: state.roles, ledger: { ledger_id, name }, rp_id };
  }

  /** Keeps a passkey behind an opened link, and answers the code that both sides show. */
  async enrol(secret: string, state: string, registration: Registration) {
    const known = await this.#invitationOf(secret);
    const said = this.#sealer.unseal('enrol', this.#now(), state);
    if (known === undefined || said?.['invitation_id'] !== known.invitation_id) {
      throw new Refusal('invitation', 'this is not the page of the invitation');
    }
    const challenge = this.#openChallenge('enrol', state);
    this.#use(challenge);
    const passkey = await readRegistration(registration, challenge.bytes, this.#settings());
    if (passkey instanceof Refusal) throw passkey;
    await this.#gate.ledger.commit({
      actor: 'engine:gate',
      writes: [invitationRecord(known.invitation_id)],
      decide: (view) => {
        const event = keepPasskey(view.get(invitationKind, known.invitation_id)?.state, passkey, view.now);
        return event instanceof Refusal ? event : { events: [event], outcome: null };
      },
    });
    const { ledger_id } = await this.#gate.identity();
    return { person: known.person, code: confirmationCode(ledger_id, passkey.public_key) };
  }

  /** Passkeys that wait for their confirmation, the oldest first. */
  async pending(): Promise<readonly InvitationState[]> {
    const { ledger } = this.#gate;
    const page = await ledger.list({ kind: 'invitation', waiting: true, statuses: ['made'] });
    const states = await Promise.all(page.rows.map(({ id }) => ledger.read(invitationKind, id)));
    const now = this.#now();
    return states
      .map((one) => one?.state)
      .filter((one): one is InvitationState => one !== undefined && now < one.expires);
  }

  /**
   * Asks operators to sign for a passkey whose code somebody typed who saw it on the other's page; or, where nobody is
   * confirmed yet and this is the terminal of the store's owner, makes it the first. Refuses `forbidden` for another
   * code.
   */
  async confirm(invitationId: string, typed: string, gate: Gate): Promise<IssuedAct> {
    const { change } = await this.#confirmed(invitationId, typed);
    return gate.requestAct({ kind: 'registry', change });
  }

  /** INVARIANT: the first approver is confirmed at the terminal of the store's owner (server.bootstrap.terminal). */
  async confirmFirst(invitationId: string, typed: string): Promise<{ person: string; keyId: string }> {
    const { change } = await this.#confirmed(invitationId, typed);
    const { person, public_key, credential } = change;
    const id = keyId(public_key);
    await this.#gate.ledger.commit({
      actor: person,
      writes: [LEDGER_RECORD, { kind: 'person', id: person }, { kind: 'key', id }, invitationRecord(invitationId)],
      decide: (view) => {
        const events = bootstrapKey(view, person, public_key, 'terminal', credential);
        if (events instanceof Refusal) return events;
        return { events: [...events, voidInvitation(invitationId)], outcome: null };
      },
    });
    return { person, keyId: id };
  }

  async #confirmed(invitationId: string, typed: string) {
    const state = PATTERNS.invitation.test(invitationId)
      ? (await this.#gate.ledger.read(invitationKind, invitationId))?.state
      : undefined;
    if (state?.state !== 'made' || state.passkey === null || this.#now() >= state.expires) {
      throw new Refusal('invitation', 'no passkey waits behind this invitation');
    }
    const { ledger_id } = await this.#gate.identity();
    if (!isSameCode(typed, confirmationCode(ledger_id, state.passkey.public_key))) {
      throw new Refusal('forbidden', 'the code is another one: nothing was confirmed', { next: 'compare it again' });
    }
    const { person, roles, passkey } = state;
    const change = { change: 'add-passkey' as const, person: person as string, roles: [...roles], ...passkey };
    return { change };
  }

  async #invitationOf(secret: string): Promise<InvitationState | undefined> {
    const { ledger } = this.#gate;
    const [row] = await ledger.lookup('invitation', invitationHash(secret));
    return row === undefined ? undefined : (await ledger.read(invitationKind, row.id))?.state;
  }

  #challenge(purpose: 'sign-in' | 'enrol', said: Readonly<Record<string, string>>) {
    const challenge = base64urlEncode(this.#gate.services.random.bytes(32));
    const expires = this.#now() + LIMITS.challengeMs;
    return { challenge, state: this.#sealer.seal(purpose, expires, { ...said, challenge, door: this.#door }), expires };
  }

  /** A challenge of this door that was answered by nobody yet. */
  #openChallenge(purpose: 'sign-in' | 'enrol', state: string): Challenge {
    const said = this.#sealer.unseal(purpose, this.#now(), state);
    const text = typeof said?.['challenge'] === 'string' ? said['challenge'] : '';
    if (text === '' || said?.['door'] !== this.#door || this.#used.has(text)) throw usedChallenge();
    return { text, bytes: base64urlDecode(text) ?? new Uint8Array(0), expires: Number(said['exp']) };
  }

  /**
   * Uses a challenge up, which has one try. Only tries of a registered key, or behind a link, are remembered: nobody
   * else fills that memory.
   * INVARIANT: an answer lets somebody in once, also behind a restart (server.session.signed).
   */
  #use({ text, expires }: Challenge): void {
    const now = this.#now();
    for (const [known, over] of this.#used) if (now >= over) this.#used.delete(known);
    if (this.#used.has(text) || this.#used.size >= USED_MAX) throw usedChallenge();
    this.#used.set(text, expires);
  }

  #settings() {
    const { webauthn } = this.#gate.services.trust().config;
    if (webauthn !== undefined) return webauthn;
    const next = 'add `webauthn` to the configuration, and apply it with `countersign config apply`';
    throw new Refusal('method_refused', 'the configuration names no page for passkeys', { next });
  }

  #now(): number {
    return this.#gate.now();
  }
}
