/** Equal effects: which launches since a proposal stand in its way, and which were without effect. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONTENT } from '../../test/support/action-states.js';
import { verifies } from '../../test/support/verifies.js';
import { LIMITS, Refusal } from '../core/index.js';
import { type EffectState, effectKind, effectLaunched, sameEffect } from './effect.js';
import type { ActionState, Attempt, AttemptOutcome } from './schema.js';

const OWN = { action_id: CONTENT.action_id, class: CONTENT.class, duplicates: [], launches_seen: 0 } as const;

function launches(...ids: readonly string[]): EffectState {
  let state: EffectState | undefined;
  for (const action_id of ids) {
    const [event] = effectLaunched(state, { ...CONTENT, action_id }, 5);
    state = effectKind.evolve(state, event as never);
  }
  return state as EffectState;
}

function stateOf(outcomes: readonly (AttemptOutcome | null)[], late = false): ActionState {
  const attempts = outcomes.map((outcome, at) => ({ no: at + 1, outcome }) as Attempt);
  const late_result = late ? { attempt: 1, outcome: 'confirmed', code: null } : null;
  return { attempts, late_result } as unknown as ActionState;
}

function compared(effect: EffectState | undefined, others: Readonly<Record<string, ActionState>>, own: object = {}) {
  const equal = { rows: [], effect, stateOf: (id: string) => others[id] ?? ('unread' as const) };
  const found = sameEffect({ ...OWN, ...own }, equal);
  return found instanceof Refusal ? found.code : found;
}

describe('an equal launch since a proposal', () => {
  it('stands in its way unless every attempt certainly had no effect and nobody says otherwise', () => {
    verifies('actions.launch.duplicate');
    const effect = launches('act_other');
    assert.deepEqual(compared(effect, {}), ['act_other'], 'it has to be read first');
    assert.deepEqual(compared(effect, { act_other: stateOf(['failed', 'failed']) }), []);
    for (const outcomes of [['confirmed'], ['failed', 'unknown'], ['unknown', 'failed'], [null]] as const) {
      assert.equal(compared(effect, { act_other: stateOf(outcomes) }), 'possible_duplicate', String(outcomes));
    }
    assert.equal(compared(effect, { act_other: stateOf(['failed'], true) }), 'possible_duplicate', 'a later word');
  });

  it('is counted, and not by time: each one since the proposal is looked at, and none from before', () => {
    verifies('actions.launch.duplicate');
    const effect = launches('act_first', 'act_second', 'act_third');
    const failed = stateOf(['failed']);
    const done = stateOf(['confirmed']);
    const others = { act_first: done, act_second: done, act_third: failed };
    assert.deepEqual(compared(effect, others, { launches_seen: 2 }), []);
    assert.equal(compared(effect, others, { launches_seen: 1 }), 'possible_duplicate');
    assert.deepEqual(compared(effect, {}, { launches_seen: 1 }), ['act_second', 'act_third']);
    assert.deepEqual(compared(effect, others, { launches_seen: 3 }), []);
  });

  it('beyond those that are remembered stands in the way, whatever became of the others', () => {
    verifies('actions.launch.duplicate');
    const ids = Array.from({ length: LIMITS.effectLaunchesMax + 1 }, (_, at) => `act_${at}`);
    const others = Object.fromEntries(ids.map((id) => [id, stateOf(['failed'])]));
    const effect = launches(...ids);
    assert.deepEqual([effect.launched.length, effect.count], [LIMITS.effectLaunchesMax, ids.length]);
    assert.deepEqual(compared(effect, others, { launches_seen: 1 }), []);
    assert.equal(compared(effect, others, { launches_seen: 0 }), 'possible_duplicate');
  });

  it('of a read is none, and its own launches are no equal', () => {
    verifies('actions.launch.duplicate');
    assert.deepEqual(compared(launches(CONTENT.action_id), {}), []);
    assert.deepEqual(compared(launches('act_other'), { act_other: stateOf(['confirmed']) }, { class: 'read' }), []);
    assert.deepEqual(effectLaunched(undefined, { ...CONTENT, class: 'read' }, 5), []);
  });
});
