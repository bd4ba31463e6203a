/**
 * Refusals are recorded: who was refused what, with which code, never in the record that was refused and without its
 * content. A day of a principal holds 1,000 in full; further ones are counted.
 * Source: spec core (errors), actions (refusals).
 */
import { isoTime, LIMITS, PATTERNS, type Refusal } from '../core/index.js';
import type { Kind, LedgerEvent } from '../ledger/index.js';
import type { Caller, Services } from './services.js';

export type RefusalState = { readonly principal: string; readonly count: number };

/** What was refused, as far as it may be told: an id and a digest, no content. */
export interface RefusedSubject {
  /** The verb at the gate, such as `execute`. */
  readonly verb: string;
  readonly action_id?: string;
  readonly project?: string;
  readonly package_id?: string;
  /** The address of the bytes that were refused. */
  readonly content?: string;
}

export const refusalKind: Kind<RefusalState> = {
  name: 'refusal',
  version: 1,
  keepsDocument: true,
  evolve: (_state, event) => afterRefusal(event),
  ofLast: (event) => afterRefusal(event),
  columns: (state) => ({ principal: state.principal }),
};

function afterRefusal(event: LedgerEvent): RefusalState {
  return { principal: event.actor, count: (event.data as { total: number }).total };
}

/** Counts what is over the bound, and writes the count each time that many more came. */
export class RefusalRecorder {
  readonly #services: Services;
  /** Refusals over the bound that no event counts yet, by record. */
  readonly #over = new Map<string, { readonly actor: string; count: number }>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Never throws: a refusal that can't be recorded is still a refusal. */
  async record(caller: Caller, refusal: Refusal, subject: RefusedSubject): Promise<void> {
    const { ledger, clock } = this.#services;
    const actor = caller.principal;
    const day = isoTime(clock.now()).slice(0, 10);
    const record = { kind: 'refusal', id: `${actor}/${day}` } as const;
    try {
      const known = await ledger.read(refusalKind, record.id);
      if (isFull(known?.state)) return await this.#countOver(record.id, actor);
      const { outcome } = await ledger.commit({
        actor,
        writes: [record],
        decide: (view) => {
          const state = view.get(refusalKind, record.id)?.state;
          if (isFull(state)) return { events: [], outcome: false };
          const data = { code: refusal.code, total: (state?.count ?? 0) + 1, ...plainSubject(subject) };
          return { events: [{ record, type: 'refused', data }], outcome: true };
        },
      });
      if (!outcome) await this.#countOver(record.id, actor);
    } catch {
      // The caller's own refusal is what it has to hear; a failing store shows itself at the next commit.
    }
  }

  /** Writes the counts that no event holds yet. */
  async flush(): Promise<void> {
    for (const [id, { actor, count }] of [...this.#over]) {
      this.#over.delete(id);
      if (count > 0) await this.#write(id, actor, count).catch(() => undefined);
    }
  }

  async #countOver(id: string, actor: string): Promise<void> {
    if (this.#over.size > LIMITS.cachedRecordsMax) await this.flush();
    const over = this.#over.get(id) ?? { actor, count: 0 };
    this.#over.set(id, over);
    over.count += 1;
    if (over.count < LIMITS.refusalsPerDayMax) return;
    const { count } = over;
    over.count = 0;
    await this.#write(id, actor, count);
  }

  async #write(id: string, actor: string, count: number): Promise<void> {
    const record = { kind: 'refusal', id } as const;
    await this.#services.ledger.commit({
      actor,
      writes: [record],
      decide: (view) => {
        const total = (view.get(refusalKind, id)?.state.count ?? 0) + count;
        return { events: [{ record, type: 'refusals-counted', data: { count, total } }], outcome: null };
      },
    });
  }
}

function isFull(state: RefusalState | undefined): boolean {
  return (state?.count ?? 0) >= LIMITS.refusalsPerDayMax;
}

/** INVARIANT: what a caller calls an id and is none, is not written down (actions.refusals.no-content). */
function plainSubject({ verb, action_id, project, package_id, content }: RefusedSubject): RefusedSubject {
  return {
    verb,
    ...(action_id !== undefined && PATTERNS.action.test(action_id) ? { action_id } : {}),
    ...(project !== undefined && PATTERNS.project.test(project) ? { project } : {}),
    ...(package_id !== undefined && PATTERNS.package.test(package_id) ? { package_id } : {}),
    ...(content !== undefined && PATTERNS.sha256.test(content) ? { content } : {}),
  };
}
