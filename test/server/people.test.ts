/** People at the HTTP door: a link makes a passkey, a typed code and a signature let it count, a gesture signs in. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditLedger, type CountersignGate } from '../../src/app/index.js';
import { PeopleDoor } from '../../src/app/people-door.js';
import type { RequestDocument } from '../../src/approvals/index.js';
import { base64urlDecode } from '../../src/core/index.js';
import { keyId } from '../../src/identity/index.js';
import {
  type Authenticator,
  addPasskeyAct,
  authenticator,
  ORIGIN,
  passkeyReceipt,
  proofOver,
  RP_ID,
  registrationOver,
} from '../support/authenticator.js';
import { ALICE } from '../support/gate-people.js';
import { approve, carriedOut, codeOf, configAct, sending, signed, TRUST } from '../support/gate-world.js';
import { grantOf } from '../support/grants.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const PAGES = `${TRUST}webauthn: { rp_id: ${RP_ID}, origins: ['${ORIGIN}'] }\n`;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server answers
  readonly body: any;
  readonly cookie: string | undefined;
}

/** A browser on a page of the server: it keeps its cookie. */
class Browser {
  cookie: string | undefined;
  readonly #world: ServerWorld;
  constructor(world: ServerWorld) {
    this.#world = world;
  }

  async send(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.#world.raw(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = answer.headers.get('set-cookie') ?? undefined;
    if (set !== undefined) this.cookie = set.split(';')[0];
    return { status: answer.status, body: await answer.json(), cookie: set };
  }

  async signIn(by: Authenticator): Promise<Answer> {
    const { body } = await this.send('/v1/session/options', {});
    const challenge = base64urlDecode(body.challenge) ?? new Uint8Array(0);
    const proof = proofOver(by, challenge);
    return this.send('/v1/session', { state: body.state, credential: by.credential, proof });
  }
}

/** Makes a passkey behind a link, confirms and signs for it by the first approver. */
async function enrolled(world: ServerWorld, person: string, roles = ['approver']): Promise<Authenticator> {
  const by = authenticator(person);
  const people = new PeopleDoor(world.gate as never);
  const { secret, invitation_id } = await people.invite(person, roles as never, 'agent:local');
  const browser = new Browser(world);
  const { body } = await browser.send('/v1/invitations/open', { secret });
  const registration = registrationOver(by, base64urlDecode(body.challenge) ?? new Uint8Array(0));
  const made = await browser.send('/v1/invitations/enrol', { secret, state: body.state, registration });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const issued = await people.confirm(invitation_id, made.body.code, world.gate);
  await world.gate.submit(signed(issued.request));
  for (const more of issued.also) await world.gate.submit(signed(more));
  return by;
}

