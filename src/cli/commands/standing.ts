/**
 * Standing approvals: asked for, the narrowest one from an action at hand, shown with what is left, and taken back.
 */
import { parseJson, Refusal } from '../../core/index.js';
import { type Output, shown, timeText, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { noteSigners } from './people.js';
import { duration, readContent } from './propose.js';

export interface StandingOptions {
  readonly from?: string;
  readonly file?: string;
  readonly count?: string;
  readonly for?: string;
  readonly target?: string;
  readonly perAction?: string;
  readonly total?: string;
  readonly signer?: string;
}

/** Asks people to sign a standing approval: as a file says, or the narrowest one that an action fits. */
export function request(options: StandingOptions): Command {
  return async ({ gate, output }) => {
    if ((options.from === undefined) === (options.file === undefined)) {
      throw new Refusal('usage', 'one of --from and --file says what is approved');
    }
    const opened = await gate();
    const grant =
      options.file === undefined
        ? await narrowest(opened, options.from ?? '', options)
        : parseJson(readContent(options.file), { code: 'invalid' });
    const { grant_id, issued } = await opened.requestStanding(grant, options.signer);
    output.value({ grant_id, ...issued });
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}

async function narrowest(opened: OpenGate, actionId: string, options: StandingOptions) {
  const count = options.count === undefined ? 10 : Number(options.count);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new Refusal('usage', '`--count` is a whole number of actions', { path: 'count' });
  }
  const until = opened.services.clock.now() + duration(options.for ?? '7d');
  const grant = await opened.narrowestGrant(actionId, { count, until });
  const money = (text: string | undefined, name: string) => {
    if (text === undefined) return undefined;
    const amount = Number(text);
    if (Number.isSafeInteger(amount) && amount >= 0) return amount;
    throw new Refusal('usage', `\`--${name}\` is a whole number of minor units`, { path: name });
  };
  const [each, total] = [money(options.perAction, 'per-action'), money(options.total, 'total')];
  return {
    ...grant,
    ...(options.target === undefined ? {} : { target: options.target }),
    ...(each === undefined ? {} : { per_action: each }),
    ...(total === undefined ? {} : { total }),
  };
}

export function list(): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const grants = await opened.grants();
    output.value({ grants });
    const now = opened.services.clock.now();
    const rows = grants.map(({ grant_id, state, grant, used, holds }) => [
      grant_id,
      state === 'active' && now >= grant.until ? 'over' : state,
      `${shown(grant.connector)} ${Object.keys(grant.operations).map(shown).join(', ')} on ${shown(grant.target)}`,
      `${used + holds.length} of ${grant.count}`,
      timeText(grant.until, now),
    ]);
    await writeTable(output, ['standing approval', 'state', 'what', 'used', 'until'], rows);
    return undefined;
  };
}

export function show(grantId: string): Command {
  return async ({ gate, output }) => {
    const found = (await (await gate()).grants()).find(({ grant_id }) => grant_id === grantId);
    if (found === undefined) throw new Refusal('not_found', 'there is no such standing approval');
    output.value(found);
    showGrant(output, found);
    return undefined;
  };
}

function showGrant(output: Output, found: Awaited<ReturnType<OpenGate['grants']>>[number]): void {
  for (const line of found.lines) output.line(line);
  output.line(`state: ${found.state}`);
  output.line(`signed by: ${found.signers.map(({ person }) => shown(person)).join(', ')}`);
  output.line(`used: ${found.used} of ${found.grant.count}, ${found.holds.length} running or unknown`);
}

/** Asks somebody to take a standing approval back. */
export function revoke(grant_id: string): Command {
  return async ({ gate, output }) => {
    const issued = await (await gate()).requestAct({ kind: 'standing', change: { op: 'revoke', grant_id } });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}
