/**
 * Whether human acts could be carried out as things stand: outside of any commit, for what is shown to people.
 * Source: spec authority (human authority).
 */
import type { Refusal } from '../core/index.js';
import { type Ledger, OverReads } from '../ledger/index.js';
import { actRefusal, type Signed } from './act-events.js';
import type { Act } from './act-schema.js';
import { type People, peopleOf } from './signers.js';

/** Where an act looks at nobody. */
const NOBODY: People = {
  ...{ operators: [], approvers: [], passkeys: [], able: [] },
  ...{ configHead: undefined, registryHead: undefined },
};

/** One moment in which acts are looked at; what it read it reads once. */
export class ActBarrier {
  readonly #ledger: Ledger;
  readonly #reads: OverReads;
  #people: Promise<People> | undefined;

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    this.#reads = new OverReads(ledger, now);
  }

  /** Why an act could not be carried out, once this person has signed it; undefined where it could. */
  async refusal(act: Act, request: Signed['request']): Promise<Refusal | undefined> {
    const facts = act.kind === 'registry' || act.kind === 'config' ? await this.#known() : NOBODY;
    return this.#reads.decide((view) => actRefusal(view, act, facts, [request]));
  }

  #known(): Promise<People> {
    this.#people ??= peopleOf(this.#ledger);
    return this.#people;
  }
}
