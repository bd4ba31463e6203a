/**
 * The trust configuration that `init` writes: few lines, each with its reason. It is text, because a person reads it.
 */
import { readTemplate, type TemplateName } from './templates.js';

export interface RecipeOptions {
  /** The name of the ledger. */
  readonly name: string;
  /** Repositories that `git-local` may change, by alias. */
  readonly repositories: Readonly<Record<string, string>>;
  /** Names of agents besides `local`. */
  readonly agents: readonly string[];
  /** The folder in which `shell-noop` leaves its files; none, and there is no such connector. */
  readonly noopFolder?: string;
  /** The rule pack that policy and approval rules come from. */
  readonly template?: TemplateName;
  /** Where the pages stand on which passkeys are made and used; `http://localhost:8787` when absent. */
  readonly page?: URL;
}

export async function trustRecipe(options: RecipeOptions): Promise<string> {
  const { stringify } = await import('./yaml.js');
  const { name, repositories, agents, noopFolder, template, page = new URL('http://localhost:8787') } = options;
  const connectors = {
    ...(Object.keys(repositories).length === 0
      ? {}
      : {
          'git-local': {
            repositories: Object.fromEntries(Object.entries(repositories).map(([alias, path]) => [alias, { path }])),
          },
        }),
    ...(noopFolder === undefined ? {} : { 'shell-noop': { dir: noopFolder } }),
  };
  return [
    '# The trust configuration of this gate. It counts from the moment it is applied:',
    '#   countersign config diff     what would change',
    '#   countersign config apply    asks an operator to sign the change',
    'version: 1',
    stringify({ name }).trimEnd(),
    '# enforce: what needs a person waits for one.',
    'mode: enforce',
    '# Agents that a process of this user may speak as, with --by agent:NAME. An agent may have an owner: human:NAME.',
    stringify({ agents: Object.fromEntries(['local', ...agents].map((agent) => [agent, {}])) }).trimEnd(),
    '# Passkeys belong to a name: this one and no other. Change both before anybody made one.',
    stringify({ webauthn: { rp_id: page.hostname, origins: [page.origin] } }).trimEnd(),
    '# Doors out. git-local merges and writes in the repositories that are named here, as ALIAS#BRANCH.',
    stringify({ connectors }).trimEnd(),
    ...(template === undefined ? await plainRules() : [readTemplate(template).trimEnd()]),
    '',
  ].join('\n');
}

/** Policy and approval rules where no pack is named. */
async function plainRules(): Promise<readonly string[]> {
  const { stringify } = await import('./yaml.js');
  return [
    '# read and reversible actions run by themselves; irreversible and high impact ones need a signed approval.',
    stringify({ policy: { allow_unattended_irreversible: false } }).trimEnd(),
    '# Who may approve what: the first rule that matches stands; no rule, and nobody may.',
    stringify({
      approvals: [{ title: 'any confirmed approver', match: {}, approvers: ['*'], quorum: 1, separate: ['proposer'] }],
    }).trimEnd(),
  ];
}
