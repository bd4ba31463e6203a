/**
 * The part of the ledger's contract about reads: lookups, lists, payloads, verified reads, backups.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentRef, type Json } from '../../src/core/index.js';
import type { ListQuery, ListRow, View, Work } from '../../src/ledger/index.js';
import { added, addWork, room, roomKind } from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import { rejectsWith, type WithLedger } from './ledger.js';

const KEY = `sha256:${'e'.repeat(64)}`;

/** Opens a room under the lookup key, unless it is `closed`; tells whom it found there before. */
function opening(id: string, closed = false): Work<Json> {
  return addWork(id, {
    lookups: [{ kind: 'room', key: KEY }],
    decide: (view: View) => {
      const found = view.lookup('room', KEY).map((row) => row.id);
      const event = closed ? { ...added(id), type: 'room-closed' } : added(id, { open: KEY });
      return { events: [event], outcome: found };
    },
  });
}

export function readContract(withLedger: WithLedger): void {
  describe('lookups', () => {
    it('is exact inside a batch: sees what the units before opened and closed, by id', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.lookup.exact');
        await ledger.commit(opening('stored'));
        const units = [opening('z'), opening('a'), opening('z', true), opening('stored', true), opening('b')];
        const outcomes = await Promise.all(units.map((unit) => ledger.commit(unit)));
        assert.deepEqual(
          outcomes.map(({ outcome }) => outcome),
          [['stored'], ['stored', 'z'], ['a', 'stored', 'z'], ['a', 'stored'], ['a']],
        );
        const rows = await ledger.lookup('room', KEY);
        assert.deepEqual(
          rows,
          ['a', 'b'].map((id) => ({ id, status: 'open', principal: 'agent:bot' })),
        );
        assert.deepEqual(await ledger.lookup('thread', KEY), []);
      }));
  });
  describe('lists', () => listContract(withLedger));
  describe('payloads and verified reads', () => payloadContract(withLedger));
}

function listContract(withLedger: WithLedger): void {
  const fill: Parameters<WithLedger>[1] = async ({ ledger }) => {
    const works = Array.from({ length: 25 }, (_, i) => {
      const id = `r${String(i).padStart(2, '0')}`;
      const waits = i % 2 === 0 ? { due: 1_000 + (i % 4 === 0 ? 0 : i) } : {};
      return addWork(id, {}, { by: i, project: i % 5 === 0 ? 'five' : 'other', ...waits });
    });
    await Promise.all(works.map((work) => ledger.commit(work)));
  };

  it('pages through records newest first, each exactly once', () =>
    withLedger({}, async (world) => {
      verifies('ledger.list.pages');
      await fill(world);
      const { rows, pages } = await allPages(world.ledger, { kind: 'room', limit: 10 });
      assert.deepEqual([pages, rows.length], [3, 25]);
      assert.deepEqual(
        rows.map(({ id }) => id),
        Array.from({ length: 25 }, (_, i) => `r${String(24 - i).padStart(2, '0')}`),
      );
      const exact = await allPages(world.ledger, { kind: 'room', limit: 25 });
      assert.deepEqual([exact.pages, exact.rows.length], [1, 25]);
      assert.deepEqual(rows[0], {
        id: 'r24',
        revision: 0,
        updated: rows[0]?.updated,
        project: 'other',
        status: 'open',
        principal: 'agent:bot',
        due: 1_000,
      });
    }));

  it('pages through those that wait most urgent first, also where many are due at once', () =>
    withLedger({}, async (world) => {
      verifies('ledger.list.pages');
      await fill(world);
      const { rows } = await allPages(world.ledger, { kind: 'room', waiting: true, limit: 3 });
      const expected = [...rows].sort((a, b) => Number(a.due) - Number(b.due) || (a.id < b.id ? -1 : 1));
      assert.deepEqual(rows, expected);
      assert.equal(new Set(rows.map(({ id }) => id)).size, 13);
    }));

  it('finds by project, status and principal', () =>
    withLedger({}, async (world) => {
      verifies('ledger.list.filters');
      await fill(world);
      const count = async (query: Omit<ListQuery, 'kind'>) =>
        (await world.ledger.list({ kind: 'room', ...query })).rows.length;
      assert.equal(await count({ project: 'five' }), 5);
      assert.equal(await count({ project: 'five', waiting: true }), 3);
      assert.equal(await count({ statuses: ['closed'] }), 12);
      assert.equal(await count({ statuses: ['open', 'closed'] }), 25);
      assert.equal(await count({ statuses: [] }), 0);
      assert.equal(await count({ principal: 'agent:bot' }), 25);
      assert.equal(await count({ principal: 'agent:other' }), 0);
      assert.equal((await world.ledger.list({ kind: 'thread' })).rows.length, 0);
    }));

  it('refuses a cursor that no page handed out', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.list.cursor');
      for (const after of ['', 'two words', 'r\n', `${'0'.repeat(16)} `]) {
        await rejectsWith('invalid', ledger.list({ kind: 'room', after }));
        await rejectsWith('invalid', ledger.list({ kind: 'room', waiting: true, after }));
      }
      await rejectsWith('invalid', ledger.list({ kind: 'room', waiting: true, after: 'r01' }));
    }));
}

