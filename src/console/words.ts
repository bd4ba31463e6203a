/**
 * The plain words of the console: what people read for what the machine calls by the names of its source. Agent-chosen
 * text goes through `shown`, so that nothing in it hides.
 */
import { displayText } from '../api/index.js';

/** Text that somebody else chose, with every hidden character written out. */
export function shown(value: unknown): string {
  return displayText(typeof value === 'string' ? value : JSON.stringify(value ?? null));
}

export const RISKS: Readonly<Record<string, { readonly word: string; readonly means: string }>> = {
  read: { word: 'read', means: 'Only looks. It changes nothing.' },
  reversible: { word: 'reversible', means: 'Changes something, and can be undone.' },
  irreversible: { word: 'irreversible', means: 'Can not be undone once it ran.' },
  costly: { word: 'high impact', means: 'Costs money, or does much harm if it is wrong.' },
};

export const STATES: Readonly<Record<string, string>> = {
  proposed: 'waiting for approval',
  approved: 'approved, not run yet',
  launched: 'running',
  confirmed: 'confirmed',
  failed: 'failed without effect',
  unknown: 'outcome unknown: it may have happened',
  cancelled: 'cancelled',
};

export const CLOSINGS: Readonly<Record<string, string>> = {
  withdrawn: 'taken back',
  denied: 'denied',
  changes_requested: 'sent back',
  expired: 'expired',
  superseded: 'replaced by an edited copy',
};

export const FLAGS: Readonly<Record<string, string>> = {
  possible_duplicate: 'The same effect is running, ran, or has an unknown outcome: this may do it twice.',
  previously_denied: 'Somebody denied the same effect before.',
  facts_unknown: 'The operation can not tell what its arguments touch.',
  non_ascii_target: 'The target holds characters beyond ASCII: letters may look like others.',
  high_entropy_args: 'An argument looks like a secret or a key.',
};

export const OUTCOMES: Readonly<Record<string, string>> = {
  ALLOW: 'allowed by policy',
  DENY: 'denied by policy',
  REQUIRE_APPROVAL: 'policy asks a person',
};

/** What a row of the inbox asks for. */
export const WHATS: Readonly<Record<string, string>> = {
  approval: 'asks for approval',
  outcome_unknown: 'outcome unknown: it may have happened',
  no_worker: 'approved, and no worker is there to run it',
  interrupted_launch: 'was interrupted while it ran',
  late_result: 'a later result contradicts the settled one',
  request: 'waits for a signature',
  confirmation: 'a summary waits for its confirmation',
};

/** What a signed act is about. */
export const KINDS: Readonly<Record<string, string>> = {
  action: 'an action',
  registry: 'people and keys',
  agent: 'a token of an agent',
  config: 'the configuration',
  restore: 'a restored store',
  freeze: 'a freeze',
  standing: 'a standing approval',
  summary: 'the summary of a package',
  finding: 'what an outcome was',
  assume_duplicate: 'run again (possible duplicate)',
};

/** What an act that is asked for does, by its kind and its change. */
const ACTS: Readonly<Record<string, string>> = {
  'registry add-key': 'a new key',
  'registry add-passkey': 'a new passkey',
  'registry revoke-key': 'a key taken back',
  'registry remove-person': 'a person removed',
  'registry away': 'being away',
  'agent rotate-token': 'a token in the place of another',
  'agent revoke-token': 'a token taken back',
  'freeze lift': 'lifting a freeze',
  'standing revoke': 'a standing approval taken back',
};

/** What a request beside actions asks for. */
export function actWord(operation: string): string {
  return ACTS[operation] ?? wordOf(KINDS, operation.split(' ')[0] ?? operation);
}

export const PACKAGE_STATES: Readonly<Record<string, string>> = {
  INTAKE: 'intake',
  SUMMARY_PENDING: 'summary to confirm',
  AUTHORING_AUTHORIZED: 'confirmed, to be written',
  DRAFT_READY: 'draft ready',
  CANCELLED: 'cancelled',
};

/** What a package waits for. */
export const PACKAGE_WAITS: Readonly<Record<string, string>> = {
  INTAKE: 'its agent: inputs, an objective, and a summary of them',
  SUMMARY_PENDING: 'a person who confirms the summary',
  AUTHORING_AUTHORIZED: 'its agent: the draft',
  DRAFT_READY: 'its release, an action that is approved like any other',
  CANCELLED: 'nothing',
};

/** What an envelope did. */
export const ENVELOPES: Readonly<Record<string, string>> = {
  create: 'begun from its intent',
  record_input: 'input recorded',
  set_objective: 'objective set',
  prepare_summary: 'summary prepared',
  confirm_summary: 'summary confirmed by a signature',
  revise_intake: 'gone back to its intake',
  record_draft_artifact: 'draft recorded',
  cancel: 'cancelled',
};

export function wordOf(words: Readonly<Record<string, string>>, name: unknown): string {
  const key = String(name);
  return Object.hasOwn(words, key) ? (words[key] as string) : shown(key);
}

export function timeOf(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}

/** How long until then, or since, in the largest unit that says something. */
export function spanTo(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000);
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'always', style: 'short' });
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  }
  return words.format(seconds, 'second');
}

/** `human:alice` as `alice`; others as they are. */
export function nameOf(principal: unknown): string {
  const text = shown(principal);
  return text.startsWith('human:') ? text.slice('human:'.length) : text;
}
