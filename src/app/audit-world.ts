/**
 * What an audit knows at one place of the log: the registry, the configuration, freezes, grants and bounds as the
 * events before it leave them. The rules of the gate read it as they read a commit's records. It grows with people,
 * keys, grants and periods of bounds, not with what is done.
 * Source: spec ledger (verify).
 */
import { freezeKind, grantKind, type People, peopleAmong, type Reader } from '../approvals/index.js';
import type { Json } from '../core/index.js';
import {
  type KeyState,
  keyKind,
  LEDGER_RECORD,
  ledgerKind,
  type PersonState,
  personKind,
  tokenKind,
} from '../identity/index.js';
import { type AnyKind, type Kind, type LedgerEvent, recordName, type Snapshot, type View } from '../ledger/index.js';
import { budgetKind, CONFIG_RECORD, configKind, type TrustConfig } from '../policy/index.js';

const FOLDED: ReadonlyMap<string, AnyKind> = new Map(
  [ledgerKind, configKind, freezeKind, personKind, keyKind, tokenKind, grantKind, budgetKind].map((kind) => [
    kind.name,
    kind,
  ]),
);

export class AuditWorld implements Reader {
  readonly #states = new Map<string, Snapshot<Json>>();

  /** Takes an event over; one of a kind that is not folded changes nothing. */
  fold(event: LedgerEvent): void {
    const kind = FOLDED.get(event.record.kind);
    if (kind === undefined) return;
    const name = recordName(event.record);
    const state = kind.evolve(this.#states.get(name)?.state, event) as Json;
    const { revision, hash: head, at: headAt } = event;
    this.#states.set(name, { id: event.record.id, revision, head, headAt, state });
  }

  state<State extends Json>({ name }: Kind<State>, id: string): State | undefined {
    return this.#states.get(`${name}/${id}`)?.state as State | undefined;
  }

  async read<State extends Json>({ name }: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    return this.#states.get(`${name}/${id}`) as Snapshot<State> | undefined;
  }

  /** As a commit at this time would see it. */
  viewAt(now: number): View {
    return {
      now,
      behindMs: 0,
      get: ({ name }, id) => this.#states.get(`${name}/${id}`) as never,
      lookup: () => [],
    };
  }

  get epoch(): number {
    return this.state(ledgerKind, LEDGER_RECORD.id)?.epoch ?? 0;
  }

  get config(): TrustConfig | undefined {
    return this.state(configKind, CONFIG_RECORD.id)?.config as unknown as TrustConfig | undefined;
  }

  get policyVersion(): string | undefined {
    return this.state(configKind, CONFIG_RECORD.id)?.version;
  }

  /** Active people by role, with the keys that they can use. */
  people(): People {
    const of = <State>(kind: string) =>
      [...this.#states].filter(([name]) => name.startsWith(`${kind}/`)).map(([, { state }]) => state as State);
    const configured = this.state(configKind, CONFIG_RECORD.id);
    const known = peopleAmong(of<PersonState>('person'), of<KeyState>('key'), configured);
    return { ...known, configHead: undefined, registryHead: undefined };
  }
}
