/**
 * The brake: while a part of the gate is frozen, nothing new is asked for, approved or launched there. Calls that run
 * finish; denials, withdrawals, settlements and checks of outcomes go on. Pure.
 * Source: spec authority (freeze).
 */
import { type JsonObject, Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, View } from '../ledger/index.js';

/** The one record of kind `freeze`. */
export const FREEZE_RECORD = { kind: 'freeze', id: 'gate' } as const;

export const FREEZE_SCOPES = ['all', 'project', 'agent', 'connector'] as const;

/** What is frozen: everything, or one project, agent or connector by its name. */
export type FreezeScope = { readonly scope: (typeof FREEZE_SCOPES)[number]; readonly name: string | null };

export type Frozen = FreezeScope & { readonly by: string; readonly at: number };

export type FreezeState = { readonly frozen: readonly Frozen[] };

export const freezeKind: Kind<FreezeState> = {
  name: 'freeze',
  version: 1,
  evolve: (state, event) => evolve(state ?? { frozen: [] }, event),
  columns: (state) => ({ status: state.frozen.length === 0 ? 'open' : 'frozen' }),
};

function evolve({ frozen }: FreezeState, event: LedgerEvent): FreezeState {
  const { scope, name } = event.data as unknown as FreezeScope;
  const others = frozen.filter((one) => one.scope !== scope || one.name !== name);
  switch (event.type) {
    case 'freeze-set':
      return { frozen: [...others, { scope, name, by: event.actor, at: event.at }] };
    case 'freeze-lifted':
      return { frozen: others };
    default:
      return { frozen };
  }
}

/** What a freeze could stop. */
export interface FreezeSubject {
  readonly project: string;
  readonly connector: string;
  readonly proposed_by: string;
}

function isFrozen({ scope, name }: Frozen, subject: FreezeSubject): boolean {
  switch (scope) {
    case 'all':
      return true;
    case 'project':
      return name === subject.project;
    case 'agent':
      return name === subject.proposed_by;
    case 'connector':
      return name === subject.connector;
  }
}

/**
 * INVARIANT: what is frozen is asked, approved and launched by nobody (authority.freeze). The view holds its
 * record.
 */
export function frozenIn(view: View, subject: FreezeSubject): Refusal | undefined {
  return frozenBy(view.get(freezeKind, FREEZE_RECORD.id)?.state, subject);
}

function frozenBy(state: FreezeState | undefined, subject: FreezeSubject): Refusal | undefined {
  const by = state?.frozen.find((one) => isFrozen(one, subject));
  if (by === undefined) return undefined;
  const what = by.scope === 'all' ? 'everything' : `${by.scope} ${by.name}`;
  return new Refusal('frozen', `${what} is frozen`, { details: { scope: by.scope }, next: liftAdvice(by) });
}

/** What lifts a freeze, as it is typed: each is lifted by what it was set on. */
export function liftAdvice({ scope, name }: FreezeScope): string {
  return `an operator lifts it with \`countersign unfreeze${name === null ? '' : ` --${scope} ${name}`}\``;
}

const SEE = 'see what is frozen with `countersign inbox`';

/** Sets or lifts a freeze. Refuses `state` where nothing would change. */
export function decideFreeze(
  state: FreezeState | undefined,
  op: 'set' | 'lift',
  { scope, name }: FreezeScope,
  authorization: JsonObject,
): NewEvent | Refusal {
  const isSet = state?.frozen.some((one) => one.scope === scope && one.name === name) === true;
  if (op === 'lift' && !isSet) return new Refusal('state', 'this is not frozen', { next: SEE });
  if (op === 'set' && isSet) return new Refusal('state', 'this is frozen already', { next: SEE });
  const type = op === 'set' ? 'freeze-set' : 'freeze-lifted';
  return { record: FREEZE_RECORD, type, data: { scope, name, authorization } };
}
