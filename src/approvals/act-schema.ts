/**
 * What a receipt of kind registry, config or restore authorizes, its digest, and the lines that are signed. Pure.
 */
import * as z from 'zod';
import {
  canonicalize,
  defectClause,
  defectIn,
  digest,
  isJsonObject,
  isoTime,
  type Json,
  type JsonObject,
  LIMITS,
  PATTERNS,
  Refusal,
} from '../core/index.js';
import {
  AgentChange,
  confirmationCode,
  keyId,
  type LedgerState,
  passkeyAlgorithm,
  RegistryChange,
} from '../identity/index.js';
import { policyVersion, TrustConfig } from '../policy/index.js';
import { agentLines } from './agent-lines.js';
import type { FreezeScope } from './freeze.js';
import type { SummaryLines } from './schema.js';
import { StandingChange } from './standing.js';
import { standingLines } from './standing-lines.js';

/** What a gate remembers of its ledger outside the store. */
export interface Remembered {
  readonly epoch: number;
  readonly sequence: number;
  readonly log_hash: string;
}

export type Act =
  | { readonly kind: 'registry'; readonly change: RegistryChange }
  | { readonly kind: 'agent'; readonly change: AgentChange }
  /** `base` is the version that this replaces, with its document for the lines of what changes. */
  | { readonly kind: 'config'; readonly config: TrustConfig; readonly base: string; readonly before: TrustConfig }
  /** The end of the log that is accepted, and what the gate remembers of a longer one. */
  | {
      readonly kind: 'restore';
      readonly sequence: number;
      readonly log_hash: string;
      readonly remembered: Remembered;
    }
  | { readonly kind: 'freeze'; readonly op: 'set' | 'lift'; readonly scope: FreezeScope }
  | { readonly kind: 'standing'; readonly change: StandingChange };

const Digest = z.string().regex(PATTERNS.sha256);
const LogPlace = { sequence: z.int().min(0), log_hash: Digest };

/** INVARIANT: what is frozen is named as actions name it (authority.freeze.named): `agent:NAME` for an agent. */
const Scope = z.discriminatedUnion('scope', [
  z.strictObject({ scope: z.literal('all'), name: z.null() }),
  z.strictObject({ scope: z.literal('project'), name: z.string().regex(PATTERNS.project) }),
  z.strictObject({ scope: z.literal('agent'), name: z.string().regex(PATTERNS.agent) }),
  z.strictObject({ scope: z.literal('connector'), name: z.string().regex(PATTERNS.project) }),
]);

const ActDocument = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('registry'), change: RegistryChange }),
  z.strictObject({ kind: z.literal('agent'), change: AgentChange }),
  z.strictObject({ kind: z.literal('config'), config: TrustConfig, base: Digest, before: TrustConfig }),
  z.strictObject({
    ...{ kind: z.literal('restore'), ...LogPlace },
    remembered: z.strictObject({ epoch: z.int().min(0).max(LIMITS.epochMax), ...LogPlace }),
  }),
  z.strictObject({ kind: z.literal('freeze'), op: z.enum(['set', 'lift']), scope: Scope }),
  z.strictObject({ kind: z.literal('standing'), change: StandingChange }),
]);

/**
 * An act as somebody asks for it, read in full. Refuses `invalid`, also for a document before that is not the one of
 * its version: the lines of what changes are made from it.
 */
export function admitAct(value: unknown): Act {
  const parsed = ActDocument.safeParse(value);
  if (!parsed.success) {
    const defect = defectIn(parsed.error.issues, value, { ownWords: true });
    const clause = defectClause(defect, defect.path.length === 0 ? ['act'] : []);
    const path = defect.path.join('.');
    throw new Refusal('invalid', `this is no act that could be signed: ${clause}`, { path });
  }
  const act = parsed.data;
  // INVARIANT: a change is shown against the configuration that it replaces, and no other (authority.acts.shown).
  if (act.kind === 'config' && policyVersion(act.before) !== act.base) {
    throw new Refusal('invalid', 'this is no act that could be signed', { path: 'before' });
  }
  return act;
}

export function actDigest(act: Act): string {
  return act.kind === 'config' ? policyVersion(act.config) : digest('countersign-command/1', act as unknown as Json);
}

/**
 * The epoch behind a restore.
 * INVARIANT: it is one that neither the store nor the gate ever had (app.restore.epoch).
 */
export function epochBehind({ epoch }: Pick<LedgerState, 'epoch'>, remembered: Pick<Remembered, 'epoch'>): number {
  return Math.max(epoch, remembered.epoch) + 1;
}

