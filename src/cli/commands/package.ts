/**
 * Packages: created, changed by envelopes, confirmed by a person, released. A refused envelope comes with the
 * correction to show to the model that wrote it.
 */
import { Refusal } from '../../core/index.js';
import { paint, shown, timeText, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { noteSigners } from './people.js';
import { readContent, rowCount } from './propose.js';

export function create(packageId: string, intent: string): Command {
  return async ({ gate, output }) => {
    const created = await (await gate()).packages.create(packageId, intent);
    output.value(created);
    output.line(created.package_id);
    output.note(created.created ? paint.good('created') : 'it was there already, with the same intent');
    output.note(`next: countersign package prompt ${created.package_id}`);
    return undefined;
  };
}

export interface ApplyOptions {
  readonly receipt?: string;
}

/** Applies the envelope of a file. What was wrong goes to standard error as words for a model. */
export function apply(file: string, options: ApplyOptions): Command {
  return async ({ gate, output }) => {
    const { correctionFor } = await import('../../app/index.js');
    const opened = await gate();
    const { parseJson } = await import('../../core/index.js');
    const receipt =
      options.receipt === undefined ? undefined : parseJson(readContent(options.receipt), { code: 'format' });
    try {
      const applied = await opened.packages.apply(readContent(file), receipt === undefined ? {} : { receipt });
      output.value(applied);
      const again = applied.replayed ? ' (accepted before: nothing changed)' : '';
      output.line(
        `${paint.good('accepted')}: ${applied.action}, revision ${applied.revision}, ${applied.state}${again}`,
      );
      if (applied.state === 'SUMMARY_PENDING') output.note(`next: countersign package confirm ${applied.package_id}`);
      return undefined;
    } catch (error) {
      if (error instanceof Refusal && error.details?.['defects'] !== undefined) {
        output.note(correctionFor(error).trimEnd());
      }
      throw error;
    }
  };
}

export function status(packageId: string): Command {
  return async ({ gate, output }) => {
    const { manifest, manifest_sha256 } = await (await gate()).packages.status(packageId);
    output.value({ manifest, manifest_sha256 });
    const { state, revision, inputs, objective, summary, artifacts, intent } = manifest;
    const rows: readonly (readonly [string, string])[] = [
      ['package', packageId],
      ['state', state],
      ['revision', String(revision)],
      ['intent', intent.clarified ?? intent.raw],
      ['inputs', String(inputs.length)],
      ['objective', objective?.statement ?? 'none yet'],
      ['summary', summary === null ? 'none' : `${summary.canonical_sha256}, ${summary.confirmation.status}`],
      ...(summary?.confirmation.operator_id ? ([['confirmed by', summary.confirmation.operator_id]] as const) : []),
      ...artifacts.map(
        ({ logical_path, sha256, byte_count }) => ['draft', `${logical_path}, ${byte_count} bytes, ${sha256}`] as const,
      ),
      ['updated', manifest.updated_at],
      ['manifest', manifest_sha256],
    ];
    for (const [name, value] of rows) output.line(`${name}: ${shown(value)}`);
    const next = nextOf(packageId, state);
    if (next !== undefined) output.note(`next: ${next}`);
    return undefined;
  };
}

function nextOf(packageId: string, state: string): string | undefined {
  if (state === 'SUMMARY_PENDING') return `countersign package confirm ${packageId}`;
  if (state === 'DRAFT_READY') return `countersign package release ${packageId} --project NAME --target ALIAS#BRANCH`;
  return state === 'CANCELLED' ? undefined : `countersign package prompt ${packageId}`;
}

/** The exact bytes with `--json`; for people each line made safe for a terminal. */
export function summary(packageId: string): Command {
  return async ({ gate, output }) => {
    const { manifest } = await (await gate()).packages.status(packageId);
    if (manifest.summary === null) throw new Refusal('GATE_UNSATISFIED', 'the package has no summary: prepare_summary');
    output.value(manifest.summary);
    for (const line of manifest.summary.content.split('\n').slice(0, -1)) output.line(shown(line));
    output.note(`fingerprint ${manifest.summary.canonical_sha256}, ${manifest.summary.confirmation.status}`);
    return undefined;
  };
}

export function confirm(packageId: string, signer: string | undefined): Command {
  return async ({ gate, output }) => {
    const issued = await (await gate()).packages.requestConfirmation(packageId, signer);
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}

export interface ValidateOptions {
  readonly envelope?: string;
}

export function validate(packageId: string | undefined, options: ValidateOptions): Command {
  return async ({ gate, output }) => {
    if ((packageId === undefined) === (options.envelope === undefined)) {
      throw new Refusal('usage', 'one of a package and --envelope says what is validated');
    }
    const { packages } = await gate();
    if (packageId === undefined) return judge(packages, options.envelope ?? '', output);
    const replay = await packages.verify(packageId);
    if (replay.defect !== undefined) {
      const { revision, what } = replay.defect;
      throw new Refusal('MANIFEST_INVALID', `at revision ${revision}: ${what}`, { details: { revision } });
    }
    output.value(replay);
    const erased = replay.erased === 0 ? '' : `, ${replay.erased} erased and not recomputed`;
    output.line(`${paint.good('good')}: ${replay.revisions} revisions replayed${erased}`);
    return undefined;
  };
}

async function judge(packages: OpenGate['packages'], file: string, output: Parameters<Command>[0]['output']) {
  const checked = await packages.check(readContent(file));
  output.value(checked);
  const word = checked.replayed ? 'accepted before: it would change nothing' : 'it would be accepted now';
  output.line(`${paint.good('good')}: ${checked.action} for ${checked.package_id}, ${word}`);
  return undefined;
}

export interface ListOptions {
  readonly state?: readonly string[];
  readonly limit?: string;
  readonly after?: string;
}

export function list(options: ListOptions): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const limit = options.limit === undefined ? undefined : rowCount(options.limit);
    const { rows, next } = await opened.packages.list({
      ...(options.state === undefined ? {} : { states: options.state }),
      ...(limit === undefined ? {} : { limit }),
      ...(options.after === undefined ? {} : { after: options.after }),
    });
    output.value({ packages: rows, ...(next === undefined ? {} : { next }) });
    const now = opened.services.clock.now();
    const cells = rows.map(({ id, status = '', revision, updated }) => [
      id,
      status,
      String(revision),
      timeText(updated, now),
    ]);
    await writeTable(output, ['package', 'state', 'revision', 'updated'], cells);
    if (next !== undefined) output.note(`more: --after ${next}`);
    return undefined;
  };
}

