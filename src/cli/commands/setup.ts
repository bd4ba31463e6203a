/**
 * Setting a gate up and keeping it: `init`, `doctor`, `backup`, `restore`.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PATTERNS, Refusal } from '../../core/index.js';
import type { TEMPLATE_NAMES } from '../options.js';
import { EXIT, type Output, paint, shown } from '../output.js';
import type { Command } from '../run.js';
import { askText, hasTerminal, readPassphrase } from '../terminal.js';
import { confirmFirst } from './people.js';

export interface InitOptions {
  readonly name?: string;
  readonly approver?: string | false;
  readonly repository?: readonly string[];
  readonly agent?: readonly string[];
  readonly noopFolder?: string;
  readonly template?: (typeof TEMPLATE_NAMES)[number];
  readonly store?: string;
  readonly project?: string;
  readonly passphraseFrom?: string;
}

export function init(options: InitOptions): Command {
  return async ({ output, options: common }) => {
    const app = await import('../../app/index.js');
    const { makeFolder } = await import('../../app/internal.js');
    const home = app.homeAt(common.home, app.readEnvironment());
    // Nobody is asked anything for a home that can't be.
    app.checkHome(home);
    demandNames(options);
    const { project } = options;
    if (project !== undefined && isProjectAlone(options) && existsSync(home.seenFile)) {
      output.value({ home: home.folder, project, file: await writeProject(output, options, project) });
      return undefined;
    }
    const approver = await approverName(options);
    const name = options.name ?? (hasTerminal() ? await askText('A name for this ledger', 'my gate') : 'my gate');
    const trust = await app.trustRecipe({
      name,
      repositories: repositoriesOf(options.repository ?? []),
      agents: options.agent ?? [],
      ...(options.noopFolder === undefined ? {} : { noopFolder: resolve(options.noopFolder) }),
      ...(options.template === undefined ? {} : { template: options.template }),
    });
    if (options.noopFolder !== undefined) makeFolder(resolve(options.noopFolder), 'noop-folder');
    const { ledgerId } = await app.initialize(home, {
      trust,
      ...(options.store === undefined ? {} : { store: options.store }),
    });
    output.note(`home: ${shown(home.folder)}`);
    output.note(`configuration: ${shown(home.trustFile)}`);
    output.line(`ledger ${ledgerId}`);
    if (options.project !== undefined) await writeProject(output, options, options.project);
    if (approver === undefined) {
      output.value({ ledger_id: ledgerId, home: home.folder, approver: null });
      output.note(`${paint.warn('nobody may approve yet')}`);
      output.note('next: countersign approver key NAME, in a terminal');
      return undefined;
    }
    const opened = await app.open({ home: home.folder });
    try {
      const passphrase = await readPassphrase(options.passphraseFrom, `A passphrase for the key of ${approver}`, true);
      const made = await app.makeKey(ledgerId, approver, passphrase, app.keyPath(home, approver));
      await confirmFirst(output, opened, made.path, made.code);
    } catch (error) {
      throw goingOn(error, approver);
    } finally {
      await opened.close();
    }
    output.value({ ledger_id: ledgerId, home: home.folder, approver });
    output.line(`${paint.good('confirmed')}: ${approver} may approve, and is the operator of this ledger`);
    output.note('next: countersign doctor');
    return undefined;
  };
}

/** Refuses `invalid` for a name that can be none. */
function demandNames({ agent, project }: InitOptions): void {
  if (agent?.some((name) => !PATTERNS.name.test(name)) === true) {
    throw new Refusal('invalid', 'an agent is named by letters, digits, `.`, `_` and `-`', { path: 'agent' });
  }
  if (project !== undefined && !PATTERNS.project.test(project)) {
    throw new Refusal('invalid', 'this is no name of a project', { path: 'project' });
  }
}

/** Whether nothing is said of a gate: where one is there already, its project's file is all that is asked for. */
function isProjectAlone(options: InitOptions): boolean {
  const { name, approver, repository, agent, noopFolder, template, store, passphraseFrom } = options;
  const said = [name, approver, repository, agent, noopFolder, template, store, passphraseFrom];
  return said.every((one) => one === undefined);
}

