/**
 * The trust configuration as a file: YAML, read strictly, every error with its line, and the Cedar files that it names
 * beside it. It is read to set a ledger up, to compare and to apply; never while deciding: the texts of the Cedar files
 * become part of the configuration that the ledger holds.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connectorsConfig } from '../connectors/index.js';
import { Refusal } from '../core/index.js';
import { notificationsConfig } from '../notifications/index.js';
import { CedarDoor, cedarDefect, type TrustConfig, WrittenTrustConfig } from '../policy/index.js';
import { parseYaml, readConfigText, type YamlText } from './yaml-file.js';

const WHAT = 'trust configuration';

/** A configuration with the text that it was read from. */
export interface TrustText {
  readonly config: TrustConfig;
  readonly file: YamlText;
}

/** Refuses `config_invalid` with the line; `folder` is where its Cedar files stand. */
export async function parseTrustText(text: string, folder?: string): Promise<TrustText> {
  const file = await parseYaml(text, WHAT);
  const parsed = WrittenTrustConfig.safeParse(file.value);
  if (!parsed.success) throw file.defect(parsed.error);
  const opened = connectorsConfig.safeParse(parsed.data.connectors);
  if (!opened.success) throw file.defect(opened.error, ['connectors']);
  demandNotifications(parsed.data, file);
  const { cedar, ...policy } = parsed.data.policy;
  if (cedar === undefined) return { config: { ...parsed.data, policy }, file };
  const texts = cedar.map((name, at) => {
    const place = { path: `policy.cedar.${at}`, line: file.lineOf(['policy', 'cedar', String(at)]) };
    return { name, text: readCedar(name, folder, place) };
  });
  const config = { ...parsed.data, policy: { ...policy, cedar: texts } };
  const defect = cedarDefect(new CedarDoor(), config.policy);
  if (defect === undefined) return { config, file };
  const path = `policy.cedar.${texts.findIndex(({ name }) => name === defect.file)}`;
  throw new Refusal('config_invalid', `line ${defect.line} of \`${defect.file}\`: ${defect.what}`, { path });
}

/** Refuses what `notifications` does not understand, and a group that nobody defined. */
function demandNotifications({ notifications, groups }: Pick<TrustConfig, 'notifications' | 'groups'>, file: YamlText) {
  if (notifications === undefined) return;
  const parsed = notificationsConfig.safeParse(notifications);
  if (!parsed.success) throw file.defect(parsed.error, ['notifications']);
  const isKnown = (name: string) => !name.startsWith('group:') || Object.hasOwn(groups, name.slice('group:'.length));
  const unknown = Object.keys(parsed.data.recipients).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  const path = `notifications.recipients.${unknown}`;
  const line = file.lineOf(['notifications', 'recipients', unknown]);
  throw new Refusal('config_invalid', `line ${line}: \`${path}\`: there is no such group`, { path });
}

/** Refuses `config_invalid` with the line. */
export async function parseTrustConfig(text: string, folder?: string): Promise<TrustConfig> {
  return (await parseTrustText(text, folder)).config;
}

/** Refuses `config_invalid`, also for a file that is not there. */
export async function readTrustText(path: string): Promise<TrustText> {
  return parseTrustText(readConfigText(path, WHAT), dirname(path));
}

/** Refuses `config_invalid`, also for a file that is not there. */
export async function readTrustFile(path: string): Promise<TrustConfig> {
  return (await readTrustText(path)).config;
}

/** The text of a Cedar file: a plain file in the folder itself, that its owner alone may write. */
function readCedar(name: string, folder: string | undefined, { path, line }: { path: string; line: number }): string {
  const refused = (why: string) => new Refusal('config_invalid', `line ${line}: \`${path}\`: ${why}`, { path });
  if (folder === undefined) throw refused('a Cedar file stands beside a configuration file');
  const file = join(folder, name);
  try {
    if (dirname(realpathSync(file)) !== realpathSync(folder)) throw refused('the Cedar file is a link to elsewhere');
    if ((statSync(file).mode & 0o022) !== 0) throw refused('the Cedar file can be written by others');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refused('the Cedar file is not there');
  }
  return readConfigText(file, 'Cedar file');
}
