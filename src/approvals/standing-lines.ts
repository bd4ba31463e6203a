/**
 * The lines that a person signs for a standing approval, the largest effect that it can have among them. Pure.
 */
import { canonicalize, isoTime, type Json, moneyText } from '../core/index.js';
import type { SummaryLines } from './schema.js';
import type { Grant, StandingChange } from './standing.js';

export function standingLines(change: StandingChange): SummaryLines {
  if (change.op === 'open') return grantLines(change.grant_id, change.grant);
  return [
    { name: 'act', value: 'revoke a standing approval' },
    { name: 'grant', value: change.grant_id },
  ];
}

export function grantLines(id: string, grant: Grant): SummaryLines {
  const line = (name: string, value: string) => ({ name, value });
  const money = (amount: number | undefined) =>
    amount === undefined || grant.currency === undefined ? 'none' : moneyText({ amount, currency: grant.currency });
  const each = grant.per_action === undefined ? Infinity : grant.per_action * grant.count;
  const largest = Math.min(grant.total ?? Infinity, each);
  const most = largest === Infinity ? undefined : largest;
  return [
    line('act', 'approve what is alike, until it is used up'),
    line('largest total effect', `${grant.count} actions, ${most === undefined ? 'no money' : money(most)}`),
    line('grant', id),
    line('project', grant.project),
    line('agents', grant.agents.join(', ')),
    line('connector', grant.connector),
    ...sorted(grant.operations).map(([name, digest]) => line(`operation ${name}`, digest)),
    line('target', grant.target),
    line('class at most', grant.class),
    ...sorted(grant.args).map(([name, bound]) => line(`argument ${name}`, canonicalize(bound as Json))),
    line('each at most', money(grant.per_action)),
    line('together at most', money(grant.total)),
    line('until', `${isoTime(grant.until)} (${grant.until})`),
  ];
}

/** By name, so that the lines are the same before and after the grant was stored. */
function sorted<Value>(named: Readonly<Record<string, Value>>): readonly [string, Value][] {
  return Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1));
}