/** The ledger is there by then: what was not confirmed is gone on with, and not begun again. */
function goingOn(error: unknown, approver: string): unknown {
  if (!(error instanceof Refusal)) return error;
  const next = `the ledger is made: go on with \`countersign approver key ${approver.slice('human:'.length)}\``;
  return new Refusal(error.code, error.message, { next });
}

/** A first `countersign.yaml` here, with what `init` was told, and its path; one that is there stays. */
async function writeProject(output: Output, options: InitOptions, project: string): Promise<string | null> {
  const { writeStarter } = await import('../../app/internal.js');
  const [agent, ...others] = options.agent ?? [];
  const path = writeStarter(process.cwd(), {
    project,
    ...(options.repository === undefined ? {} : { connector: 'git-local' }),
    ...(agent === undefined || others.length > 0 ? {} : { by: `agent:${agent}` }),
  });
  output.note(path === undefined ? 'there is a countersign.yaml here: it stays' : `defaults: ${shown(path)}`);
  return path ?? null;
}

async function approverName(options: InitOptions): Promise<string | undefined> {
  if (options.approver === false) return undefined;
  if (options.approver === undefined && !hasTerminal()) return undefined;
  if (!hasTerminal()) throw new Refusal('no_terminal', 'the first approver is confirmed at a terminal');
  const typed = options.approver ?? (await askText('Your name, as the first approver'));
  const person = typed.startsWith('human:') ? typed : `human:${typed}`;
  if (!PATTERNS.human.test(person))
    throw new Refusal('invalid', 'a person is named `human:NAME`', { path: 'approver' });
  return person;
}

/** `ALIAS=PATH` pairs. */
function repositoriesOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Refusal('usage', 'a repository is named as `ALIAS=PATH`');
      return [pair.slice(0, at), resolve(pair.slice(at + 1))];
    }),
  );
}

export function doctor(): Command {
  return async ({ output, options, log }) => {
    const { examine } = await import('../../app/index.js');
    // A log that can't be had is among the findings.
    const told = await log().catch(() => undefined);
    const findings = await examine({
      ...(options.home === undefined ? {} : { home: options.home }),
      ...(options.by === undefined ? {} : { as: options.by }),
      ...(told === undefined ? {} : { log: told }),
    });
    output.value({ findings });
    for (const { name, level, found, next } of findings) {
      const mark =
        level === 'ok' ? paint.good('ok     ') : level === 'warning' ? paint.warn('warning') : paint.bad('problem');
      output.line(`${mark} ${name}: ${shown(found)}`);
      if (next !== '') output.line(`        next: ${shown(next)}`);
    }
    return findings.some(({ level }) => level === 'problem') ? EXIT.refused : EXIT.done;
  };
}

export function backup(file: string): Command {
  return async ({ gate, output }) => {
    const { backupTo } = await import('../../app/index.js');
    const done = await backupTo(await gate(), file);
    output.value(done);
    output.line(`${shown(done.path)}: ${done.events} events, verified`);
    output.note(`keys are not in it: keep a copy of ${shown((await gate()).home.keysFolder)} apart`);
    return undefined;
  };
}

/** Puts a backup back, or without one accepts the store as it stands; an operator signs for it. */
export function restore(file: string | undefined): Command {
  return async ({ gate, output, options }) => {
    const app = await import('../../app/index.js');
    const home = app.homeAt(options.home, app.readEnvironment());
    if (file !== undefined) {
      const { kept } = await app.placeBackup(home, file, Date.now());
      if (kept !== undefined) output.note(`the store before is kept: ${shown(kept)}`);
      output.note('the backup is in its place; nothing is launched until an operator has signed');
    }
    const opened = await gate();
    // Without the key a restore would end half-way, at the first action whose thread has to be told.
    opened.threadPublicKey();
    const head = await opened.ledger.head();
    const { epoch, sequence, log_hash } = opened.seen() ?? {
      epoch: 0,
      sequence: head.sequence,
      log_hash: head.logHash,
    };
    const issued = await opened.requestAct({
      kind: 'restore',
      sequence: head.sequence,
      log_hash: head.logHash,
      remembered: { epoch, sequence, log_hash },
    });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    output.note(`next: countersign approver sign ${issued.request.request_id}`);
    return undefined;
  };
}
