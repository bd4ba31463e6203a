/**
 * What decisions would say over records as they are read now, outside of any commit: each is asked with a view that
 * notes what it lacks, and asked again once that is read. What one of them read the next ones need not read again.
 */
import { Fault, type Json, LIMITS } from '../core/index.js';
import { type Kind, recordName } from './kind.js';
import type { Ledger, LookupRow, Snapshot, View } from './ledger.js';

export class OverReads {
  readonly #ledger: Ledger;
  readonly now: number;
  readonly #records = new Map<string, Snapshot<Json> | undefined>();
  readonly #lookups = new Map<string, readonly LookupRow[]>();

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    this.now = now;
  }

  /** Calls `decide` until it has read all that it asks for. Nothing that it decides is written. */
  async decide<Result>(decide: (view: View) => Result): Promise<Result> {
    for (let looks = 0; looks < LIMITS.decisionLooksMax; looks += 1) {
      const missing: (() => Promise<void>)[] = [];
      const result = decide(this.#view(missing));
      if (missing.length === 0) return result;
      await Promise.all(missing.map((read) => read()));
    }
    throw new Fault('internal', 'a decision asks for ever more records');
  }

  #view(missing: (() => Promise<void>)[]): View {
    const [ledger, records, lookups] = [this.#ledger, this.#records, this.#lookups];
    return {
      now: this.now,
      behindMs: 0,
      get: <State extends Json>(kind: Kind<State>, id: string) => {
        const name = recordName({ kind: kind.name, id });
        if (!records.has(name)) missing.push(async () => void records.set(name, await ledger.read(kind, id)));
        return records.get(name) as Snapshot<State> | undefined;
      },
      lookup: (kind, key) => {
        const name = `${kind} ${key}`;
        if (!lookups.has(name)) missing.push(async () => void lookups.set(name, await ledger.lookup(kind, key)));
        return lookups.get(name) ?? [];
      },
    };
  }
}