async function allPages(ledger: Parameters<Parameters<WithLedger>[1]>[0]['ledger'], query: ListQuery) {
  const rows: ListRow[] = [];
  let pages = 0;
  for (let after: string | undefined; ; ) {
    const page = await ledger.list({ ...query, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    pages += 1;
    after = page.next;
    if (after === undefined) return { rows, pages };
  }
}

function payloadContract(withLedger: WithLedger): void {
  const body = 'the body – of it';
  const bytes = Uint8Array.from([0, 255, 128, 10]);
  const withBodies: Work<Json> = addWork('a', {
    decide: () => {
      const payloads = [
        { ref: contentRef(body), bytes: body },
        { ref: contentRef(bytes), bytes },
        { ref: contentRef(body), bytes: body },
      ];
      return { events: [{ ...added('a'), payloads }], outcome: null };
    },
  });

  it('keeps payloads apart from the hashed data, and hands out their bytes', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.payload.apart');
      const { events } = await ledger.commit(withBodies);
      assert.deepEqual(events[0]?.payloads, [contentRef(body), contentRef(bytes)]);
      assert.ok(!JSON.stringify(events[0]?.data).includes(body));
      for (const asked of [ledger, await another()]) {
        assert.deepEqual(Buffer.from((await asked.payload(room('a'), 0, contentRef(body))) ?? []), Buffer.from(body));
        assert.deepEqual(Buffer.from((await asked.payload(room('a'), 0, contentRef(bytes))) ?? []), Buffer.from(bytes));
      }
      assert.equal(await ledger.payload(room('a'), 1, contentRef(body)), undefined);
      assert.equal((await ledger.verify()).payloads, 2);
    }));

  it('refuses to hand out a payload whose bytes are others, and verify names it', () =>
    withLedger({}, async ({ ledger, damagePayload }) => {
      verifies('ledger.payload.rehashed');
      await ledger.commit(withBodies);
      await damagePayload(room('a'), 0, contentRef(body), Buffer.from('another body'));
      await rejectsWith('corrupt', ledger.payload(room('a'), 0, contentRef(body)));
      assert.deepEqual(
        (await ledger.verify()).defects.map(({ where }) => where),
        ['room/a#0'],
      );
    }));

  it('verifies without the bytes of a payload that was erased, and counts it', () =>
    withLedger({}, async ({ ledger, erasePayload }) => {
      verifies('ledger.payload.apart');
      await ledger.commit(withBodies);
      await erasePayload(room('a'), 0, contentRef(body));
      assert.equal(await ledger.payload(room('a'), 0, contentRef(body)), undefined);
      const report = await ledger.verify();
      assert.deepEqual([report.erased, report.payloads, report.defects], [1, 1, []]);
    }));

  it('reads a record back as every ledger made it, whatever the order of its members', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.read.verified');
      await ledger.commit(addWork('a', {}, { z: 1, by: 1, a: { y: [1, { q: 1, b: 2 }], x: null } }));
      await ledger.commit(addWork('a', {}, { label: 'two' }));
      const mine = await ledger.read(roomKind, 'a');
      const second = await another();
      for (const found of [
        await ledger.readVerified(roomKind, 'a'),
        await second.read(roomKind, 'a'),
        await second.readVerified(roomKind, 'a'),
      ]) {
        assert.deepEqual({ ...found }, { ...mine });
      }
      assert.equal(await ledger.read(roomKind, 'nobody'), undefined);
      assert.equal(await ledger.readVerified(roomKind, 'nobody'), undefined);
      assert.deepEqual(await ledger.events(room('nobody')), []);
    }));

  it('believes no state document but the one that the events lead to', () =>
    withLedger({}, async ({ ledger, another, damageDocument }) => {
      verifies('ledger.read.verified');
      await ledger.commit(addWork('a'));
      await damageDocument(room('a'), '{"due":null,"label":"","last":null,"open":null,"project":null,"total":1000}');
      await rejectsWith('corrupt', ledger.read(roomKind, 'a'));
      await rejectsWith('corrupt', ledger.readVerified(roomKind, 'a'));
      await rejectsWith('corrupt', (await another()).read(roomKind, 'a'));
      const other = ledger.commit(addWork('b'));
      await rejectsWith('corrupt', ledger.commit(addWork('a')));
      await other;
      assert.deepEqual(
        (await ledger.verify()).defects.map(({ where }) => where),
        ['room/a#0'],
      );
    }));
}
