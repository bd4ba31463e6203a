/**
 * `action propose`: asks for an effect. With `--dry-run` it only tells what would be decided.
 */
import { FILE_REASONS, readPlainFile, readStandardInput, textOf } from '../../app/internal.js';
import {
  type ActionClass,
  DURATION_WORDS,
  isJsonObject,
  type JsonObject,
  LIMITS,
  parseDuration,
  parseJson,
  Refusal,
} from '../../core/index.js';
import { outcomeWord, paintState, shown } from '../output.js';
import type { Command, OpenGate, Settings } from '../run.js';

export interface ProposeOptions {
  readonly connector?: string;
  readonly operation?: string;
  readonly project?: string;
  readonly target?: string;
  readonly args?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly class?: ActionClass;
  readonly workItem?: string;
  readonly approver?: readonly string[];
  readonly approveWithin?: string;
  readonly launchWithin?: string;
  readonly idempotencyKey?: string;
  readonly content?: readonly string[];
  readonly dryRun?: boolean;
  readonly like?: string;
}

export function propose(options: ProposeOptions): Command {
  return async ({ gate, output, settings }) => {
    const opened = await gate();
    const asked = { ...proposalSettings(await settings()), ...options };
    if (options.dryRun === true) {
      const explained = await opened.explain(proposalOf(asked));
      output.value(explained);
      output.line(`decision: ${outcomeWord(explained.decision.outcome)} (${shown(explained.decision.reason)})`);
      output.line(`risk: ${explained.class === 'costly' ? 'high impact' : explained.class}`);
      output.line(`approvers: ${explained.approvers.map(shown).join(', ') || 'nobody'}`);
      for (const [name, value] of Object.entries(explained.preconditions ?? {})) {
        output.line(`must still hold ${shown(name)}: ${shown(value)}`);
      }
      if (explained.preview !== undefined) output.line(previewText(explained.preview.text));
      output.line('nothing was written');
      return undefined;
    }
    const proposed =
      options.like === undefined ? await opened.propose(proposalOf(asked)) : await proposeAgain(opened, options);
    const state = await opened.show(proposed.action_id);
    const { outcome, determined_by, reason } = state.decision;
    output.value({ ...proposed, policy: { outcome, rule: determined_by[0] ?? null, reason } });
    output.line(proposed.action_id);
    const joined = proposed.joined ? ' (asked for before: this is the same action)' : '';
    output.note(`${paintState(proposed.state, state.authorization?.kind === 'policy')}${joined}`);
    if (proposed.state === 'proposed') output.note(shown(reason));
    if (proposed.state === 'proposed') output.note(`next: countersign action request ${proposed.action_id}`);
    if (proposed.state === 'approved') output.note(`next: countersign action execute ${proposed.action_id}`);
    return undefined;
  };
}

/** What a proposal says of itself. */
const OWN = [
  ...(['connector', 'operation', 'project', 'target', 'args', 'amount', 'currency', 'class', 'workItem'] as const),
  ...(['approver', 'approveWithin', 'launchWithin', 'content'] as const),
];

/** INVARIANT: what is asked for again is what was asked for before, and nothing is passed over (cli.like.whole). */
function proposeAgain(gate: OpenGate, { like = '', idempotencyKey, ...others }: ProposeOptions) {
  if (OWN.some((name) => others[name] !== undefined)) {
    const next = 'leave `--like` out to ask for something else';
    throw new Refusal('usage', '`--like` takes what that action has, and only --idempotency-key beside it', { next });
  }
  return gate.proposeLike(like, idempotencyKey === undefined ? {} : { idempotencyKey });
}

/** What the environment and the project's file say of a proposal, as if options had said it. */
function proposalSettings({ project, connector, approve_within, launch_within }: Settings): ProposeOptions {
  return {
    ...(project === undefined ? {} : { project }),
    ...(connector === undefined ? {} : { connector }),
    ...(approve_within === undefined ? {} : { approveWithin: approve_within }),
    ...(launch_within === undefined ? {} : { launchWithin: launch_within }),
  };
}

/** A diff or a table, line by line, each made safe for a terminal. */
export function previewText(text: string): string {
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  return lines
    .split('\n')
    .map((line) => `  | ${shown(line.replaceAll('\t', '    '))}`)
    .join('\n');
}

/** The proposal that options name, with the defaults of the project. */
export function proposalFrom(options: ProposeOptions, settings: Settings) {
  return proposalOf({ ...proposalSettings(settings), ...options });
}

function proposalOf(options: ProposeOptions) {
  const { connector, operation, project, target } = options;
  if (!connector || !operation || !project || !target) {
    throw new Refusal('usage', 'a proposal needs --connector, --operation, --project and --target, or --like');
  }
  return {
    connector,
    operation,
    project,
    target,
    args: readArgs(options.args),
    ...(options.amount === undefined ? {} : { amount: wholeNumber(options.amount, 'amount') }),
    ...(options.currency === undefined ? {} : { currency: options.currency }),
    ...(options.class === undefined ? {} : { class: options.class }),
    ...(options.workItem === undefined ? {} : { work_item: options.workItem }),
    ...(options.approver === undefined ? {} : { approvers: [...options.approver] }),
    ...(options.approveWithin === undefined ? {} : { approve_within_ms: duration(options.approveWithin) }),
    ...(options.launchWithin === undefined ? {} : { launch_within_ms: duration(options.launchWithin) }),
    ...(options.idempotencyKey === undefined ? {} : { idempotency_key: options.idempotencyKey }),
    ...(options.content === undefined ? {} : { content: options.content.map(readContent) }),
  };
}

/** JSON in the option itself, `@FILE`, or `-` for standard input; read strictly. */
function readArgs(option: string | undefined): JsonObject {
  if (option === undefined) return {};
  const text = option === '-' ? readContent('-') : option.startsWith('@') ? readContent(option.slice(1)) : option;
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Refusal('invalid', 'the arguments are not a JSON object', { path: 'args' });
  return value;
}

/** The bytes of a file, or of the standard input for `-`. Refuses `invalid`. */
export function readContent(path: string): Uint8Array {
  const isStandard = path === '-';
  const read = isStandard ? readStandardInput(LIMITS.contentBytesMax) : readPlainFile(path, LIMITS.contentBytesMax);
  if (read.ok) return read.bytes;
  const what = isStandard ? 'the standard input' : `the file \`${shown(path)}\``;
  const next = read.reason === 'not_plain' ? { next: '`-` reads what is piped to the command' } : {};
  throw new Refusal('invalid', `${what} ${FILE_REASONS[read.reason]}`, next);
}

/** The same, as text. */
export function readText(path: string): string {
  return textOf(readContent(path));
}

/** How many rows of a page: digits alone, as everywhere. Which numbers a page may have, its list says. */
export function rowCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Refusal('invalid', '`--limit` is a whole number of rows', { path: 'limit' });
}

function wholeNumber(text: string, path: string): number {
  if (!/^\d{1,16}$/.test(text)) throw new Refusal('invalid', `\`${path}\` is a whole number of minor units`, { path });
  return Number(text);
}

/** `90s`, `15m`, `24h` or `7d` in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Refusal('usage', DURATION_WORDS);
}
