/**
 * `countersign.yaml`: found in the working folder or the nearest one above it, and read strictly.
 */
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../core/index.js';
import type { Environment } from './config.js';
import { homeAt } from './home.js';
import { type Settings, settingsFrom, settingsIn } from './settings.js';
import { parseYaml, readConfigText } from './yaml-file.js';

const NAME = 'countersign.yaml';
const WHAT = 'configuration of the project';

export interface FoundSettings {
  readonly settings: Settings;
  /** The file of the project; undefined where there is none. */
  readonly file: string | undefined;
}

/** The nearest file of a project, from a folder upward. In the home of a gate that name is the home's own file. */
export function findProjectFile(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, NAME);
    if (isFile(path) && !isFile(homeAt(at, {}).trustFile)) return path;
    if (at === dirname(at)) return undefined;
  }
}

export interface StarterOptions {
  readonly project: string;
  readonly connector?: string;
  readonly by?: string;
}

/**
 * Writes a first file for a project into a folder, unless there is one; answers its path, or undefined. Refuses
 * `invalid` for a folder that can't be written.
 */
export function writeStarter(folder: string, { project, connector, by }: StarterOptions): string | undefined {
  const path = join(folder, NAME);
  const text = [
    '# yaml-language-server: $schema=node_modules/countersign/docs/reference/countersign.schema.json',
    '# Defaults of the countersign command line in this project. They decide nothing: what may run, and who approves,',
    '# stands in the trust configuration of the gate.',
    'version: 1',
    '# The project of a proposal: its thread records what becomes of it.',
    `project: ${project}`,
    ...(connector === undefined ? [] : ['# The connector of a proposal.', `connector: ${connector}`]),
    ...(by === undefined ? [] : ['# Whom commands here speak as, where the configuration allows it.', `by: ${by}`]),
    '# What is told on standard error: silent, error, warn or debug.',
    '# log: warn',
    '',
  ].join('\n');
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return path;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw new Refusal('invalid', `\`${path}\` can not be written`, { path: 'project' });
  }
}

/** A file that this user can see. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What variables and the project's file say. Refuses `config_invalid` and `config_location`, naming the file. */
export async function readSettings(environment: Environment): Promise<FoundSettings> {
  const file = environment.folder === undefined ? undefined : findProjectFile(environment.folder);
  const variables = settingsFrom(environment.variable);
  return { settings: { ...(file === undefined ? {} : await readProjectFile(file)), ...variables }, file };
}

/** Refuses `config_invalid` and `config_location`, naming the file. */
export async function readProjectFile(path: string): Promise<Settings> {
  const text = readConfigText(path, WHAT);
  try {
    return settingsIn(await parseYaml(text, WHAT));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, next, path: key } = error;
    throw new Refusal(code, `\`${path}\` ${message}`, { next, ...(key === undefined ? {} : { path: key }) });
  }
}
