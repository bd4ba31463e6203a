/**
 * Why policy says what it says, and changing what it says.
 */
import { resolve } from 'node:path';
import { Refusal } from '../../core/index.js';
import { EXIT, outcomeWord, paint, shown } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { type ProposeOptions, propose } from './propose.js';

export function show(): Command {
  return async ({ gate, output }) => {
    const { version, config } = (await gate()).services.trust();
    output.value({ policy_version: version, config });
    output.line(`policy version ${version}`);
    for (const line of JSON.stringify(config, null, 2).split('\n')) output.line(shown(line));
    return undefined;
  };
}

/** The decisions of an action (`act_…`), a decision (`dec_…`), or with `--what-if` of a proposal. */
export function explain(id: string | undefined, options: ProposeOptions & { readonly whatIf?: boolean }): Command {
  if (options.whatIf === true) return propose({ ...options, dryRun: true });
  return async ({ gate, output }) => {
    if (id === undefined) throw new Refusal('usage', 'name an action, a decision, or give --what-if');
    const { explainDecision } = await import('../../app/index.js');
    const explained = await explainDecision(await gate(), id);
    output.value({ decisions: explained });
    for (const { at, action_id, decision } of explained) {
      output.line(
        `${action_id} at ${at}: ${paint.bold(outcomeWord(decision.outcome))} ${paint.dim(decision.decision_id)}`,
      );
      output.line(`  ${shown(decision.reason)}`);
      output.line(`  by ${decision.determined_by.map(shown).join(', ') || 'nothing'}`);
    }
    return undefined;
  };
}

export function configDiff(file: string | undefined): Command {
  return async ({ gate, output }) => {
    const { draft, changes, pending } = await compared(await gate(), file);
    output.value({ policy_version: draft.version, changes, actions_that_become_void: pending });
    if (changes.length === 0) output.line('the file is the active version');
    for (const { path, before, after } of changes) {
      output.line(`${shown(path)}`);
      output.line(`  ${paint.bad(`- ${shown(before)}`)}`);
      output.line(`  ${paint.good(`+ ${shown(after)}`)}`);
    }
    if (changes.length > 0) output.line(`${pending} open actions could no longer be approved or launched`);
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
    const active = opened.services.trust();
    const issued = await opened.requestAct({
      kind: 'config',
      config: draft.config,
      base: active.version,
      before: active.config,
    });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    output.note(`next: countersign approver sign ${issued.request.request_id}`);
    return EXIT.done;
  };
}

async function compared(opened: OpenGate, file: string | undefined) {
  const { configChanges, policyVersion, readTrustFile } = await import('../../app/index.js');
  const config = await readTrustFile(file === undefined ? opened.home.trustFile : resolve(file));
  const active = opened.services.trust();
  const changes = configChanges(active.config as never, config as never);
  const pending = changes.length === 0 ? 0 : await countPending(opened);
  return {
    draft: { config, version: policyVersion(config) },
    changes,
    pending,
  };
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
