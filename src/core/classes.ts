/**
 * How grave an effect is, in rising order of risk.
 * Source: spec actions (the action).
 */
export const ACTION_CLASSES = ['read', 'reversible', 'irreversible', 'costly'] as const;

export type ActionClass = (typeof ACTION_CLASSES)[number];
