/**
 * The trust configuration as a draft in a file: what it would change, and asking for it.
 */
import { resolve } from 'node:path';
import { EXIT, type Output, paint, shown } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { differenceLines, wholeDays } from './policy.js';

export interface DiffOptions {
  readonly days?: string;
}

/** What the file changes, which decisions of the last days it would have made otherwise, and what becomes void. */
export function configDiff(file: string | undefined, options: DiffOptions): Command {
  return async ({ gate, output }) => {
    const days = wholeDays(options.days);
    const opened = await gate();
    const { draft, changes, pending } = await compared(opened, file);
    const { draftEngine, simulate } = await import('../../app/internal.js');
    const isSame = changes.length === 0;
    const simulated = isSame ? undefined : await simulate(opened, draftEngine(), draft.config, days);
    output.value({
      policy_version: draft.version,
      changes,
      actions_that_become_void: pending,
      decisions: simulated ?? null,
      findings: draft.findings,
    });
    if (isSame) output.line('the file is the active version');
    for (const { path, before, after } of changes) {
      output.line(`${shown(path)}`);
      output.line(`  ${paint.bad(`- ${shown(before)}`)}`);
      output.line(`  ${paint.good(`+ ${shown(after)}`)}`);
    }
    if (simulated === undefined) return undefined;
    for (const line of differenceLines(simulated, days)) output.line(line);
    output.line(`${pending} open actions could no longer be approved or launched`);
    for (const problem of draft.problems) output.note(paint.warn(shown(problem)));
    return undefined;
  };
}

/** Asks an operator to sign the configuration of a file; it becomes active with the signature. */
export function configApply(file: string | undefined): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const { draft, changes } = await compared(opened, file);
    if (changes.length === 0) {
      output.value({ policy_version: draft.version, changed: false });
      output.line('the file is the active version');
      return EXIT.done;
    }
    const { demandSound } = await import('../../app/internal.js');
    demandSound(draft);
    return requestApply(opened, output, draft.config);
  };
}

async function requestApply(
  opened: OpenGate,
  output: Output,
  config: ReturnType<OpenGate['services']['trust']>['config'],
): Promise<number> {
  const active = opened.services.trust();
  const issued = await opened.requestAct({ kind: 'config', config, base: active.version, before: active.config });
  output.value(issued);
  for (const line of issued.summary) output.line(line);
  output.note(`next: countersign approver sign ${issued.request.request_id}`);
  return EXIT.done;
}

async function compared(opened: OpenGate, file: string | undefined) {
  const { configChanges, policyVersion } = await import('../../app/index.js');
  const { checkPolicyFile } = await import('../../app/internal.js');
  const path = file === undefined ? opened.home.trustFile : resolve(file);
  const { text, findings, tests } = await checkPolicyFile(path, opened.home);
  const { config } = text;
  const changes = configChanges(opened.services.trust().config as never, config as never);
  const pending = changes.length === 0 ? 0 : await countPending(opened);
  const problems = [
    ...findings.map(({ where, what }) => `${where}: ${what}`),
    ...tests.filter(({ passed }) => !passed).map(({ title }) => `test failed: ${title}`),
  ];
  return { draft: { config, version: policyVersion(config), findings, tests, problems }, changes, pending };
}

/** Actions that wait for an approval or a launch, over all pages. */
async function countPending(opened: OpenGate): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ; ) {
    const page = await opened.list({ states: ['proposed', 'approved'], ...(after === undefined ? {} : { after }) });
    count += page.rows.length;
    if (page.next === undefined) return count;
    after = page.next;
  }
}
