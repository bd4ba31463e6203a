/**
 * The trust configuration as a file: YAML, read strictly, every error with its line. It is read to set a ledger up, to
 * compare and to apply; never while deciding.
 */
import { readFileSync, statSync } from 'node:fs';
import type { Document } from 'yaml';
import { connectorsConfig } from '../connectors/index.js';
import { LIMITS, Refusal } from '../core/index.js';
import { type TrustConfig, WrittenTrustConfig } from '../policy/index.js';

/** Refuses `config_invalid` with the line. */
export async function parseTrustConfig(text: string): Promise<TrustConfig> {
  // Loaded when a file is read: most commands never do.
  const { LineCounter, parseDocument } = await import('./yaml.js');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, schema: 'core', merge: false });
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken !== undefined) {
    throw new Refusal('config_invalid', `line ${lines.linePos(broken.pos[0]).line}: this is not well-formed YAML`);
  }
  let plain: unknown;
  try {
    plain = document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new Refusal('config_invalid', 'aliases are not allowed in the trust configuration');
  }
  const parsed = WrittenTrustConfig.safeParse(plain);
  const opened = parsed.success ? connectorsConfig.safeParse(parsed.data.connectors) : undefined;
  if (parsed.success && opened?.success) return parsed.data;
  const issue = parsed.error?.issues[0] ?? opened?.error?.issues[0];
  const path = [...(parsed.success ? ['connectors'] : []), ...(issue?.path.map(String) ?? [])];
  const node = nodeAt(document, path);
  const line = node === undefined ? 1 : lines.linePos(node).line;
  const unknown =
    issue?.code === 'unrecognized_keys' ? `unknown key \`${issue.keys[0]}\`` : (issue?.message ?? 'invalid');
  throw new Refusal('config_invalid', `line ${line}: \`${path.join('.') || 'configuration'}\`: ${unknown}`, {
    path: path.join('.'),
  });
}

/** Where the deepest part of a path that exists begins in the text. */
function nodeAt(document: Document.Parsed, path: readonly string[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const keys = path.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const node = document.getIn(keys, true) as { range?: [number, number, number] | null } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}

/** Refuses `config_invalid`, also for a file that is not there. */
export async function readTrustFile(path: string): Promise<TrustConfig> {
  let text: string;
  try {
    if (statSync(path).size > LIMITS.configBytesMax)
      throw new Refusal('config_invalid', 'the trust configuration is too long');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('config_invalid', `the trust configuration can not be read: \`${path}\``);
  }
  return parseTrustConfig(text);
}
