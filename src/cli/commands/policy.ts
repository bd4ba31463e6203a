/**
 * Policy on the command line: what it says, why, whether it is sound, and what a draft would change.
 */
import { resolve } from 'node:path';
import { Refusal } from '../../core/index.js';
import { EXIT, type Output, outcomeWord, paint, shown, timeText } from '../output.js';
import type { Command, CommandContext } from '../run.js';
import { type ProposeOptions, proposalFrom } from './propose.js';

type Internal = typeof import('../../app/internal.js');
type Explanation = Awaited<ReturnType<Internal['explainInFull']>>[number];
type Simulated = Awaited<ReturnType<Internal['simulate']>>;

/** The active configuration; with `--cedar` what it says in Cedar. */
export function show(options: { readonly cedar?: boolean }): Command {
  return async ({ gate, output }) => {
    const { version, config } = (await gate()).services.trust();
    if (options.cedar === true) {
      const { cedarOf } = await import('../../app/internal.js');
      const policies = cedarOf(config);
      output.value({ policy_version: version, policies });
      for (const { name, text } of policies) {
        output.line(paint.dim(`// ${shown(name)}`));
        for (const line of text.split('\n')) output.line(shown(line));
        output.line();
      }
      return undefined;
    }
    output.value({ policy_version: version, config });
    output.line(`policy version ${version}`);
    for (const line of JSON.stringify(config, null, 2).split('\n')) output.line(shown(line));
    return undefined;
  };
}

/** The decisions of an action (`act_…`), a decision (`dec_…`), or with `--what-if` of a proposal. */
export function explain(id: string | undefined, options: ProposeOptions & { readonly whatIf?: boolean }): Command {
  return async (context) => {
    const { gate, output } = context;
    const { explainInFull } = await import('../../app/internal.js');
    if (options.whatIf === true) return explainWhatIf(context, options);
    if (id === undefined) throw new Refusal('usage', 'name an action, a decision, or give --what-if');
    const explained = await explainInFull(await gate(), id);
    output.value({ decisions: explained });
    for (const one of explained) {
      const { decision, action_id, at } = one;
      output.line(
        `${action_id} at ${at}: ${paint.bold(outcomeWord(decision.outcome))} ${paint.dim(decision.decision_id)}`,
      );
      writeReasons(output, one);
    }
    return undefined;
  };
}

async function explainWhatIf({ gate, output, settings }: CommandContext, options: ProposeOptions): Promise<undefined> {
  const { explainQuestion } = await import('../../app/internal.js');
  const opened = await gate();
  const explained = await opened.explain(proposalFrom(options, await settings()));
  const why = await explainQuestion(opened, explained.facts, explained.decision);
  output.value({ ...explained, ...why });
  output.line(`decision: ${paint.bold(outcomeWord(explained.decision.outcome))}`);
  writeReasons(output, { ...why, decision: explained.decision });
  output.line(`  risk: ${explained.class}`);
  output.line(`  approvers: ${explained.approvers.map(shown).join(', ') || 'nobody'}`);
  output.line('nothing was written');
}

function writeReasons(
  output: Output,
  { decision, places, facts, nearest }: Pick<Explanation, 'decision' | 'places' | 'facts' | 'nearest'>,
): void {
  output.line(`  ${shown(decision.reason)}`);
  for (const rule of decision.determined_by) {
    const place = places[rule];
    output.line(`  by ${shown(rule)}${place == null ? '' : paint.dim(` at ${shown(place)}`)}`);
  }
  for (const [name, value] of Object.entries(facts)) {
    output.line(paint.dim(`  ${name.padEnd(14)} ${shown(typeof value === 'string' ? value : JSON.stringify(value))}`));
  }
  if (nearest === null) return;
  output.line(
    `  nearest: ${shown(nearest.rule)}${nearest.place === null ? '' : paint.dim(` at ${shown(nearest.place)}`)}`,
  );
  for (const words of nearest.failing) output.line(`    it would need: ${shown(words)}`);
}

async function checked(context: CommandContext, file: string | undefined) {
  const { homeAt, readEnvironment } = await import('../../app/index.js');
  const { checkPolicyFile } = await import('../../app/internal.js');
  const home = homeAt(context.options.home, readEnvironment());
  return checkPolicyFile(file === undefined ? home.trustFile : resolve(file), home);
}

/** Whether every policy can be evaluated for every operation. */
export function check(file: string | undefined): Command {
  return async (context) => {
    const { output } = context;
    const { findings } = await checked(context, file);
    output.value({ findings });
    for (const { level, place, where, what } of findings) {
      const mark = level === 'problem' ? paint.bad('problem') : paint.warn('warning');
      output.line(`${mark} ${place === null ? '' : `line ${shown(place)}: `}${shown(where)}: ${shown(what)}`);
    }
    const problems = findings.filter(({ level }) => level === 'problem').length;
    if (problems === 0) output.line(paint.good('every policy can be evaluated for every operation'));
    return problems === 0 ? EXIT.done : EXIT.refused;
  };
}

/** The test cases of the file. */
export function test(file: string | undefined): Command {
  return async (context) => {
    const { output } = context;
    const { tests } = await checked(context, file);
    output.value({ tests });
    for (const { passed, line, title, expected, found, answer } of tests) {
      output.line(`${passed ? paint.good('ok  ') : paint.bad('FAIL')} line ${line}: ${shown(title)}`);
      if (!passed) output.line(`     expected ${expected}, found ${found}: ${shown(answer.reason)}`);
    }
    const failed = tests.filter(({ passed }) => !passed).length;
    output.line(`${tests.length} tests, ${failed} failed`);
    return failed === 0 ? EXIT.done : EXIT.refused;
  };
}

/** A draft tried on what was proposed in the last days. */
export function simulate(file: string | undefined, options: { readonly days?: string }): Command {
  return async (context) => {
    const { gate, output } = context;
    const days = wholeDays(options.days);
    const { text } = await checked(context, file);
    const { draftEngine, simulate: run } = await import('../../app/internal.js');
    const simulated = await run(await gate(), draftEngine(), text.config, days);
    output.value(simulated);
    for (const line of differenceLines(simulated, days)) output.line(line);
    return undefined;
  };
}

/** What a simulation found, for people. */
export function differenceLines(simulated: Simulated, days: number): readonly string[] {
  const { actions, isCut, skipped, differences } = simulated;
  const cut = isCut ? ', the newest of more' : '';
  const without = skipped === 0 ? '' : `; ${skipped} can not be judged again`;
  return [
    `${differences.length} of ${actions} decisions of the last ${days} days would be others${cut}${without}`,
    ...differences.flatMap(({ action_id, proposed_at, what, before, after, reason }) => [
      `${action_id} ${paint.dim(timeText(proposed_at, Date.now()))} ${shown(what)}`,
      `  ${outcomeWord(before)} -> ${paint.bold(outcomeWord(after))}: ${shown(reason)}`,
    ]),
  ];
}

/** A number of days from 1 to 366; 30 unless given. */
export function wholeDays(text = '30'): number {
  const days = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > 366) throw new Refusal('usage', '`--days` is a whole number from 1 to 366');
  return days;
}
