/**
 * What the routes for people do: signing in, making passkeys behind links, and reading who there is. No rule stands
 * here.
 * Source: spec doors (HTTP API, console), authority (approvers and keys).
 */
import type { CountersignGate, Gate } from '../app/index.js';
import { listPeople, listTokens } from '../app/index.js';
import { historyOf } from '../app/internal.js';
import { Refusal } from '../core/index.js';
import type { Asked, Handler } from './handlers.js';

type PeopleRoute =
  | 'signInOptions'
  | 'signIn'
  | 'signOut'
  | 'openInvitation'
  | 'enrol'
  | 'invite'
  | 'confirmKey'
  | 'sessionAct'
  | 'edit'
  | 'people'
  | 'policy'
  | 'log'
  | 'audit'
  | 'beginAudit';

export const PEOPLE_HANDLERS: Readonly<Record<PeopleRoute, Handler>> = {
  signInOptions: async ({ people }) => people.signInOptions(),
  signIn: async ({ people, body, setSession }) => {
    const { session, ...signedIn } = await people.signIn(body);
    setSession(session, signedIn.expires);
    return signedIn;
  },
  signOut: async ({ setSession }) => {
    setSession(undefined, 0);
    return { done: true };
  },
  openInvitation: ({ people, body }) => people.open(body.secret),
  enrol: ({ people, body }) => people.enrol(body.secret, body.state, body.registration),
  invite: async (asked) => {
    await demandRole(asked, 'operator');
    const { gate, people, body, publicUrl } = asked;
    const { secret, ...invited } = await people.invite(body.person, body.roles, gate.caller.principal);
    return { ...invited, link: `${publicUrl}/enrol#${secret}` };
  },
  confirmKey: async (asked) => {
    await demandRole(asked, 'operator');
    const { gate, people, params, body } = asked;
    return people.confirm(params['invitation_id'] ?? '', body.code, gate);
  },
  sessionAct: async ({ gate, body }) => {
    await gate.actBySession(body.act);
    return { done: true };
  },
  edit: ({ gate, params, body }) => gate.edit(params['action_id'] ?? '', body.args),
  people: async ({ owner, people }) => {
    const { people: known, keys } = await listPeople(owner.ledger);
    const tokens = await listTokens(owner.ledger);
    // What was signed for is a key by now, and waits for nobody.
    const registered = new Set(keys.map((key) => (key.method === 'webauthn' ? key.credential : key.key_id)));
    const waiting = (await people.pending()).filter(({ passkey }) => !registered.has(passkey?.credential ?? ''));
    return {
      people: known,
      keys,
      tokens: tokens.map(({ hash: _, ...token }) => token),
      pending: waiting.map(({ hash: _, passkey: __, ...one }) => one),
    };
  },
  policy: async ({ owner }) => {
    const { version, config } = owner.services.trust();
    return { version, config };
  },
  log: async ({ owner, query }) => {
    const { after = '0', of } = query;
    if (of !== undefined) {
      return { entries: (await historyOf(owner.ledger, of, Number(after))).map((event) => lineOf(event)) };
    }
    const entries = await owner.ledger.log(Number(after));
    return { entries: entries.map(({ sequence, event }) => ({ sequence, ...lineOf(event) })) };
  },
  audit: async ({ auditDesk }) => auditDesk.told(),
  beginAudit: async (asked) => {
    await demandRole(asked, 'auditor', 'operator');
    return asked.auditDesk.begin();
  },
};

/** Which ledger this is, and who asks; of a person also what they can sign with. */
export async function identityOf(gate: Gate, owner: CountersignGate): Promise<unknown> {
  const { ledger_id, name, epoch, demo } = await gate.identity();
  const { principal, session } = gate.caller;
  const common = { ledger_id, name, epoch, demo, principal };
  if (session !== true) return common;
  const { people, keys } = await listPeople(owner.ledger);
  const passkeys = keys.flatMap((key) =>
    key.method === 'webauthn' && key.person === principal && key.state === 'active'
      ? [{ key_id: key.key_id, credential: key.credential }]
      : [],
  );
  const roles = people.find(({ person }) => person === principal)?.roles ?? [];
  const { webauthn } = owner.services.trust().config;
  return {
    ...common,
    roles,
    passkeys,
    ...(webauthn === undefined ? {} : { rp_id: webauthn.rp_id }),
    frozen: await owner.frozen(),
  };
}

/** An event without what it says: its place, and the hash that holds it there. */
function lineOf({ record, revision, type, at, actor, hash }: Awaited<ReturnType<typeof historyOf>>[number]) {
  return { kind: record.kind, id: record.id, revision, type, at, actor, hash };
}

async function demandRole({ gate, owner }: Asked, ...wanted: readonly string[]): Promise<void> {
  const { people } = await listPeople(owner.ledger);
  const roles = people.find(({ person }) => person === gate.caller.principal)?.roles ?? [];
  if (roles.some((role) => wanted.includes(role))) return;
  throw new Refusal('forbidden', `this is for somebody who is ${wanted.join(' or ')}`);
}
