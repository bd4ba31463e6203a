/**
 * The outbox of a store in memory. Each change hands over how it is undone.
 */
import type { NewOutboxEntry, OutboxCount, OutboxEntry, OutboxResult, OutboxState, OutboxTable } from '../outbox.js';

export class MemoryOutbox implements OutboxTable {
  readonly #entries = new Map<string, OutboxEntry>();
  readonly #onChange: (undo: () => void) => void;
  #cursor: number | undefined;

  constructor(onChange: (undo: () => void) => void) {
    this.#onChange = onChange;
  }

  cursor(): number | undefined {
    return this.#cursor;
  }

  move(to: number): void {
    const before = this.#cursor;
    this.#cursor = to;
    this.#onChange(() => {
      this.#cursor = before;
    });
  }

  insert(entry: NewOutboxEntry): void {
    if (this.#entries.has(entry.key)) return;
    this.#set({ ...entry, state: 'waiting', tries: 0, due: entry.at, ended: null, code: null });
  }

  due(channel: string, now: number, limit: number): readonly OutboxEntry[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.channel === channel && entry.state === 'waiting' && entry.due <= now)
      .sort((a, b) => a.due - b.due || (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }

  begin(key: string, tries: number, dueAgain: number): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.state !== 'waiting' || entry.tries !== tries) return false;
    this.#set({ ...entry, tries: tries + 1, due: dueAgain });
    return true;
  }

  end(key: string, tries: number, { state, at, code }: OutboxResult): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.state !== 'waiting' || entry.tries !== tries) return false;
    this.#set({ ...entry, state, code, ended: state === 'waiting' ? null : at });
    return true;
  }

  list(states: readonly OutboxState[], limit: number): readonly OutboxEntry[] {
    return [...this.#entries.values()]
      .filter(({ state }) => states.includes(state))
      .sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }

  counts(): readonly OutboxCount[] {
    const counts = new Map<string, { channel: string; state: OutboxState; count: number }>();
    for (const { channel, state } of this.#entries.values()) {
      const counted = counts.get(`${state} ${channel}`) ?? { channel, state, count: 0 };
      counts.set(`${state} ${channel}`, { ...counted, count: counted.count + 1 });
    }
    return [...counts.values()];
  }

  clear(before: number, keep: number, limit: number): number {
    const ended = [...this.#entries.values()].filter((entry) => entry.ended !== null);
    const newest = ended.sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0) || (a.key < b.key ? -1 : 1));
    const gone = newest.filter((entry, at) => at >= keep || (entry.ended ?? 0) < before).slice(-limit);
    for (const entry of gone) {
      this.#entries.delete(entry.key);
      this.#onChange(() => this.#entries.set(entry.key, entry));
    }
    return gone.length;
  }

  #set(entry: OutboxEntry): void {
    const before = this.#entries.get(entry.key);
    this.#entries.set(entry.key, entry);
    this.#onChange(() => {
      if (before === undefined) this.#entries.delete(entry.key);
      else this.#entries.set(entry.key, before);
    });
  }
}
