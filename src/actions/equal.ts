/**
 * Equal actions, compared inside a commit: what names the others is looked at there; what has to be read of them first
 * is said, and the commit starts again.
 * Source: spec actions (joining; launch).
 */
import { Refusal } from '../core/index.js';
import type { KindName, LookupRow, RecordRef, View } from '../ledger/index.js';
import { type Compared, effectKind, effectRecord, sameEffect } from './effect.js';
import { actionKind } from './evolve.js';
import type { ActionContent, ActionState } from './schema.js';
import { type Services, STALE } from './services.js';

/** Where equal actions are found, by their effect. */
export function equalLookups({ effect }: Pick<ActionContent, 'effect'>) {
  return [{ kind: 'action' as KindName, key: effect }];
}

/** What a commit reads to compare an action with its equals; `met` are those that an earlier try came upon. */
export function equalRecords({ effect }: Pick<ActionContent, 'effect'>, met: readonly string[]): readonly RecordRef[] {
  return [effectRecord(effect), ...met.map((id) => ({ kind: 'action', id }) as const)];
}

/** Why an action can not be launched beside its equals; STALE where `met` grew by some that have to be read. */
export function equalBarrier(
  view: View,
  content: Compared & Pick<ActionContent, 'effect'>,
  rows: readonly LookupRow[],
  met: string[],
): Refusal | undefined {
  const found = sameEffect(content, {
    rows,
    effect: view.get(effectKind, content.effect)?.state,
    stateOf: (id) => (met.includes(id) ? view.get(actionKind, id)?.state : 'unread'),
  });
  if (found instanceof Refusal) return found;
  if (found.length === 0) return undefined;
  met.push(...found);
  return STALE;
}

/** Whether an action can not be launched beside its equals, as they are read now. */
export async function isBarred(
  { ledger }: Pick<Services, 'ledger'>,
  content: Compared & Pick<ActionContent, 'effect'>,
) {
  const rows = await ledger.lookup('action', content.effect);
  const effect = (await ledger.read(effectKind, content.effect))?.state;
  const states = new Map<string, ActionState | undefined>();
  for (;;) {
    const found = sameEffect(content, {
      rows,
      effect,
      stateOf: (id) => (states.has(id) ? states.get(id) : 'unread'),
    });
    if (found instanceof Refusal) return true;
    if (found.length === 0) return false;
    for (const id of found) states.set(id, (await ledger.read(actionKind, id))?.state);
  }
}
