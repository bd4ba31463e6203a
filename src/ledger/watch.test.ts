import assert from 'node:assert/strict';
import { it } from 'node:test';
import { verifies } from '../../test/support/verifies.js';
import type { LogEntry } from './ledger.js';
import { LogWatch } from './watch.js';

function entry(sequence: number): LogEntry {
  return { sequence, logHash: '', event: {} as LogEntry['event'] };
}

it('goes on waiting, and lets others work, after a look at the store failed once', async () => {
  verifies('ledger.watch.failed-look');
  let looks = 0;
  let pages = 0;
  let head = 0;
  const watch = new LogWatch(() => {
    looks += 1;
    if (looks === 1) throw new Error('the store can not be read for a moment');
    return head;
  });
  const stop = new AbortController();
  const page = async (after: number) => {
    pages += 1;
    return head > after ? [entry(after + 1)] : [];
  };
  const following = (async () => {
    for await (const { sequence } of watch.follow(0, stop.signal, page)) return sequence;
    return undefined;
  })();
  await new Promise((resolve) => setTimeout(resolve, 350));
  // One page at the start and one for the failed look: whoever spins here has read millions, and this line came late.
  assert.ok(pages <= 4, `${pages} pages`);
  head = 1;
  assert.equal(await following, 1);
  watch.close();
});

it('lets others work while it follows a long log', async () => {
  verifies('ledger.watch.fair');
  const watch = new LogWatch(() => 0);
  const stop = new AbortController();
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  let seen = 0;
  for await (const { sequence } of watch.follow(0, stop.signal, async (after) => [entry(after + 1)])) {
    seen = sequence;
    if (turns >= 5) stop.abort();
  }
  clearInterval(timer);
  assert.ok(seen > 5);
});

it('passes on what reading the log rejects with', async () => {
  verifies('ledger.watch.failed-look');
  const watch = new LogWatch(() => 0);
  const failing = async () => Promise.reject(new Error('no page'));
  const following = watch.follow(0, new AbortController().signal, failing);
  await assert.rejects(following.next(), { message: 'no page' });
});
