/**
 * Agents that come over HTTP: their tokens are asked for, listed, replaced and taken back. An operator signs each.
 */
import { listTokens } from '../../app/index.js';
import { requestToken, rotateToken } from '../../app/internal.js';
import { Refusal } from '../../core/index.js';
import type { TOKEN_VERBS } from '../options.js';
import { type Output, shown, timeText, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { noteSigners } from './people.js';
import { duration } from './propose.js';

export interface AgentOptions {
  readonly project?: readonly string[];
  readonly connector?: readonly string[];
  readonly may?: readonly string[];
  readonly onBehalf?: boolean;
  readonly for?: string;
  readonly overlap?: string;
}

type Verbs = readonly (typeof TOKEN_VERBS)[number][];

export function add(name: string, options: AgentOptions): Command {
  return async ({ gate, output }) => {
    const scope = {
      projects: [...(options.project ?? ['*'])],
      connectors: [...(options.connector ?? ['*'])],
      verbs: [...((options.may ?? ['read', 'propose', 'execute', 'cancel']) as Verbs)],
      on_behalf: options.onBehalf === true,
    };
    const agent = name.startsWith('agent:') ? name : `agent:${name}`;
    tell(output, await requestToken(await gate(), agent, scope, lifetime(options.for)));
    return undefined;
  };
}

export function rotate(tokenId: string, options: AgentOptions): Command {
  return async ({ gate, output }) => {
    tell(output, await rotateToken(await gate(), tokenId, lifetime(options.for), lifetime(options.overlap)));
    return undefined;
  };
}

function lifetime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : duration(text);
}

function tell(output: Output, made: Awaited<ReturnType<typeof requestToken>>): void {
  output.value(made);
  for (const line of made.issued.summary) output.line(line);
  noteSigners(output, made.issued);
  output.line('');
  output.line(`token, shown this once: ${made.token}`);
  output.line('It lets nobody in before an operator has signed.');
}

export function list(): Command {
  return async ({ gate, output }) => {
    const opened: OpenGate = await gate();
    const tokens = await listTokens(opened.ledger);
    output.value({ tokens: tokens.map(({ hash: _, ...token }) => token) });
    const now = opened.services.clock.now();
    const rows = tokens.map(({ token_id, agent, state, scope, expires }) => [
      token_id,
      shown(agent),
      state === 'active' && now >= expires ? 'over' : state,
      shown(scope.verbs.join(', ')),
      shown(`${scope.projects.join(', ')} / ${scope.connectors.join(', ')}`),
      timeText(expires, now),
    ]);
    await writeTable(output, ['token', 'agent', 'state', 'may', 'projects / connectors', 'until'], rows);
    return undefined;
  };
}

export function revoke(token_id: string): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    if (!(await listTokens(opened.ledger)).some((token) => token.token_id === token_id)) {
      throw new Refusal('unknown_token', 'there is no such token');
    }
    const issued = await opened.requestAct({ kind: 'agent', change: { change: 'revoke-token', token_id } });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}