export interface PromptOptions {
  readonly tools?: boolean;
}

/** The prompt goes out as it is: it is made of the schema's own words, and of values that were checked. */
export function prompt(packageId: string, options: PromptOptions): Command {
  return async ({ gate, output }) => {
    const { packages } = await gate();
    if (options.tools === true) {
      const tools = await packages.tools(packageId);
      output.value({ tools });
      output.line(JSON.stringify(tools, null, 2));
      return undefined;
    }
    const text = await packages.prompt(packageId);
    output.value({ prompt: text });
    output.line(text.trimEnd());
    return undefined;
  };
}

export interface ReleaseOptions {
  readonly project?: string;
  readonly target: string;
  readonly message?: string;
  readonly connector?: string;
}

export function release(packageId: string, options: ReleaseOptions): Command {
  return async ({ gate, output, settings }) => {
    const project = options.project ?? (await settings()).project;
    if (project === undefined) throw new Refusal('usage', 'a release needs --project');
    const opened = await gate();
    const { action_id, joined } = await opened.packages.release(packageId, {
      project,
      target: options.target,
      ...(options.message === undefined ? {} : { message: options.message }),
      ...(options.connector === undefined ? {} : { connector: options.connector }),
    });
    const { state } = await opened.show(action_id);
    output.value({ action_id, joined, state });
    output.line(action_id);
    if (joined) output.note('asked for before: this is the same action');
    if (state === 'proposed') output.note(`next: countersign action request ${action_id}`);
    if (state === 'approved') output.note(`next: countersign action execute ${action_id}`);
    return undefined;
  };
}
