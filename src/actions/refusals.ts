/**
 * Refusals are recorded: who was refused what, with which code, never in the record that was refused and without its
 * content. A day of a principal holds 1,000 in full; further ones are counted.
 * Source: spec core (errors), actions (refusals).
 */
import { isoTime, LIMITS, type Refusal } from '../core/index.js';
import type { Kind, LedgerEvent } from '../ledger/index.js';
import type { Caller, Services } from './services.js';

export type RefusalState = { readonly principal: string; readonly count: number };

/** What was refused, as far as it may be told: an id and a digest, no content. */
export interface RefusedSubject {
  /** The verb at the gate, such as `execute`. */
  readonly verb: string;
  readonly action_id?: string;
  readonly project?: string;
}

export const refusalKind: Kind<RefusalState> = {
  name: 'refusal',
  version: 1,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({ principal: state.principal }),
};

function evolve(state: RefusalState | undefined, event: LedgerEvent): RefusalState {
  const { count = 1 } = event.data as { count?: number };
  return { principal: event.actor, count: (state?.count ?? 0) + count };
}

/** Counts what is over the bound, and writes the count each time that many more came. */
export class RefusalRecorder {
  readonly #services: Services;
  readonly #over = new Map<string, number>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Never throws: a refusal that can't be recorded is still a refusal. */
  async record(caller: Caller, refusal: Refusal, subject: RefusedSubject): Promise<void> {
    const { ledger, clock } = this.#services;
    const day = isoTime(clock.now()).slice(0, 10);
    const record = { kind: 'refusal', id: `${caller.principal}/${day}` } as const;
    try {
      const known = await ledger.read(refusalKind, record.id);
      const full = (known?.state.count ?? 0) >= LIMITS.refusalsPerDayMax;
      const count = full ? this.#countOver(record.id) : 1;
      if (count === 0) return;
      const data = full ? { count } : { code: refusal.code, ...subject };
      await ledger.commit({
        actor: caller.principal,
        writes: [record],
        decide: () => ({ events: [{ record, type: full ? 'refusals-counted' : 'refused', data }], outcome: null }),
      });
    } catch {
      // The caller's own refusal is what it has to hear; a failing store shows itself at the next commit.
    }
  }

  #countOver(id: string): number {
    if (this.#over.size > LIMITS.cachedRecordsMax) this.#over.clear();
    const count = (this.#over.get(id) ?? 0) + 1;
    const due = count >= LIMITS.refusalsPerDayMax;
    this.#over.set(id, due ? 0 : count);
    return due ? count : 0;
  }
}
