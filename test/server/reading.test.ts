/** What a token reads and launches: what its scope covers, and of others no more than that something is there. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Act, Grant } from '../../src/approvals/index.js';
import { carriedOut, codeOf, signed, TRUST } from '../support/gate-world.js';
import { grantOf, opened } from '../support/grants.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const AT_ONCE = TRUST.replace(
  'software_key_for_costly: true',
  'software_key_for_costly: true\n    launch: on_approval',
);

const sending = (changes: object = {}) => ({
  project: 'acme',
  connector: 'counting',
  operation: 'send',
  target: 'customers',
  args: { text: 'hello', account: 'customers' },
  ...changes,
});

describe('a token at the HTTP door', () => {
  let world: ServerWorld;
  let texts = 0;
  before(async () => {
    world = await serverWorld({ trust: AT_ONCE });
  });
  after(() => world.close());

  /** An action of its own, so that none is joined. */
  const fresh = (changes: object = {}) => {
    texts += 1;
    return sending({ args: { text: `text ${texts}`, account: 'customers' }, ...changes });
  };
  const clientOf = async (agent: string, scope = {}) => world.client((await world.token(agent, scope)).text);
  type Client = Awaited<ReturnType<typeof clientOf>>;

  /** An action whose request a person has signed. */
  const signedFor = async (client: Client) => {
    const { action_id } = await client.call('propose', { body: fresh() });
    const { request } = await client.call('request', { action_id });
    await client.call('submit', { body: { receipt: signed(request as never) as never } });
    return action_id;
  };

  it('launches nothing without `execute`, neither with its proposal nor behind an approval', async () => {
    verifies('server.launch.scoped');
    const asks = await clientOf('agent:asks', { verbs: ['propose', 'read'] });
    const body = fresh({ operation: 'note' });
    assert.equal(await codeOf(asks.call('propose', { body, query: { launch: 'true' } })), 'forbidden');
    const action_id = await signedFor(asks);
    const fetched = await asks.call('fetchReceipt', { action_id });
    assert.ok('state' in fetched);
    assert.deepEqual([fetched.state, fetched.refused, fetched.settled], ['approved', 'forbidden', undefined]);
    const { action_id: other } = await asks.call('propose', { body: fresh() });
    const { request } = await asks.call('request', { action_id: other });
    const receipt = signed(request as never) as never;
    const approved = await asks.call('approve', { action_id: other, body: { receipt } });
    assert.deepEqual([approved.state, approved.settled], ['approved', undefined]);
    for (const id of [action_id, other]) assert.equal(world.connector.effectsOf(id), 0);
    const launches = await clientOf('agent:asks', { verbs: ['execute'] });
    assert.equal((await launches.call('execute', { action_id })).state, 'confirmed');
  });

  it('is not told what came of the action of another agent, by whichever way it launched it', async () => {
    verifies('server.read.scoped');
    world.connector.behave = async (_call, effect) => ({ ...effect(), evidence: { secret: 'of the proposer' } });
    const proposer = await clientOf('agent:proposer');
    const other = await clientOf('agent:other');
    const byFetching = await other.call('fetchReceipt', { action_id: await signedFor(proposer) });
    const { action_id } = await proposer.call('propose', { body: fresh() });
    const { request } = await proposer.call('request', { action_id });
    const receipt = signed(request as never) as never;
    const byApproving = await other.call('approve', { action_id, body: { receipt } });
    for (const told of [byFetching, byApproving]) {
      assert.ok('settled' in told && told.settled !== undefined);
      assert.deepEqual(
        [told.settled.state, told.settled.evidence, told.settled.external_ref],
        ['confirmed', null, null],
      );
    }
    const own = await proposer.call('fetchReceipt', { action_id: await signedFor(proposer) });
    assert.deepEqual('settled' in own && own.settled?.evidence, { secret: 'of the proposer' });
    world.connector.behave = async (_call, effect) => effect();
  });

  it('reads within its scope alone, also of what its own agent asked for', async () => {
    verifies('server.read.scoped');
    const proposer = await clientOf('agent:narrowed');
    const { action_id } = await proposer.call('propose', { body: fresh() });
    const { request } = await proposer.call('request', { action_id });
    const request_id = String((request as { request_id: unknown }).request_id);
    for (const scope of [{ projects: ['zzz'] }, { connectors: ['elsewhere'] }, { verbs: ['execute'] as const }]) {
      const narrow = await clientOf('agent:narrowed', scope as object);
      assert.equal(await codeOf(narrow.call('show', { action_id })), 'unknown_action');
      assert.equal(await codeOf(narrow.call('summary', { action_id })), 'unknown_action');
      assert.equal(await codeOf(narrow.call('requestDetails', { request_id })), 'unknown_request');
      assert.ok(!(await narrow.call('list', {})).rows.some(({ id }) => id === action_id));
      assert.deepEqual((await narrow.call('decisions', {})).rows, []);
    }
    const asks = await clientOf('agent:narrowed', { verbs: ['propose'] });
    const own = await asks.call('propose', { body: fresh() });
    assert.ok((await asks.call('request', { action_id: own.action_id })).summary.length > 0);
  });

  it('is told of the action of another agent that there is one, how it stands, and its fingerprint', async () => {
    verifies('server.read.scoped');
    const proposer = await clientOf('agent:proposer');
    const { action_id } = await proposer.call('propose', { body: fresh() });
    const other = await clientOf('agent:other');
    const row = (await other.call('list', {})).rows.find(({ id }) => id === action_id);
    assert.deepEqual(row, { id: action_id, status: 'proposed' });
  });

  it('reads no thread: threads are for people', async () => {
    verifies('server.read.scoped');
    const whole = await clientOf('agent:whole');
    await whole.call('propose', { body: fresh() });
    assert.equal(await codeOf(whole.call('thread', { thread: 'acme' })), 'forbidden');
  });

  it('reads what it asked people for itself, and of others’ standing approvals id and state', async () => {
    verifies('server.read.scoped');
    const [own, other] = [await clientOf('agent:own'), await clientOf('agent:other')];
    const apart = await clientOf('agent:apart', { projects: ['zzz'] });
    const grant = await grantOf(world, { agents: ['agent:own'] } as Partial<Grant>);
    const { issued } = await own.call('requestStanding', { body: { grant: grant as never } });
    const request_id = String((issued.request as { request_id: unknown }).request_id);
    assert.deepEqual((await own.call('requestDetails', { request_id })).summary, issued.summary);
    assert.equal(await codeOf(other.call('requestDetails', { request_id })), 'forbidden');
    assert.equal(await codeOf(apart.call('requestDetails', { request_id })), 'unknown_request');
    await opened(world, { agents: ['agent:own'] } as Partial<Grant>);
    const [mine] = (await own.call('grants', {})).rows;
    assert.ok(mine !== undefined && 'grant' in mine && 'lines' in mine);
    const rows = (await other.call('grants', {})).rows;
    assert.deepEqual(rows, [{ grant_id: mine['grant_id'], state: mine['state'] }]);
    assert.deepEqual((await apart.call('grants', {})).rows, []);
  });

  it('reads and makes comments on its own actions alone', async () => {
    verifies('server.comments');
    const [own, other] = [await clientOf('agent:own'), await clientOf('agent:other')];
    const apart = await clientOf('agent:apart', { projects: ['zzz'] });
    const looks = await clientOf('agent:own', { verbs: ['read'] });
    const { action_id } = await own.call('propose', { body: fresh() });
    const said = await own.call('comment', { action_id, body: { text: 'It is urgent.' } });
    assert.deepEqual([said.no, said.by, said.text], [1, 'agent:own', 'It is urgent.']);
    const body = { text: 'me too' };
    assert.equal(await codeOf(other.call('comment', { action_id, body })), 'forbidden');
    assert.equal(await codeOf(other.call('comments', { action_id })), 'forbidden');
    assert.equal(await codeOf(other.call('undoing', { action_id })), 'forbidden');
    assert.deepEqual(await own.call('undoing', { action_id }), { undo: null });
    assert.equal(await codeOf(apart.call('comment', { action_id, body })), 'unknown_action');
    assert.equal(await codeOf(apart.call('comments', { action_id })), 'unknown_action');
    assert.equal(await codeOf(looks.call('comment', { action_id, body })), 'unknown_action');
    assert.deepEqual((await looks.call('comments', { action_id })).comments, [said]);
    assert.equal(await codeOf(own.call('explain', { body: fresh(), query: { as: 'agent:other' } })), 'forbidden');
  });

  it('asks no more of a request than its sight, before anything of it is made', async () => {
    verifies('server.read.scoped');
    const act: Act = { kind: 'freeze', op: 'set', scope: { scope: 'agent', name: 'agent:nobody' } };
    const { request } = await world.gate.requestAct(act);
    const other = await clientOf('agent:other');
    assert.equal(await codeOf(other.call('requestDetails', { request_id: request.request_id })), 'forbidden');
    const { action_id } = await world.gate.propose(fresh() as never);
    const { request: asked } = await world.gate.request(action_id);
    let previewed = 0;
    const { services } = world.gate;
    const payload = services.ledger.payload.bind(services.ledger);
    services.ledger.payload = (...given) => {
      previewed += 1;
      return payload(...given);
    };
    assert.equal(await codeOf(other.call('requestDetails', { request_id: asked.request_id })), 'forbidden');
    services.ledger.payload = payload;
    assert.equal(previewed, 0);
    await carriedOut(world, act);
  });
});