/** The lines that a person signs for an act. */
export function actLines(ledger: LedgerState, act: Act): SummaryLines {
  const line = (name: string, value: string) => ({ name, value });
  const head = [
    ...(ledger.demo ? [line('demo ledger', 'DEMO LEDGER')] : []),
    line('ledger', `${ledger.name} ${ledger.ledger_id}`),
  ];
  switch (act.kind) {
    case 'registry':
      return [...head, ...registryLines(ledger, act.change)];
    case 'agent':
      return [...head, ...agentLines(act.change)];
    case 'config': {
      const changes = configChanges(act.before as unknown as Json, act.config as unknown as Json);
      return [
        ...head,
        line('act', 'apply a trust configuration'),
        line('from version', act.base),
        line('to version', policyVersion(act.config)),
        ...changes.map(({ path, before, after }) => line(`change ${path}`, `${before} -> ${after}`)),
        line('effect', 'actions proposed under the version before can no longer be approved or launched'),
      ];
    }
    case 'restore':
      return [
        ...head,
        line('act', 'accept this store as the ledger'),
        line('epoch', `${ledger.epoch} -> ${epochBehind(ledger, act.remembered)}`),
        line('log ends at', `${act.sequence} ${act.log_hash}`),
        line(
          'this gate remembers',
          `${act.remembered.sequence} ${act.remembered.log_hash}, epoch ${act.remembered.epoch}`,
        ),
        line('effect', 'every open request, receipt and standing approval is void, and every token of an agent'),
        line('effect on actions', 'every open one has an unknown outcome'),
        line('goes back', 'freezes, keys, people and budgets stand as this store has them'),
      ];
    case 'standing':
      return [...head, ...standingLines(act.change)];
    case 'freeze': {
      const { scope, name } = act.scope;
      const effect =
        act.op === 'set' ? 'nothing is asked for, approved or launched there' : 'what waited there can go on';
      return [
        ...head,
        line('act', act.op === 'set' ? 'freeze' : 'lift a freeze'),
        line('what', name === null ? 'everything' : `${scope} ${name}`),
        line('effect', effect),
      ];
    }
  }
}

function registryLines(ledger: LedgerState, change: RegistryChange): SummaryLines {
  const line = (name: string, value: string) => ({ name, value });
  switch (change.change) {
    case 'add-key':
      return [
        line('act', 'add a key'),
        line('person', change.person),
        line('roles', change.roles.join(', ') || 'none'),
        line('public key', change.public_key),
        line('key', keyId(change.public_key)),
        line('code', confirmationCode(ledger.ledger_id, change.public_key)),
      ];
    case 'add-passkey':
      return [
        line('act', 'add a passkey'),
        line('person', change.person),
        line('roles', change.roles.join(', ') || 'none'),
        line('algorithm', passkeyAlgorithm(change.public_key) ?? 'none that is allowed'),
        line('public key', change.public_key),
        line('passkey', change.credential),
        line('key', keyId(change.public_key)),
        line('code', confirmationCode(ledger.ledger_id, change.public_key)),
      ];
    case 'away':
      return [
        line('act', change.until === null ? 'be back' : 'be away'),
        line('person', change.person),
        ...(change.until === null
          ? []
          : [line('until', isoTime(change.until)), line('delegate', change.delegate ?? 'none')]),
        line('effect', 'reminders go elsewhere meanwhile; who may sign, and how many have to, stays as it is'),
      ];
    case 'revoke-key':
      return [line('act', 'revoke a key'), line('key', change.key_id)];
    case 'remove-person':
      return [line('act', 'remove a person'), line('person', change.person)];
  }
}

export interface ConfigChange {
  readonly path: string;
  /** JSON of the value, or `none`. */
  readonly before: string;
  readonly after: string;
}

/**
 * The paths at which two configurations differ, each with both values in full. Rules are compared by their titles, so
 * that a change of one shows as that; their order is a line of its own where it or the titles change.
 */
export function configChanges(before: Json | undefined, after: Json | undefined, path = ''): readonly ConfigChange[] {
  if (textOf(before) === textOf(after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => configChanges(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  const [was, is] = [titled(before), titled(after)];
  if (was === undefined || is === undefined) return [{ path, before: textOf(before), after: textOf(after) }];
  const order = { path: `${path} in order`, before: textOf(was.titles), after: textOf(is.titles) };
  const changes = configChanges(was.rules, is.rules, path);
  return order.before === order.after ? changes : [...changes, order];
}

/** A list of rules by their titles; undefined for any other value, and for two rules of one title. */
function titled(value: Json | undefined): { readonly rules: JsonObject; readonly titles: Json[] } | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const titles = value.map((rule: Json) => (isJsonObject(rule) ? rule['title'] : undefined));
  const areNames = titles.every((title) => typeof title === 'string') && new Set(titles).size === titles.length;
  if (!areNames) return undefined;
  return {
    rules: Object.fromEntries(value.map((rule, at) => [titles[at], rule])) as JsonObject,
    titles: titles as Json[],
  };
}

/** Canonical, so that a document reads the same before and after it was stored. */
function textOf(value: Json | undefined): string {
  return value === undefined ? 'none' : canonicalize(value);
}
