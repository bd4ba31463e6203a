/**
 * The verbs of a gate that programs reach over HTTP.
 */
import type { Command } from 'commander';
import type { AgentOptions } from './commands/agent.js';
import type { ServeOptions } from './commands/serve.js';
import { TOKEN_VERBS } from './options.js';
import { repeated, run, verb } from './verbs.js';

const id = 'tok_01JD0000000000000000000000';

export function addServe(program: Command): void {
  const serve = verb(program, 'serve', 'this gate over HTTP, until it is told to end', 'serve')
    .option('--public-url <url>', 'the address that people and programs use; http://localhost:8787 unless given')
    .addOption(repeated('--listen <host:port>', 'where to listen behind a proxy; may be given again'));
  run<ServeOptions>(serve, async (options) => (await import('./commands/serve.js')).serve(options));
}

export function addAgent(program: Command): void {
  const load = () => import('./commands/agent.js');
  const agent = program.command('agent').description('programs that come over HTTP, by their tokens');
  const add = verb(
    agent,
    'add <name>',
    'make a token of an agent; an operator signs for it',
    'agent add deploy-bot --project web --may read --may propose',
  )
    .addOption(repeated('--project <pattern>', 'a project that it may name; may be given again'))
    .addOption(repeated('--connector <pattern>', 'a connector that it may name; may be given again'))
    .addOption(repeated('--may <verb>', 'what it may do; may be given again', [...TOKEN_VERBS]))
    .option('--on-behalf', 'it may name others on whose behalf it asks')
    .option('--for <duration>', 'how long the token is good; 90d unless given');
  run<AgentOptions>(add, async (options, [name = '']) => (await load()).add(name, options));
  run(verb(agent, 'list', 'every token, and until when it is good', 'agent list'), async () => (await load()).list());
  const rotate = verb(
    agent,
    'rotate <token>',
    'a token in the place of another, which stays good for a while',
    `agent rotate ${id} --overlap 1d`,
  )
    .option('--for <duration>', 'how long the new one is good; 90d unless given')
    .option('--overlap <duration>', 'how long the one before stays good; 1d unless given');
  run<AgentOptions>(rotate, async (options, [token = '']) => (await load()).rotate(token, options));
  run(
    verb(agent, 'revoke <token>', 'ask an operator to take it back', `agent revoke ${id}`),
    async (_o, [token = '']) => (await load()).revoke(token),
  );
}
