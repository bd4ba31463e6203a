/**
 * The lines that a person signs for a token of an agent: whose it is, what it lets it ask for, and until when. Pure.
 */
import { isoTime } from '../core/index.js';
import type { AgentChange, TokenScope } from '../identity/index.js';
import type { SummaryLines } from './schema.js';

export function agentLines(change: AgentChange): SummaryLines {
  const line = (name: string, value: string) => ({ name, value });
  const until = (at: number) => `${isoTime(at)} (${at})`;
  switch (change.change) {
    case 'add-token':
      return [
        line('act', 'add a token of an agent'),
        line('agent', change.agent),
        line('token', change.token_id),
        line('token hash', change.hash),
        ...scopeLines(change.scope),
        line('until', until(change.expires)),
        line('effect', 'whoever holds the token asks as this agent, and approves nothing'),
      ];
    case 'rotate-token':
      return [
        line('act', 'replace a token of an agent'),
        line('agent', change.agent),
        line('token', change.token_id),
        line('token hash', change.hash),
        line('replaces', change.replaces),
        ...scopeLines(change.scope),
        line('until', until(change.expires)),
        line('the one before is good until', until(change.overlap_until)),
      ];
    case 'revoke-token':
      return [line('act', 'revoke a token of an agent'), line('token', change.token_id)];
  }
}

function scopeLines({ projects, connectors, verbs, on_behalf }: TokenScope): SummaryLines {
  return [
    { name: 'projects', value: projects.join(', ') },
    { name: 'connectors', value: connectors.join(', ') },
    { name: 'may', value: verbs.join(', ') },
    { name: 'may ask on behalf of others', value: on_behalf ? 'yes' : 'no' },
  ];
}
