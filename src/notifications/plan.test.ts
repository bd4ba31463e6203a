/** Which notices there are of what waits, at every moment of its life; who is away, and who stands in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import type { Presence, Waiting } from './notice.js';
import { noticeOfSettled, noticeOfUndelivered, noticesOfWaiting } from './plan.js';
import { entriesOf } from './route.js';
import { notificationsConfig } from './schema.js';

const MINUTE = 60_000;
const START = 1_800_000_000_000;
const DAY = 24 * 60 * MINUTE;

const PEOPLE = ['human:alice', 'human:bob'];
const WAITING: Waiting = {
  ...{ what: 'approval', id: 'act_01JD0000000000000000000000', occasion: '', class: 'irreversible' },
  ...{ operation: 'git-merge merge', project: 'web', approvals: 0, quorum: 1, people: PEOPLE, eligible: PEOPLE },
  ...{ since: START, expires: START + 100 * MINUTE },
  wanted: { remind: START + 10 * MINUTE, by: START + 20 * MINUTE, also: ['human:carol'] },
};
const HERE: Presence = { away: new Map(), operators: ['human:owner'] };
const away = (...pairs: readonly (readonly [string, string | null])[]): Presence => ({ ...HERE, away: new Map(pairs) });

function told(minutes: number, presence = HERE, waiting: Partial<Waiting> = {}): Readonly<Record<string, string>> {
  const notices = noticesOfWaiting({ ...WAITING, ...waiting }, presence, START + minutes * MINUTE);
  return Object.fromEntries(notices.map(({ kind, people }) => [kind, people.join(' ').replaceAll('human:', '')]));
}

describe('the life of what waits', () => {
  it('has each notice in its own time, and the last word alone where several are late', () => {
    verifies('notifications.due');
    const asked = { asked: 'alice bob' };
    assert.deepEqual(told(0), asked);
    assert.deepEqual(told(9.99), asked);
    assert.deepEqual(told(10), { ...asked, reminder: 'alice bob' });
    assert.deepEqual(told(19.99), { ...asked, reminder: 'alice bob' });
    assert.deepEqual(told(20), { ...asked, escalation: 'carol' });
    assert.deepEqual(told(89.99), { ...asked, escalation: 'carol' });
    assert.deepEqual(told(90), { ...asked, expiring: 'alice bob carol' });
    assert.deepEqual(told(99.99), { ...asked, expiring: 'alice bob carol' });
    assert.deepEqual(told(100), { expired: 'alice bob' });
    assert.deepEqual(told(100 + 24 * 60 - 0.01), { expired: 'alice bob' });
    assert.deepEqual(told(100 + 24 * 60), {}, 'what ended a day ago is no news');
    assert.deepEqual(told(5_000, HERE, { wanted: null, expires: null }), asked, 'what has no end is asked once');
  });

  it('is no news of an end three days ago', () => {
    verifies('notifications.lapsed');
    const facts = { state: 'confirmed', how: null, attempt: 1, digest: 'sha256:' } as const;
    const action = { id: 'act', occasion: '3', class: 'read', operation: 'a b', project: 'p', at: START, ...facts };
    assert.equal(noticeOfSettled(action, START + 3 * DAY - 1)?.until, START + 3 * DAY);
    assert.equal(noticeOfSettled(action, START + 3 * DAY), undefined);
  });
});

describe('who is away', () => {
  it('hears no reminder and no escalation; a delegate of the same rule who is there stands in', () => {
    verifies('notifications.away');
    const asked = 'alice bob';
    assert.deepEqual(told(10, away(['human:alice', null])), { asked, reminder: 'bob' });
    assert.deepEqual(told(10, away(['human:alice', 'human:bob'])), { asked, reminder: 'bob' }, 'told once');
    assert.deepEqual(told(10, away(['human:alice', 'human:eve'])), { asked, reminder: 'bob' }, 'not of the rule');
    const three = { eligible: [...PEOPLE, 'human:dora'] };
    const dora = away(['human:alice', 'human:dora']);
    assert.deepEqual(told(10, dora, three), { asked, reminder: 'bob dora' });
    const both = away(['human:alice', 'human:dora'], ['human:dora', 'human:bob']);
    assert.deepEqual(told(10, both, three), { asked, reminder: 'bob' }, 'who stands in has to be there');
    assert.deepEqual(told(10, away(['human:alice', null], ['human:bob', null])), { asked });
    assert.deepEqual(told(90, away(['human:carol', null])), { asked, expiring: 'alice bob' });
  });

  it('leaves the escalation to the operators who are there, where nobody of the list is', () => {
    verifies('notifications.escalation');
    const gone = [['human:carol', null]] as const;
    assert.equal(told(20, away(...gone))['escalation'], 'owner');
    assert.equal(told(20, away(...gone, ['human:owner', null]))['escalation'], undefined);
    assert.equal(told(20, away(['human:carol', 'human:bob']))['escalation'], 'bob');
  });
});

describe('entries of the outbox', () => {
  const config = notificationsConfig.parse({
    channels: {
      chat: { type: 'slack', url: 'https://hooks.example.com/x' },
      mail: { type: 'smtp', host: 'mail.example.com', from: 'gate@example.com' },
      app: { type: 'webhook', url: 'https://app.example.com/x', secret: 'env:X' },
    },
    recipients: {
      everybody: { chat: true },
      'human:alice': { chat: true, mail: 'alice@example.com' },
      'group:ops': { mail: 'ops@example.com' },
    },
  });
  const groups = { ops: ['human:bob', 'human:alice'] };
  const places = (minutes: number, presence = HERE) =>
    noticesOfWaiting(WAITING, presence, START + minutes * MINUTE)
      .flatMap((notice) => entriesOf(notice, config, groups))
      .map(({ notice, channel, body }) => `${notice} ${channel} ${(JSON.parse(body) as { address: string }).address}`);

  it('are one for each place, however many people share it, and none for who is not meant', () => {
    verifies('notifications.once');
    const asked = ['asked chat ', 'asked mail alice@example.com', 'asked mail ops@example.com'];
    assert.deepEqual(places(0), asked);
    assert.deepEqual(places(20), [...asked, 'escalation chat ']);
    const alone = noticeOfUndelivered('chat', ['human:alice'], START);
    assert.deepEqual(
      entriesOf(alone, config, groups, 'chat').map(({ channel }) => channel),
      ['mail', 'mail'],
    );
  });

  it('have the same key for the same news at any time, and another for other news', () => {
    verifies('notifications.once');
    const keys = (waiting: Partial<Waiting>, minutes: number) =>
      noticesOfWaiting({ ...WAITING, ...waiting }, HERE, START + minutes * MINUTE).flatMap((notice) =>
        entriesOf(notice, config, groups).map(({ key }) => key),
      );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }), (one, other) => {
        assert.deepEqual(keys({}, one).slice(0, 3), keys({ approvals: 1 }, other).slice(0, 3));
      }),
    );
    const all = [keys({}, 90), keys({ id: 'act_2' }, 90), keys({ occasion: '2' }, 90), keys({ what: 'request' }, 90)];
    assert.equal(new Set(all.flat()).size, all.flat().length);
    for (const key of all.flat()) assert.match(key, /^[0-9a-f]{64}$/);
  });
});
