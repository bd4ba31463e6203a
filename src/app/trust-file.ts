/**
 * The trust configuration as a file: YAML, read strictly, every error with its line. It is read to set a ledger up, to
 * compare and to apply; never while deciding.
 */
import { connectorsConfig } from '../connectors/index.js';
import { type TrustConfig, WrittenTrustConfig } from '../policy/index.js';
import { parseYaml, readConfigText } from './yaml-file.js';

const WHAT = 'trust configuration';

/** Refuses `config_invalid` with the line. */
export async function parseTrustConfig(text: string): Promise<TrustConfig> {
  const file = await parseYaml(text, WHAT);
  const parsed = WrittenTrustConfig.safeParse(file.value);
  if (!parsed.success) throw file.defect(parsed.error);
  const opened = connectorsConfig.safeParse(parsed.data.connectors);
  if (!opened.success) throw file.defect(opened.error, ['connectors']);
  return parsed.data;
}

/** Refuses `config_invalid`, also for a file that is not there. */
export async function readTrustFile(path: string): Promise<TrustConfig> {
  return parseTrustConfig(readConfigText(path, WHAT));
}
