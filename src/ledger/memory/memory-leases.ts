/**
 * The leases of a store in memory. Each change hands over how it is undone.
 */
import type { LeaseTable } from '../leases.js';

interface Held {
  readonly holder: string;
  readonly until: number;
}

export class MemoryLeases implements LeaseTable {
  readonly #held = new Map<string, Held>();
  readonly #onChange: (undo: () => void) => void;

  constructor(onChange: (undo: () => void) => void) {
    this.#onChange = onChange;
  }

  hold(name: string, holder: string, now: number, until: number): boolean {
    const before = this.#held.get(name);
    if (before !== undefined && before.holder !== holder && now < before.until) return false;
    for (const [other, one] of this.#held) if (other !== name && now >= one.until) this.#set(other, undefined);
    this.#set(name, { holder, until });
    return true;
  }

  release(name: string, holder: string): void {
    if (this.#held.get(name)?.holder === holder) this.#set(name, undefined);
  }

  held(prefix: string, now: number, limit: number): readonly string[] {
    const names = [...this.#held].filter(([name, { until }]) => name.startsWith(prefix) && now < until);
    return names.map(([name]) => name).slice(0, limit);
  }

  #set(name: string, held: Held | undefined): void {
    const before = this.#held.get(name);
    const put = (one: Held | undefined) => (one === undefined ? this.#held.delete(name) : this.#held.set(name, one));
    put(held);
    this.#onChange(() => void put(before));
  }
}
