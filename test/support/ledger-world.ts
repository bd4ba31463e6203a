/**
 * A small world for tests of the ledger: a clock that is set by hand, two kinds of records and a projection.
 *
 * A `counter` (kind room) adds up; its state holds free text and an object in an order of its own. A `diary` (kind thread)
 * is what the projection writes: one entry for each event of a room, so that exactly-once shows.
 */
import { type Clock, contentRef, digest, type Json, type Random } from '../../src/core/index.js';
import {
  type Kind,
  type LedgerEvent,
  type NewEvent,
  type Projection,
  type RecordRef,
  registerKinds,
  type Work,
} from '../../src/ledger/index.js';

export const LEDGER_ID = '0123456789abcdef0123456789abcdef';
export const START = 1_790_000_000_000;

/** A clock that stands still until it is set; its monotonic side never goes back. */
export class HandClock implements Clock {
  #now = START;
  #monotonic = 0;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    this.#monotonic += 0.001;
    return this.#monotonic;
  }

  set(now: number): void {
    this.#now = now;
  }

  tick(ms: number): void {
    this.#now += ms;
  }
}

/** Wall time, for tests that wait for other processes. */
export const wallClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Bytes that only spread waiting times. */
export const anyRandom: Random = {
  bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(Math.random() * 256)),
};

export type RoomState = {
  readonly total: number;
  readonly label: string;
  readonly last: Json;
  readonly project: string | null;
  readonly due: number | null;
  readonly open: string | null;
};

/** Adds up. Its events: `room-added` and `room-closed`. */
export const roomKind: Kind<RoomState> = {
  name: 'room',
  version: 1,
  keepsDocument: true,
  evolve(state, event) {
    const data = event.data as {
      by?: number;
      label?: string;
      project?: string;
      due?: number;
      open?: string;
      bad?: boolean;
    };
    if (data.bad === true) throw new TypeError('this event can not be followed');
    const before = state ?? { total: 0, label: '', last: null, project: null, due: null, open: null };
    if (event.type === 'room-closed') return { ...before, due: null, open: null };
    return {
      total: before.total + (data.by ?? 0),
      label: data.label ?? before.label,
      last: event.data,
      project: data.project ?? before.project,
      due: data.due ?? before.due,
      open: data.open ?? before.open,
    };
  },
  columns: (state) => ({
    status: state.open === null && state.due === null ? 'closed' : 'open',
    principal: 'agent:bot',
    ...(state.project === null ? {} : { project: state.project }),
    ...(state.due === null ? {} : { due: state.due }),
    ...(state.open === null ? {} : { lookup: state.open }),
  }),
};

export type DiaryState = { readonly entries: number; readonly last: string };

export const diaryKind: Kind<DiaryState> = {
  name: 'thread',
  version: 1,
  evolve: (state, event) => ({ entries: (state?.entries ?? 0) + 1, last: (event.data as { of: string }).of }),
  columns: () => ({}),
};

/** A budget with a limit: a unit that would go over it is refused by its decide. */
export const budgetKind: Kind<{ spent: number }> = {
  name: 'budget',
  version: 1,
  evolve: (state, event) => ({ spent: (state?.spent ?? 0) + ((event.data as { spend: number }).spend ?? 0) }),
  columns: () => ({}),
};

export const TEST_KINDS = registerKinds([roomKind, diaryKind, budgetKind]);

export const DIARY: RecordRef = { kind: 'thread', id: 'diary' };

/** One entry of the diary for each event of a room whose id begins with `noted`. */
export const diaryProjection: Projection = {
  name: 'diary',
  targets: (batch) => {
    const noted = batch.filter(isNoted);
    if (noted.some(({ type }) => type === 'room-poisoned')) throw new TypeError('no entry can be made of this');
    return noted.length > 0 ? [DIARY] : [];
  },
  project: (batch) =>
    batch.filter(isNoted).map((event) => ({ record: DIARY, type: 'entry-noted', data: { of: event.hash } })),
};

function isNoted(event: LedgerEvent): boolean {
  return event.record.kind === 'room' && event.record.id.startsWith('noted');
}

export function room(id: string): RecordRef {
  return { kind: 'room', id };
}

export function added(id: string, data: Record<string, Json> = { by: 1 }, bodies: readonly string[] = []): NewEvent {
  const payloads = bodies.map((bytes) => ({ ref: contentRef(bytes), bytes }));
  return { record: room(id), type: 'room-added', data, ...(bodies.length === 0 ? {} : { payloads }) };
}

/** A unit that adds one event to a room and tells the room's new total. */
export function addWork(
  id: string,
  more: Partial<Work<Json>> = {},
  data: Record<string, Json> = { by: 1 },
): Work<Json> {
  return {
    actor: 'agent:bot',
    writes: [room(id)],
    decide: (view) => {
      const total = view.get(roomKind, id)?.state.total ?? 0;
      return { events: [added(id, data)], outcome: { total: total + Number(data.by ?? 0) } };
    },
    ...more,
  };
}

/** A claim under a key whose command is `command`. */
export function claimOf(key: string, command = 'one') {
  return { scope: 'propose', principal: 'agent:bot', key, command: digest('countersign-command/1', command) };
}
