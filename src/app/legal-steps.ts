/**
 * The steps that an action can take, by the events that record them: what a log may say. The machine of `actions`
 * decides steps; this table only knows which of them there are, so that a log by another hand is noticed.
 * Source: spec actions (transitions).
 */
const NONE = 'none';

/** Event → states in which an action can stand before it, and the state after. Without one, the state stays. */
const STEPS: Readonly<Record<string, { readonly from: readonly string[]; readonly to?: string }>> = {
  'action-proposed': { from: [NONE], to: 'proposed' },
  'approval-recorded': { from: ['proposed', 'approved', 'failed'] },
  'action-approved': { from: ['proposed', 'approved', 'failed'], to: 'approved' },
  'action-cancelled': { from: ['proposed', 'approved', 'failed'], to: 'cancelled' },
  'action-launched': { from: ['approved', 'unknown'], to: 'launched' },
  'retry-approved': { from: ['unknown'] },
  'action-replaced': { from: ['unknown'] },
  'action-confirmed': { from: ['launched', 'unknown'], to: 'confirmed' },
  'action-failed': { from: ['launched', 'unknown'], to: 'failed' },
  'action-outcome-unknown': { from: ['launched'], to: 'unknown' },
  'attempt-settled': { from: [NONE, 'launched', 'unknown'] },
  'action-interrupted': { from: ['proposed', 'approved', 'launched', 'unknown'], to: 'unknown' },
  // A closed action is no longer known here: a late word about it changes nothing but asks a person to look.
  // What people say of it leads to what they say.
  'late-result-settled': { from: [NONE, 'approved', 'failed', 'unknown'] },
  'late-result-recorded': { from: [NONE, 'approved', 'launched', 'failed', 'unknown'] },
};

/** `state` is undefined for an action that is not open. */
export function isAllowedStep(state: string | undefined, eventType: string): boolean {
  return STEPS[eventType]?.from.includes(state ?? NONE) ?? false;
}

export function stateAfter(state: string, eventType: string): string {
  return STEPS[eventType]?.to ?? state;
}
