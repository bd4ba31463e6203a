/** What waits for a person is never hidden behind what has expired. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { listDecisions } from '../../src/app/decisions.js';
import { type Act, requestKind } from '../../src/approvals/index.js';
import type { Outcome } from '../../src/connectors/index.js';
import { LIMITS } from '../../src/core/index.js';
import { type Ledger, waitingCursor } from '../../src/ledger/index.js';
import { packageIn } from '../support/gate-packages.js';
import {
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  memoryWorld,
  onPostgres,
  personWithKey,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

/** The services of a world whose ledger counts what is read of it. */
function counting(world: World, instead: Partial<Ledger> = {}) {
  const { services } = world.gate;
  let reads = 0;
  const ledger = new Proxy(services.ledger, {
    get: (target, name) => {
      const value = Reflect.get(name in instead ? instead : target, name) as unknown;
      if (name === 'read' || name === 'lookup') reads += 1;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { services: { ...services, ledger }, reads: () => reads };
}

it('shows a new act behind more expired requests than a page holds, and recover ends those', async () => {
  verifies('app.inbox.expired');
  const world = await homeWorld();
  const actionId = await proposed(world, { approve_within_ms: 7_200_000 });
  const requests = await Promise.all(
    Array.from({ length: LIMITS.pageRowsMax + 1 }, () => world.gate.request(actionId)),
  );
  world.clock.advance(LIMITS.requestTtlMsDefault);
  const act = await world.gate.requestAct(addKeyAct(BOB));
  const waits = async () => (await world.gate.decisions()).map(({ id }) => id);
  assert.deepEqual((await waits()).sort(), [actionId, act.request.request_id].sort());
  await world.gate.recover();
  const first = await world.gate.ledger.read(requestKind, requests[0]?.request.request_id ?? '');
  assert.equal(first?.state.state, 'expired');
  assert.equal((await world.gate.ledger.lookup('request', actionId)).length, 0, 'nothing is kept under the action');
  assert.deepEqual((await waits()).sort(), [actionId, act.request.request_id].sort());
  await world.close();
});

it('shows the first of much by reading that much, with acts among it, and says that there is more', async () => {
  verifies('app.inbox.first-page');
  const world = await memoryWorld();
  for (let at = 0; at < 60; at += 1) {
    const actionId = await proposed(world, sending({ args: { text: `waiting ${at}` } }));
    await world.gate.request(actionId, { approver: 'human:alice' });
  }
  const act = await world.gate.requestAct(addKeyAct(BOB));
  const counted = counting(world);
  const page = await listDecisions(counted.services, { limit: 10 });
  assert.deepEqual([page.rows.length, page.more], [10, true]);
  assert.ok(counted.reads() < 30, `${counted.reads()} records were read`);
  const all = await world.gate.inbox({ limit: 1_000 });
  assert.deepEqual([all.rows.length, all.more], [61, false]);
  assert.ok(all.rows.some(({ id }) => id === act.request.request_id));
  for (const limit of [0, 1_001, 1.5, Number.NaN]) {
    assert.equal(await codeOf(world.gate.inbox({ limit })), 'invalid');
  }
  await world.close();
});

for (const [where, makeWorld] of [
  ['in memory', memoryWorld],
  ['on SQLite', homeWorld],
] as const)
  it(`${where} tells everything that waits once, by pages, whatever its kind, and refuses other cursors`, async () => {
    verifies('app.inbox.pages');
    const world = await makeWorld();
    await carriedOut(world, addKeyAct(BOB));
    const expected: string[] = [];
    for (let at = 0; at < 9; at += 1) {
      // Some end at the same time.
      expected.push(
        await proposed(world, { approve_within_ms: 600_000 + (at % 3) * 600_000, args: { text: `${at}` } }),
      );
      const id = `pkg_${at}`;
      if (at < 4) await packageIn(world.gate, id, 'SUMMARY_PENDING');
      if (at < 4) expected.push(id);
      const other = addKeyAct(personWithKey(`human:p${at}`, 20 + at));
      if (at < 4) expected.push((await world.gate.requestAct(other, 'human:alice')).request.request_id);
    }
    for (const limit of [1, 2, 5, 17, 1_000]) {
      const seen: string[] = [];
      let ends = 0;
      for (let after: string | undefined; ; ) {
        const page = await world.gate.inbox({ limit, ...(after === undefined ? {} : { after }) });
        assert.ok(page.rows.length <= limit);
        const earliest = Math.min(...page.rows.map(({ due }) => due));
        assert.ok(page.rows.length === 0 || earliest >= ends, 'pages follow each other by when things end');
        ends = Math.max(ends, ...page.rows.map(({ due }) => due));
        seen.push(...page.rows.map(({ id }) => id));
        assert.equal(page.more, page.next !== undefined);
        if (page.next === undefined) break;
        after = page.next;
      }
      assert.deepEqual(seen.sort(), expected.sort(), `${limit} at a time`);
    }
    const odd = [
      '',
      'x',
      '1',
      '.',
      '1.',
      '01.act',
      `${'9'.repeat(16)}.act`,
      `${'9'.repeat(17)}.act`,
      '1.two words',
      '1.a\n',
      7,
      null,
      {},
    ];
    for (const after of odd) {
      assert.equal(await codeOf(world.gate.inbox({ after: after as never })), 'invalid', String(after));
    }
    for (const page of [null, 7, { who: 'x' }, { person: 7 }, { person: 'alice' }]) {
      assert.equal(await codeOf(world.gate.inbox(page as never)), 'invalid');
    }
    assert.deepEqual(await world.gate.inbox({ after: `${Number.MAX_SAFE_INTEGER}.act` }), { rows: [], more: false });
    await world.close();
  });

it('goes on from a place without reading what stands before it', async () => {
  verifies('app.inbox.pages');
  const world = await memoryWorld();
  for (let at = 0; at < 40; at += 1) await proposed(world, { args: { text: `${at}` } });
  const first = await world.gate.inbox({ limit: 30 });
  const counted = counting(world);
  const page = await listDecisions(counted.services, { limit: 5, after: first.next });
  assert.deepEqual([page.rows.length, page.more], [5, true]);
  assert.ok(counted.reads() < 10, `${counted.reads()} records were read`);
  await world.close();
});

it('looks at a bounded number of actions for who can decide few of them, and names where to look on', async () => {
  verifies('app.inbox.bounded');
  const world = await memoryWorld();
  await carriedOut(world, addKeyAct(BOB));
  const max = LIMITS.inboxReadsMax;
  const foreign = async (from: number, to: number) => {
    for (let at = from; at < to; at += 1) {
      await proposed(world, { approvers: ['human:alice'], approve_within_ms: 600_000, args: { text: `${at}` } });
    }
  };
  const own = await proposed(world, { approvers: ['human:bob'] });
  const forBob = async (after?: string) => {
    const { rows, next } = await world.gate.inbox({ person: 'human:bob', ...(after === undefined ? {} : { after }) });
    return [rows.map(({ id }) => id), next] as const;
  };
  await foreign(0, max - 1);
  assert.deepEqual(await forBob(), [[own], undefined]);
  await foreign(max - 1, max);
  const [none, next] = await forBob();
  assert.deepEqual(none, []);
  assert.deepEqual(await forBob(next), [[own], undefined]);
  await foreign(max, max + 1);
  assert.deepEqual(await forBob((await forBob())[1]), [[own], undefined]);
  assert.equal((await world.gate.inbox({ limit: max })).rows.length, max, 'a page is as large as it was asked for');
  await world.close();
});

it('looks at a bounded number of rows behind which nothing waits', async () => {
  verifies('app.inbox.bounded');
  const world = await memoryWorld();
  const own = await proposed(world);
  const { due = 0 } = (await world.gate.ledger.list({ kind: 'action', waiting: true })).rows[0] ?? {};
  for (const [count, isFound] of [
    [LIMITS.inboxLooksMax - 1, true],
    [LIMITS.inboxLooksMax, false],
    [LIMITS.inboxLooksMax + 1, false],
  ] as const) {
    // Expired proposals before it, told by the index alone.
    const list: Ledger['list'] = async ({ kind, after, limit = LIMITS.pageRowsMax }) => {
      const from = after === undefined ? 0 : Number(after.slice(0, 16)) + 1;
      if (kind !== 'action' || from > count) return { rows: [] };
      const numbers = Array.from({ length: Math.min(limit, count + 1 - from) }, (_, at) => from + at);
      const rows = numbers.map((at) => ({
        ...{ id: at === count ? own : `act_${at}`, status: 'proposed', revision: 0, updated: 0 },
        due: at === count ? due : at,
      }));
      const last = rows.at(-1);
      return { rows, next: waitingCursor({ due: last?.due ?? 0, id: last?.id ?? '' }) };
    };
    const { services } = counting(world, { list });
    const page = await listDecisions(services, { limit: 10 });
    assert.deepEqual([page.rows.length, page.more], isFound ? [1, false] : [0, true]);
    if (page.next === undefined) continue;
    assert.deepEqual((await listDecisions(services, { limit: 10, after: page.next })).rows.length, 1);
  }
  await world.close();
});

it('refuses a wait and a page that are no numbers, and never answers with a native error', async () => {
  verifies('app.inbox.expired');
  const world = await homeWorld();
  const actionId = await proposed(world, sending());
  for (const timeoutMs of [-1, Number.NaN]) {
    assert.equal(await codeOf(world.gate.wait(actionId, () => false, timeoutMs)), 'invalid');
  }
  for (const limit of [0, -1, 1.5, Number.NaN]) assert.equal(await codeOf(world.gate.list({ limit })), 'invalid');
  await world.close();
});

it('says to ask again for what was asked under another configuration', async () => {
  verifies('app.inbox.outdated');
  const world = await homeWorld();
  const actionId = await proposed(world);
  const next = async () => (await world.gate.decisions()).map((row) => row.next);
  assert.deepEqual(await next(), [`countersign action request ${actionId}`]);
  await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: tested')));
  assert.deepEqual(await next(), [`countersign action propose --like ${actionId}`]);
  assert.equal(await codeOf(world.gate.request(actionId)), 'policy_changed', 'what was said before leads nowhere');
  const again = await world.gate.proposeLike(actionId);
  assert.ok((await next()).includes(`countersign action request ${again.action_id}`));
  await world.close();
});

it('tells of an act how many people have to sign it, and how many have', async () => {
  verifies('app.inbox.quorum');
  const world = await memoryWorld();
  const rows = async () =>
    (await world.gate.decisions()).map(({ approvers, approvals, quorum }) => [approvers[0], approvals, quorum]);
  const alone = await world.gate.requestAct(addKeyAct(BOB, ['approver', 'operator']));
  assert.deepEqual(await rows(), [['human:alice', 0, 1]]);
  await world.gate.submit(signed(alone.request));
  const { request } = await world.gate.requestAct(addKeyAct(personWithKey('human:eve', 5)));
  assert.deepEqual(await rows(), [
    ['human:alice', 0, 2],
    ['human:bob', 0, 2],
  ]);
  await world.gate.submit(signed(request));
  assert.deepEqual(await rows(), [['human:bob', 1, 2]]);
  await world.close();
});

it('tells what a person can do about a result that contradicts, and that works', async () => {
  verifies('app.inbox.late-result');
  const world = await memoryWorld();
  for (const [first, late, outcomes] of [
    ['confirmed', 'failed', ['confirmed']],
    ['failed', 'confirmed', ['confirmed', 'failed']],
  ] as const) {
    for (const outcome of outcomes) {
      const actionId = await approved(world, { args: { text: `${first} ${outcome}` } });
      let answer: (result: { result: 'confirmed' | 'failed' }) => void = () => undefined;
      world.connector.timeoutMs = 1;
      world.connector.behave = () => new Promise((resolve) => (answer = resolve));
      assert.equal((await world.gate.execute(actionId)).state, 'unknown');
      const find = async (found: 'confirmed' | 'failed') => {
        const finding = { kind: 'finding', action_id: actionId, outcome: found, evidence: 'seen' } as const;
        await world.gate.submit(signed((await world.gate.requestResolution(finding)).request));
      };
      await find(first);
      answer({ result: late });
      await world.gate.wait(actionId, ({ late_result }) => late_result !== null, 10_000);
      const [row] = await world.gate.decisions();
      assert.equal(row?.what, 'late_result');
      const named = [...(row?.next ?? '').matchAll(/--outcome (\w+)/g)].map((match) => match[1]);
      assert.deepEqual(named, outcomes);
      assert.match(row?.next ?? '', new RegExp(`^countersign action finding ${actionId} --evidence `));
      await find(outcome);
      assert.deepEqual(await world.gate.decisions(), []);
    }
  }
  await world.close();
});

it('asks nobody to sign for being away until a time, or with a delegate, that could not be', async () => {
  verifies('receipts.away.feasible');
  const world = await memoryWorld();
  await carriedOut(world, addKeyAct(BOB));
  const now = world.clock.now();
  const away = (until: number | null, delegate: string | null): Act => ({
    kind: 'registry',
    change: { change: 'away', person: 'human:bob', until, delegate },
  });
  for (const [act, code] of [
    [away(now + 1_000, 'human:nobody'), 'approvers'],
    [away(now + 1_000, 'human:bob'), 'approvers'],
    [away(now, null), 'invalid'],
    [away(now + LIMITS.awayMsMax + 1, null), 'invalid'],
    [away(null, 'human:alice'), 'invalid'],
  ] as const) {
    assert.equal(await codeOf(world.gate.requestAct(act)), code);
  }
  assert.deepEqual(await world.gate.decisions(), [], 'no request was issued');
  await world.gate.requestAct(away(now + LIMITS.awayMsMax, 'human:alice'));
  assert.equal((await world.gate.decisions('human:bob')).length, 1);
  await world.close();
});

it('says of an approval that somebody waits for it, in whichever process, as long as they do', async () => {
  verifies('app.inbox.awaited');
  const world = await homeWorld();
  const other = await world.another();
  const [waited, alone] = [
    await proposed(world),
    await proposed(world, { target: 'others', args: { text: 'hi', account: 'others' } }),
  ];
  const awaited = async () => (await other.decisions()).filter(({ awaited: is }) => is === true).map(({ id }) => id);
  assert.deepEqual(await awaited(), []);
  const waiting = world.gate.wait(waited, ({ state }) => state === 'approved', 60_000);
  for (let left = 100; left > 0 && (await awaited()).length === 0; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(await awaited(), [waited]);
  assert.deepEqual([await other.isAwaited(waited), await other.isAwaited(alone)], [true, false]);
  await approve(world, waited);
  await waiting;
  assert.equal(await other.isAwaited(waited), false, 'whoever leaves says so');
  // Whoever dies says nothing: a word is good for fifteen seconds.
  const late = world.gate.wait(alone, ({ state }) => state === 'approved', 60_000);
  for (let left = 100; left > 0 && !(await other.isAwaited(alone)); left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(await awaited(), [alone]);
  // A server counts by its own clock.
  if (!onPostgres) {
    world.clock.advance(15_000);
    assert.deepEqual(await awaited(), []);
  }
  await approve(world, alone);
  await late;
  await world.close();
});

it('shows a later word that contradicts in whatever state its action is by then', async () => {
  verifies('app.inbox.late');
  const world = await memoryWorld();
  let speak: (outcome: Outcome) => void = () => undefined;
  world.connector.timeoutMs = 50;
  world.connector.behave = () => new Promise((resolve) => (speak = resolve));
  const actionId = await approved(world);
  assert.equal((await world.gate.execute(actionId)).state, 'unknown');
  const finding = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'not there' } as const;
  const { request } = await world.gate.requestResolution(finding);
  await world.gate.submit(signed(request));
  await approve(world, actionId);
  assert.equal((await world.gate.show(actionId)).state, 'approved');
  speak({ result: 'confirmed' });
  for (let left = 100; left > 0 && (await world.gate.show(actionId)).late_result === null; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { state, late_result } = await world.gate.show(actionId);
  assert.deepEqual([state, late_result?.outcome], ['approved', 'confirmed']);
  world.clock.advance(1);
  assert.deepEqual(
    (await world.gate.decisions()).map(({ what, id }) => [what, id]),
    [['late_result', actionId]],
  );
});
