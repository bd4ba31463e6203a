/**
 * A small history of some sixty events with everything in it that a ledger stores: records of two kinds, claims, nonces,
 * payloads, columns that are set and columns that are not. The same script writes the same bytes, so that a variation of it is
 * what a forger would write who knows every hash.
 */
import { type Json, LIMITS } from '../../src/core/index.js';
import { LocalLedger, type LocalStore, type Work } from '../../src/ledger/index.js';
import { added, anyRandom, claimOf, diaryProjection, HandClock, room, TEST_KINDS } from './ledger-world.js';

/** How a history differs from the true one. */
export interface Script {
  /** Leaves out everything about a record. */
  readonly without?: string;
  /** Somebody else did it. */
  readonly actor?: string;
  /** Stops behind so many units. */
  readonly stopAfter?: number;
  /** The first two units in the other order. */
  readonly swapFirst?: boolean;
  /** Units behind the last one. */
  readonly more?: number;
}

const ROOMS = ['plain', 'noted-a', 'noted-b', 'waits'];
const UNITS = 32;

function unit(index: number, { actor = 'agent:bot' }: Script): { readonly id: string; readonly work: Work<Json> } {
  const id = ROOMS[index % ROOMS.length] as string;
  const columns = id === 'waits' ? { due: 1_790_000_100_000 + index, open: 'key', project: 'acme' } : {};
  const events = [
    added(id, { by: index + 1, label: `ü ${index}`, ...columns }, index % 3 === 0 ? [`body ${index}`] : []),
  ];
  if (index % 4 === 1) events.push(added(id, { by: 1 }));
  const claims =
    index % 2 === 0 ? { claim: claimOf(`key ${index}`) } : { once: [{ scope: 'nonce', key: `n${index}` }] };
  return { id, work: { actor, writes: [room(id)], ...claims, decide: () => ({ events, outcome: index }) } };
}

/** Writes the history into an empty store, and closes it. */
export async function writeHistory(store: LocalStore, script: Script = {}): Promise<void> {
  const clock = new HandClock();
  const ledger = new LocalLedger({
    store,
    kinds: TEST_KINDS,
    clock,
    random: anyRandom,
    projections: [diaryProjection],
  });
  const count = Math.min(script.stopAfter ?? LIMITS.batchUnitsMax, UNITS + (script.more ?? 0));
  const order = Array.from({ length: count }, (_, i) => (script.swapFirst === true && i < 2 ? 1 - i : i));
  for (const index of order) {
    const { id, work } = unit(index, script);
    clock.tick(1_000);
    if (id !== script.without) await ledger.commit(work);
  }
  await ledger.close();
}
