/**
 * What the gate looks at around a verb: whether an act can be asked for, whether what is shown is what was
 * requested, and what of a refused proposal may be told.
 */
import { type Act, summaryDigest } from '../approvals/index.js';
import { connectorsConfig } from '../connectors/index.js';
import { PATTERNS, Refusal } from '../core/index.js';
import type { ListQuery } from '../ledger/index.js';

/** A configuration whose connectors could not be opened would lock everybody out once it is the active one. */
export function demandOpenable(act: Act): void {
  const config = act?.kind === 'config' ? act.config : undefined;
  if (config === undefined || connectorsConfig.safeParse(config.connectors).success) return;
  throw new Refusal('config_invalid', 'the configuration of a connector can not be used', { path: 'connectors' });
}

/** INVARIANT: what a person is shown is what the request names (authority.shown-is-signed). */
export function demandSame(lines: readonly string[], expected: string): void {
  if (summaryDigest(lines) === expected) return;
  throw new Refusal('summary_mismatch', 'the action changed since this was asked: ask again');
}

/** The project of a proposal, where it has a plain one: for the record of a refusal. */
export function projectOf(proposal: unknown): { project?: string } {
  const project = (proposal as { project?: unknown } | null)?.project;
  return typeof project === 'string' && PATTERNS.project.test(project) ? { project } : {};
}

export interface ActionFilter {
  readonly project?: string;
  readonly states?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
}

/** Refuses `invalid` for a limit that is no whole number of rows. */
export function queryOf({ project, states, limit, after }: ActionFilter): ListQuery {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new Refusal('invalid', 'a page has one row or more', { path: 'limit' });
  }
  return {
    kind: 'action',
    ...(project === undefined ? {} : { project }),
    ...(states === undefined ? {} : { statuses: states }),
    ...(limit === undefined ? {} : { limit }),
    ...(after === undefined ? {} : { after }),
  };
}
