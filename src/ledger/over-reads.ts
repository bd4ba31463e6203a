/**
 * What a decision would say over records as they are read now, outside of any commit: it is asked with a view that
 * notes what it lacks, and asked again once that is read.
 */
import { Fault, type Json } from '../core/index.js';
import { type Kind, type RecordRef, recordName } from './kind.js';
import type { Ledger, LookupRow, Snapshot, View } from './ledger.js';

/** Times that a decision may ask for something that it did not before. */
const LOOKS_MAX = 16;

/** Calls `decide` until it has read all that it asks for. Nothing that it decides is written. */
export async function decideOverReads<Result>(
  ledger: Ledger,
  now: number,
  decide: (view: View) => Result,
): Promise<Result> {
  const records = new Map<string, Snapshot<Json> | undefined>();
  const lookups = new Map<string, readonly LookupRow[]>();
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const missing: (() => Promise<void>)[] = [];
    const view: View = {
      now,
      behindMs: 0,
      get: <State extends Json>(kind: Kind<State>, id: string) => {
        const name = recordName({ kind: kind.name, id } satisfies RecordRef);
        if (!records.has(name)) missing.push(async () => void records.set(name, await ledger.read(kind, id)));
        return records.get(name) as Snapshot<State> | undefined;
      },
      lookup: (kind, key) => {
        const name = `${kind} ${key}`;
        if (!lookups.has(name)) missing.push(async () => void lookups.set(name, await ledger.lookup(kind, key)));
        return lookups.get(name) ?? [];
      },
    };
    const result = decide(view);
    if (missing.length === 0) return result;
    await Promise.all(missing.map((read) => read()));
  }
  throw new Fault('internal', 'a decision asks for ever more records');
}