describe('people at the HTTP door', () => {
  let world: ServerWorld;
  before(async () => {
    world = await serverWorld({ trust: PAGES });
  });
  after(() => world.close());

  it('make a passkey behind a link, which counts once its code was typed and an operator signed', async () => {
    verifies('server.enrolment');
    const by = authenticator('human:carol');
    const people = new PeopleDoor(world.gate as never);
    const { secret, invitation_id } = await people.invite('human:carol', ['approver'], 'agent:local');
    const browser = new Browser(world);
    const opened = await browser.send('/v1/invitations/open', { secret });
    assert.equal(opened.body.person, 'human:carol');
    const challenge = base64urlDecode(opened.body.challenge) ?? new Uint8Array(0);
    const enrol = (changes: object) =>
      browser.send('/v1/invitations/enrol', { secret, state: opened.body.state, ...changes });
    const elsewhere = registrationOver(by, challenge, { origin: 'https://evil.example' });
    assert.equal((await enrol({ registration: elsewhere })).body.code, 'client_data');
    assert.equal((await enrol({ registration: registrationOver(by, challenge) })).body.code, 'challenge_mismatch');
    // The challenge was used up by the attempt: the link is opened once, so another one is asked for.
    const second = await people.invite('human:carol', ['approver'], 'agent:local');
    const page = await browser.send('/v1/invitations/open', { secret: second.secret });
    const registration = registrationOver(by, base64urlDecode(page.body.challenge) ?? new Uint8Array(0));
    const made = await browser.send('/v1/invitations/enrol', {
      ...{ secret: second.secret, state: page.body.state, registration },
    });
    assert.equal((await browser.signIn(by)).body.code, 'unauthenticated');
    assert.equal(await codeOf(people.confirm(invitation_id, made.body.code, world.gate)), 'invitation');
    assert.equal(await codeOf(people.confirm(second.invitation_id, '0000-0000', world.gate)), 'forbidden');
    const issued = await people.confirm(second.invitation_id, made.body.code, world.gate);
    assert.equal((await browser.signIn(by)).body.code, 'unauthenticated');
    await world.gate.submit(signed(issued.request));
    assert.equal((await browser.signIn(by)).status, 200);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('get a link that is good once: opened again it is void, with whatever was made behind it', async () => {
    verifies('server.enrolment');
    const people = new PeopleDoor(world.gate as never);
    const { secret, invitation_id } = await people.invite('human:dave', ['approver'], 'agent:local');
    const [one, two] = [new Browser(world), new Browser(world)];
    const opened = await one.send('/v1/invitations/open', { secret });
    const by = authenticator('human:dave');
    const registration = registrationOver(by, base64urlDecode(opened.body.challenge) ?? new Uint8Array(0));
    const made = await one.send('/v1/invitations/enrol', { secret, state: opened.body.state, registration });
    assert.equal((await two.send('/v1/invitations/open', { secret })).body.code, 'invitation');
    assert.equal(await codeOf(people.confirm(invitation_id, made.body.code, world.gate)), 'invitation');
    const late = await people.invite('human:dave', ['approver'], 'agent:local');
    world.clock.advance(15 * 60_000);
    assert.equal((await two.send('/v1/invitations/open', { secret: late.secret })).body.code, 'invitation');
    assert.equal((await two.send('/v1/invitations/open', { secret: 'nothing' })).body.code, 'invitation');
  });

  it('are signed in by a gesture over a challenge of this gate, once, in a cookie that no script reads', async () => {
    verifies('server.session.signed');
    const by = await enrolled(world, 'human:erin');
    const browser = new Browser(world);
    const { status, cookie } = await browser.signIn(by);
    assert.equal(status, 200);
    assert.match(cookie ?? '', /HttpOnly; SameSite=Strict/);
    const me = await browser.send('/v1/identity');
    assert.deepEqual([me.body.principal, me.body.roles], ['human:erin', ['approver']]);
    assert.deepEqual(me.body.passkeys, [{ key_id: keyId(by.publicKey), credential: by.credential }]);
    const { body } = await browser.send('/v1/session/options', {});
    const challenge = base64urlDecode(body.challenge) ?? new Uint8Array(0);
    const asked = { state: body.state, credential: by.credential, proof: proofOver(by, challenge) };
    const stranger = authenticator('human:erin');
    const wrong = { ...asked, proof: proofOver(stranger, challenge) };
    assert.equal((await browser.send('/v1/session', wrong)).body.code, 'bad_signature');
    assert.equal((await browser.send('/v1/session', asked)).body.code, 'challenge_mismatch', 'a challenge has one try');
    const forged = new Browser(world);
    forged.cookie = `${browser.cookie?.slice(0, -4)}AAAA`;
    assert.equal((await forged.send('/v1/identity')).status, 401);
    await browser.send('/v1/session/end', {});
    assert.equal((await browser.send('/v1/identity')).status, 401);
  });

  it('who are signed in read, ask and take back; they propose nothing, launch nothing and approve nothing by it', async () => {
    verifies('server.session.powerless');
    const by = await enrolled(world, 'human:frank');
    const browser = new Browser(world);
    await browser.signIn(by);
    const agent = world.client((await world.token()).text);
    const body = {
      ...{ project: 'acme', connector: 'counting', operation: 'send', target: 'customers' },
      args: { text: 'for frank', account: 'customers' },
    };
    const { action_id } = await agent.call('propose', { body });
    assert.equal((await browser.send(`/v1/actions/${action_id}`)).body.sees, 'all');
    assert.ok((await browser.send('/v1/threads/acme')).body.entries.length > 0);
    assert.equal((await browser.send('/v1/threads/%00')).body.code, 'not_found');
    assert.equal((await browser.send('/v1/actions', body)).body.code, 'forbidden');
    for (const verb of ['execute', 'retry', 'reconcile', 'cover', 'undo', 'like']) {
      assert.ok((await browser.send(`/v1/actions/${action_id}/${verb}`, {})).status >= 400, verb);
    }
    assert.equal((await browser.send('/v1/recover', {})).body.code, 'forbidden');
    const asked = await browser.send(`/v1/actions/${action_id}/requests`, { approver: 'human:frank' });
    const request = asked.body.request as RequestDocument;
    const receipt = passkeyReceipt(by, request);
    const approved = await browser.send(`/v1/actions/${action_id}/approve`, { receipt });
    assert.equal(approved.body.state, 'approved', JSON.stringify(approved.body));
    assert.equal((await agent.call('execute', { action_id })).state, 'confirmed');
    const second = await agent.call('propose', { body: { ...body, args: { ...body.args, text: 'another' } } });
    await browser.send(`/v1/actions/${second.action_id}/cancel`, { words: 'not today' });
    const { closed, state } = await world.gate.show(second.action_id);
    assert.deepEqual([state, closed?.by, closed?.how], ['cancelled', 'human:frank', 'withdrawn']);
    const third = await agent.call('propose', { body: { ...body, args: { ...body.args, text: 'draft' } } });
    const args = { ...body.args, text: 'better' };
    const { body: edited } = await browser.send(`/v1/actions/${third.action_id}/edit`, { args });
    assert.deepEqual(edited.changed_paths, ['args.text']);
    assert.equal((await world.gate.show(third.action_id)).superseded_by, edited.action_id);
    assert.equal(await codeOf(world.gate.edit(edited.action_id, args)), 'forbidden');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('who are signed in pull the brake, and take back what is their own; every other act takes a signature', async () => {
    verifies('server.session.brake');
    const world = await serverWorld({ trust: PAGES });
    const [by, second] = [await enrolled(world, 'human:frank'), authenticator('human:frank')];
    await world.gate.requestAct(addPasskeyAct(second)).then(async ({ request }) => {
      await world.gate.submit(passkeyReceipt(by, request));
    });
    const grace = await enrolled(world, 'human:grace');
    const browser = new Browser(world);
    await browser.signIn(by);
    const act = (what: object) => browser.send('/v1/session/acts', { act: what });
    const freeze = (op: string, scope: object = { scope: 'all', name: null }) => ({ kind: 'freeze', op, scope });
    const agent = world.client((await world.token()).text);
    const body = {
      ...{ project: 'acme', connector: 'counting', operation: 'send', target: 'customers' },
      args: { text: 'under a freeze', account: 'customers' },
    };
    const { action_id } = await agent.call('propose', { body });
    await approve(world, action_id);
    const open = async (person: string) => world.gate.requestStanding(await grantOf(world), person);
    const mine = await open('human:frank');
    await world.gate.submit(passkeyReceipt(by, mine.issued.request));
    const theirs = await open('human:grace');
    await world.gate.submit(passkeyReceipt(grace, theirs.issued.request));

    assert.deepEqual((await act(freeze('set'))).body, { done: true });
    assert.equal((await act(freeze('set'))).body.code, 'state', 'frozen already');
    const [frozen] = await world.gate.frozen();
    assert.equal(frozen?.by, 'human:frank');
    assert.equal(await codeOf(agent.call('execute', { action_id })), 'frozen');
    const last = (await world.gate.ledger.events({ kind: 'freeze', id: 'gate' })).at(-1);
    assert.deepEqual([last?.actor, last?.data['authorization']], ['human:frank', { via: 'session' }]);

    // What makes more possible, and what is another one's, takes a signature.
    const alice = keyId(ALICE.key.publicKey);
    for (const what of [
      freeze('lift'),
      { kind: 'registry', change: { change: 'revoke-key', key_id: alice } },
      { kind: 'registry', change: { change: 'remove-person', person: 'human:grace' } },
      { kind: 'registry', change: { change: 'away', person: 'human:frank', until: null, delegate: null } },
      addPasskeyAct(authenticator('human:mallory')),
      { kind: 'standing', change: { op: 'revoke', grant_id: theirs.grant_id } },
      await configAct(world, PAGES),
      { kind: 'agent', change: { change: 'revoke-token', token_id: `tok_${'0'.repeat(26)}` } },
    ]) {
      assert.equal((await act(what)).body.code, 'forbidden', JSON.stringify(what));
    }
    for (const what of [{}, { kind: 'freeze' }, freeze('set', { scope: 'project', name: 'x y' }), null]) {
      assert.equal((await browser.send('/v1/session/acts', { act: what })).body.code, 'invalid', JSON.stringify(what));
    }
    assert.equal(await codeOf(agent.call('sessionAct', { body: { act: freeze('set') as never } })), 'forbidden');
    assert.equal(await codeOf(world.gate.actBySession(freeze('set') as never)), 'forbidden');
    const viewer = new Browser(world);
    await viewer.signIn(await enrolled(world, 'human:olga', ['viewer']));
    const scope = { scope: 'project', name: 'acme' };
    assert.equal((await viewer.send('/v1/session/acts', { act: freeze('set', scope) })).body.code, 'forbidden');

    const revoked = { kind: 'standing', change: { op: 'revoke', grant_id: mine.grant_id } };
    assert.deepEqual((await act(revoked)).body, { done: true });
    const rows = await world.gate.grants();
    assert.equal(rows.find(({ grant_id }) => grant_id === mine.grant_id)?.state, 'revoked');
    assert.equal(rows.find(({ grant_id }) => grant_id === theirs.grant_id)?.state, 'active');
    const own = { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(by.publicKey) } };
    assert.deepEqual((await act(own)).body, { done: true });
    assert.equal((await browser.send('/v1/identity')).status, 401, 'signed out with the key');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await world.close();
  });

  it('whose browser is sent here by somebody else’s page do nothing', async () => {
    verifies('server.session.own-page');
    const by = await enrolled(world, 'human:grace');
    const browser = new Browser(world);
    await browser.signIn(by);
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      const answer = await browser.send('/v1/session/end', {}, { 'sec-fetch-site': site });
      assert.equal(answer.body.code, 'forbidden', site);
    }
    assert.equal((await browser.send('/v1/identity')).status, 200);
  });

  it('are signed out with their key, their registration, the epoch or the time', async () => {
    verifies('server.session.ends');
    const by = await enrolled(world, 'human:heidi');
    const browser = new Browser(world);
    await browser.signIn(by);
    assert.equal((await browser.send('/v1/people')).status, 200);
    const token = world.client((await world.token()).text);
    assert.equal(await codeOf(token.call('people', {} as never)), 'forbidden');
    const change = { change: 'revoke-key', key_id: keyId(by.publicKey) } as const;
    await carriedOut(world, { kind: 'registry', change });
    assert.equal((await browser.send('/v1/identity')).status, 401);
    const other = await enrolled(world, 'human:ivan');
    await browser.signIn(other);
    const { text } = await world.token('agent:brief', {}, 60_000);
    assert.equal((await world.client(text).call('identity', {})).principal, 'agent:brief');
    world.clock.advance(12 * 3_600_000);
    assert.equal((await browser.send('/v1/identity')).status, 401);
    verifies('server.clock');
    assert.equal(await codeOf(world.client(text).call('identity', {})), 'unauthenticated');
    // A clock that is set back lets nobody in again, also not in a server that began behind it.
    world.clock.advance(-12 * 3_600_000);
    assert.equal((await browser.send('/v1/identity')).status, 401);
    assert.equal(await codeOf(world.client(text).call('identity', {})), 'unauthenticated');
    world.clock.advance(12 * 3_600_000);
    await world.gate.propose(sending({ args: { text: 'later', account: 'customers' } }) as never);
    world.clock.advance(-12 * 3_600_000);
    const beside = (await world.another()) as CountersignGate;
    assert.equal(await codeOf(beside.visitor(text)), 'unauthenticated');
    world.clock.advance(12 * 3_600_000);
  });

  it('are invited by operators alone', async () => {
    verifies('server.enrolment');
    const browser = new Browser(world);
    await browser.signIn(await enrolled(world, 'human:judy'));
    const body = { person: 'human:kim', roles: ['approver'] };
    assert.equal((await browser.send('/v1/invitations', body)).body.code, 'forbidden');
    const operator = new Browser(world);
    await operator.signIn(await enrolled(world, 'human:liam', ['approver', 'operator']));
    const { body: invited } = await operator.send('/v1/invitations', body);
    assert.match(invited.link, /^http:\/\/localhost:\d+\/enrol#[A-Za-z0-9_-]{43}$/);
  });
});

describe('people who are signed in', () => {
  let world: ServerWorld;
  let auditor: Browser;
  let approver: Browser;
  before(async () => {
    world = await serverWorld({ trust: PAGES });
    auditor = new Browser(world);
    await auditor.signIn(await enrolled(world, 'human:nina', ['auditor']));
    approver = new Browser(world);
    await approver.signIn(await enrolled(world, 'human:otto'));
  });
  after(() => world.close());

  it('approve nothing, also not by a standing approval that others signed', async () => {
    verifies('server.session.powerless');
    const { action_id } = await world.gate.propose(sending({ args: { text: 'cover', account: 'customers' } }) as never);
    assert.equal((await approver.send(`/v1/actions/${action_id}/cover`, {})).body.code, 'forbidden');
    assert.equal((await world.gate.show(action_id)).state, 'proposed');
  });

  it('came in by an answer that is good once, at the door that asked, and no wrong one fills its memory', async () => {
    verifies('server.session.signed');
    const by = await enrolled(world, 'human:pia');
    const people = () => new PeopleDoor(world.gate as never);
    const [door, other] = [people(), people()];
    const answer = (asked: { challenge: string; state: string }) => ({
      ...{ state: asked.state, credential: by.credential },
      proof: proofOver(by, base64urlDecode(asked.challenge) ?? new Uint8Array(0)),
    });
    const asked = door.signInOptions();
    const stranger = { ...answer(asked), credential: 'AAAA' };
    assert.equal(await codeOf(door.signIn(stranger)), 'unauthenticated');
    assert.equal(await codeOf(other.signIn(answer(asked))), 'challenge_mismatch', 'another process did not ask');
    assert.equal((await door.signIn(answer(asked))).person, 'human:pia', 'a stranger used nothing up');
    assert.equal(await codeOf(door.signIn(answer(asked))), 'challenge_mismatch');
    const twice = door.signInOptions();
    const both = await Promise.allSettled([door.signIn(answer(twice)), door.signIn(answer(twice))]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  it('have the whole ledger verified, one run at a time, where they are auditor or operator', async () => {
    verifies('server.audit');
    assert.deepEqual((await approver.send('/v1/audit')).body, { state: 'none' });
    assert.equal((await approver.send('/v1/audit', {})).body.code, 'forbidden');
    const [one, two] = await Promise.all([auditor.send('/v1/audit', {}), auditor.send('/v1/audit', {})]);
    assert.equal(one?.body.since, two?.body.since, 'the second joins the first');
    let told = await approver.send('/v1/audit');
    for (let left = 100; left > 0 && told.body.state === 'running'; left -= 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      told = await approver.send('/v1/audit');
    }
    assert.deepEqual([told.body.state, told.body.report.defects], ['done', []]);
    assert.equal(told.body.report.head.sequence, (await world.gate.ledger.head()).sequence);
    const token = world.client((await world.token()).text);
    assert.equal(await codeOf(token.call('audit', {} as never)), 'forbidden');
  });

  it('find what happened to whatever has an id', async () => {
    verifies('server.audit');
    const { action_id } = await world.gate.propose(sending() as never);
    await world.gate.comment(action_id, 'hello');
    const { body } = await approver.send(`/v1/log?of=${action_id}`);
    const kinds = body.entries.map(({ kind, type }: Record<string, string>) => `${kind} ${type}`);
    assert.deepEqual(kinds, ['action action-proposed', 'comment comment-added']);
    assert.deepEqual((await approver.send('/v1/log?of=nothing')).body.entries, []);
    assert.equal((await approver.send('/v1/log?of=a%20b')).status, 400);
    assert.deepEqual((await approver.send(`/v1/log?of=${action_id}&after=1`)).body.entries, []);
  });

  it('see what policy would decide for an agent, comment, and have an outcome checked; they propose nothing', async () => {
    verifies('server.explain.as');
    const head = (await world.gate.ledger.head()).sequence;
    const explained = await approver.send('/v1/actions/explain?as=agent:local', sending());
    assert.equal(explained.body.decision?.outcome, 'REQUIRE_APPROVAL', JSON.stringify(explained.body));
    assert.equal(explained.body.facts.principal, 'agent:local');
    assert.equal((await world.gate.ledger.head()).sequence, head, 'nothing is written');
    assert.equal((await approver.send('/v1/actions/explain?as=human:otto', sending())).status, 400);
    world.connector.behave = async () => ({ result: 'unknown' });
    const { proposed } = await world.gate.proposeAndLaunch(sending({ operation: 'note' }) as never);
    const path = `/v1/actions/${proposed.action_id}`;
    const said = await approver.send(`${path}/comments`, { text: 'I look.' });
    assert.deepEqual([said.body.by, said.body.text], ['human:otto', 'I look.']);
    const checked = await approver.send(`${path}/reconcile`, {});
    assert.equal(checked.body.code, 'decision_required', JSON.stringify(checked.body));
    assert.equal((await approver.send(`${path}/execute`, {})).body.code, 'forbidden');
    assert.equal((await approver.send('/v1/actions', sending())).body.code, 'forbidden');
  });
});

describe('the first approver', () => {
  it('is confirmed by the code of their passkey, at the terminal of the store’s owner, once', async () => {
    verifies('server.bootstrap.terminal');
    const world = await serverWorld({ trust: PAGES, bare: true });
    const people = new PeopleDoor(world.gate as never);
    const first = authenticator('human:alice');
    const browser = new Browser(world);
    const make = async (by: Authenticator, roles: readonly string[]) => {
      const { secret, invitation_id } = await people.invite(by.person, roles as never, 'agent:local');
      const { body } = await browser.send('/v1/invitations/open', { secret });
      const registration = registrationOver(by, base64urlDecode(body.challenge) ?? new Uint8Array(0));
      const made = await browser.send('/v1/invitations/enrol', { secret, state: body.state, registration });
      return { invitation_id, code: made.body.code as string };
    };
    const { invitation_id, code } = await make(first, ['approver', 'operator']);
    assert.equal(await codeOf(people.confirmFirst(invitation_id, '0000-0000')), 'forbidden');
    assert.equal((await people.confirmFirst(invitation_id, code)).person, 'human:alice');
    assert.equal(await codeOf(people.confirmFirst(invitation_id, code)), 'invitation');
    const second = await make(authenticator('human:mallory'), ['operator']);
    assert.equal(await codeOf(people.confirmFirst(second.invitation_id, second.code)), 'forbidden');
    const signedIn = await browser.signIn(first);
    assert.deepEqual(signedIn.body.roles, ['approver', 'operator']);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await world.close();
  });
});
