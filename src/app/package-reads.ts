/**
 * What people read about packages beside the manifest: the beginning of an intent in a list, the envelopes that were
 * accepted, and the actions that carry a draft out. Each is a page with a bound of its own.
 * Source: spec doors (console), packages (release).
 */
import { type ActionState, actionKind, type Caller } from '../actions/index.js';
import { LIMITS } from '../core/index.js';
import type { Ledger, LedgerEvent, ListRow } from '../ledger/index.js';
import { ACCEPTED, type AcceptedData, type PackageState, packageKind, packageRecord } from '../packages/index.js';
import { sightOf } from './scope.js';

/** A row of a list of packages. */
export interface PackageRow extends ListRow {
  /** Its first characters. */
  readonly intent: string;
}

/** An envelope that a package took; at revision 0 what it began with. */
export interface EnvelopeRow {
  readonly revision: number;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly action_id: string | null;
  /** The input, the path or the reason that it names; null for those that name nothing. */
  readonly about: string | null;
}

/** An action that carries a draft of the package; for who may not see it all, that there is one. */
export type ReleaseRow =
  | { readonly action_id: string; readonly state: string }
  | {
      readonly action_id: string;
      readonly state: string;
      readonly project: string;
      readonly connector: string;
      readonly operation: string;
      readonly target: string;
      readonly proposed_by: string;
      readonly proposed_at: number;
      /** The revision of the package that it carries. */
      readonly revision: string;
    };

export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly next?: string;
}

export async function withIntents(ledger: Ledger, rows: readonly ListRow[]): Promise<readonly PackageRow[]> {
  const found: PackageRow[] = [];
  for (const row of rows) {
    const { raw, clarified } = (await ledger.read(packageKind, row.id))?.state.manifest.intent ?? { raw: '' };
    found.push({ ...row, intent: beginningOf(clarified ?? raw) });
  }
  return found;
}

/** Cut by whole characters. */
function beginningOf(text: string): string {
  return [...text.slice(0, 2 * LIMITS.intentShownCharsMax)].slice(0, LIMITS.intentShownCharsMax).join('');
}

/** The newest first, behind a revision where one is given. */
export async function envelopesOf(
  ledger: Ledger,
  { manifest }: PackageState,
  behind: number = manifest.revision + 1,
): Promise<RowPage<EnvelopeRow>> {
  const last = Math.min(behind - 1, manifest.revision);
  const from = Math.max(0, last - LIMITS.packageRowsMax + 1);
  const events = last < 0 ? [] : await ledger.events(packageRecord(manifest.package_id), from);
  const rows = events
    .filter(({ revision }) => revision <= last)
    .map(envelopeRow)
    .reverse();
  return { rows, ...(from > 0 ? { next: String(from) } : {}) };
}

function envelopeRow({ revision, at, actor, type, data }: LedgerEvent): EnvelopeRow {
  if (type !== ACCEPTED) return { revision, at, by: actor, action: 'create', action_id: null, about: null };
  const { action, action_id, payload } = (data as AcceptedData).envelope;
  const { input_id, logical_path, reason } = payload as Readonly<Record<string, string | null | undefined>>;
  return { revision, at, by: actor, action, action_id, about: input_id ?? logical_path ?? reason ?? null };
}

/** No action carries a draft before somebody confirmed what it stands on. Clocks of gates differ by less than this. */
const CLOCKS_APART_MS = 24 * 60 * 60 * 1_000;

/**
 * The newest first. One page looks at as many actions as a list has rows, and names where to look on.
 * INVARIANT: it reads no more for a ledger that holds more (packages.read.releases).
 */
export async function releasesOf(
  ledger: Ledger,
  caller: Caller,
  { manifest }: PackageState,
  after: string | undefined,
): Promise<RowPage<ReleaseRow>> {
  const { package_id, artifacts, summary } = manifest;
  if (artifacts.length === 0) return { rows: [] };
  const since = Date.parse(summary?.confirmation.confirmed_at ?? manifest.created_at) - CLOCKS_APART_MS;
  const page = await ledger.list({ kind: 'action', ...(after === undefined ? {} : { after }) });
  const rows: ReleaseRow[] = [];
  let isOver = false;
  for (const { id } of page.rows) {
    const state = (await ledger.read(actionKind, id))?.state;
    isOver = (state?.proposed_at ?? since) < since;
    const row = state?.content.work_item === package_id ? releaseRow(caller, state) : undefined;
    if (row !== undefined) rows.push(row);
  }
  return { rows, ...(page.next === undefined || isOver ? {} : { next: page.next }) };
}

function releaseRow(caller: Caller, { content, state, proposed_at }: ActionState): ReleaseRow | undefined {
  const { action_id, project, connector, operation, target, proposed_by, preconditions } = content;
  const revision = preconditions?.['package_revision'];
  const sight = sightOf(caller, content);
  // What only names the package carries nothing of it.
  if (revision === undefined || sight === 'none') return undefined;
  if (sight === 'some') return { action_id, state };
  return { action_id, state, project, connector, operation, target, proposed_by, proposed_at, revision };
}
