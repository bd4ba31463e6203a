/**
 * What is no trust: defaults of the command line, from variables `COUNTERSIGN_…` and from `countersign.yaml` of a
 * project. One closed schema for both; a flag wins over a variable, a variable over the file.
 *
 * An agent can write that file, so nothing in it decides anything: it names no home, no connector's configuration, no
 * person and no policy, and a key that would is refused by its name. Whom it speaks as, the trust configuration has
 * to allow, as with `--by`.
 * Source: spec doors (configuration), authority (trust configuration).
 */
import * as z from 'zod';
import { DURATION, DURATION_WORDS, defectClause, defectIn, PATTERNS, Refusal } from '../core/index.js';
import { WrittenTrustConfig } from '../policy/index.js';
import type { YamlText } from './yaml-file.js';

/** What the log may be asked for, from nothing to everything. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'debug'] as const;
export type LogThreshold = (typeof LOG_LEVELS)[number];

const Name = z.string().regex(PATTERNS.project, 'a name has letters, digits and any of `._:/-`');
const Duration = z.string().regex(DURATION, DURATION_WORDS);

const fields = {
  project: Name.describe('The project of a proposal, where --project names none'),
  connector: Name.describe('The connector of a proposal, where --connector names none'),
  by: z
    .string()
    .regex(PATTERNS.agent, 'an agent is named `agent:NAME`')
    .describe('The agent that commands speak as, where --by names none and the trust configuration allows it'),
  approve_within: Duration.describe('How long a proposal waits for its approvals, where --approve-within says nothing'),
  launch_within: Duration.describe('How long an approved action may be launched, where --launch-within says nothing'),
  timeout: Duration.describe('How long `action wait` waits, where --timeout says nothing'),
  log: z
    .enum(LOG_LEVELS, `the log tells one of ${LOG_LEVELS.join(', ')}`)
    .describe('What is told on standard error, a line of JSON each; --debug tells everything'),
};

const Settings = z.strictObject(fields).partial();
export type Settings = Readonly<z.infer<typeof Settings>>;

const ProjectFile = z
  .strictObject({ version: z.literal(1).describe('The form of this file'), ...Settings.shape })
  .describe(
    'Defaults of the countersign command line in a project. They decide nothing: what may run, and who approves, ' +
      'stands in the trust configuration of the gate',
  );

/** Keys that would choose what the gate trusts, and those that would choose another gate. */
const TRUST_KEYS = new Set(Object.keys(WrittenTrustConfig.shape).filter((key) => key !== 'version'));
const GATE_KEYS = new Set(['home', 'store']);

/** What a file of a project says. Refuses `config_location` for a trust key, `config_invalid` for any other defect. */
export function settingsIn(file: YamlText): Settings {
  const keys = typeof file.value === 'object' && file.value !== null ? Object.keys(file.value) : [];
  const trust = keys.find((key) => GATE_KEYS.has(key) || TRUST_KEYS.has(key));
  if (trust !== undefined) throw misplaced(trust, file.lineOf([trust]));
  const parsed = ProjectFile.safeParse(file.value);
  if (!parsed.success) throw file.defect(parsed.error);
  const { version: _, ...settings } = parsed.data;
  return settings;
}

function misplaced(key: string, line: number): Refusal {
  const [what, next] = GATE_KEYS.has(key)
    ? ['would choose the gate', 'remove it here; --home or COUNTERSIGN_HOME names the home, and that its store']
    : ['belongs to the trust configuration', 'remove it here; it stands in `trust.yaml` of the home'];
  return new Refusal('config_location', `line ${line}: \`${key}\` ${what}`, { path: key, next });
}

/** What variables say. Refuses `config_invalid`, naming the variable. */
export function settingsFrom(variable: (name: string) => string | undefined): Settings {
  const keys = Object.keys(fields) as (keyof Settings)[];
  const found = keys.map((key) => [key, settingFrom(variable, key)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/** One of them; undefined where the variable is not set. Refuses `config_invalid`, naming the variable. */
export function settingFrom<Key extends keyof Settings>(
  variable: (name: string) => string | undefined,
  key: Key,
): Settings[Key] {
  const name = `COUNTERSIGN_${key.toUpperCase()}`;
  const parsed = Settings.shape[key].safeParse(variable(name) || undefined);
  if (parsed.success) return parsed.data as Settings[Key];
  const defect = defectIn(parsed.error.issues, variable(name), { ownWords: true });
  throw new Refusal('config_invalid', defectClause(defect, [name]), {
    path: name,
    next: 'correct or unset the variable',
  });
}

/** The JSON Schema of the file, for editors. */
export function settingsSchema(): object {
  return z.toJSONSchema(ProjectFile, { target: 'draft-7' });
}
