/**
 * A configuration that a person writes: YAML in one bounded file, read strictly (duplicate keys, aliases and tags of
 * other types are refused), every defect with its line, and never with the value that stands there.
 */
import type { Document } from 'yaml';
import type { ZodError } from 'zod';
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import { displayText, LIMITS, Refusal } from '../core/index.js';

/** A key that somebody mistyped. Whatever else stands there may be anything, a secret too: its line has to do. */
const WORD = /^[A-Za-z][A-Za-z_-]{0,31}$/;
/** A key of ours, a name that a schema let in, or a place in a list. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

export interface YamlText {
  /** Plain data: maps, lists, texts, numbers, truth values, null. */
  readonly value: unknown;
  /** The first defect that a schema found, as `config_invalid` with its line; `within` is where the schema began. */
  defect(error: ZodError | undefined, within?: readonly string[]): Refusal;
  /** The line of a key, counted from 1. */
  lineOf(path: readonly string[]): number;
}

/** Refuses `config_invalid`; `what` is the name of the configuration. */
export async function parseYaml(text: string, what: string): Promise<YamlText> {
  // Loaded when a file is read: most commands never do.
  const { LineCounter, parseDocument } = await import('./yaml.js');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, schema: 'core', merge: false });
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken !== undefined) {
    throw new Refusal('config_invalid', `line ${lines.linePos(broken.pos[0]).line}: this is not well-formed YAML`);
  }
  const lineOf = (path: readonly string[]) => {
    const at = placeOf(document, path);
    return at === undefined ? 1 : lines.linePos(at).line;
  };
  return {
    value: plainValue(document, what),
    lineOf,
    defect(error, within = []) {
      const issue = error?.issues[0];
      const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
      const full = [...within, ...(issue?.path.map(String) ?? [])];
      const line = lineOf(unknown === undefined ? full : [...full, unknown]);
      // A key that is refused itself is no name to be told.
      const path = issue?.code === 'invalid_key' ? full.slice(0, -1) : full;
      const named = unknown !== undefined && WORD.test(unknown) ? `unknown key \`${unknown}\`` : 'unknown key';
      const problem = unknown === undefined ? (issue?.message ?? 'invalid') : named;
      const shown = path.map((key) => (NAME.test(key) ? key : '…')).join('.');
      return new Refusal('config_invalid', `line ${line}: \`${shown || 'configuration'}\`: ${problem}`, {
        path: shown,
      });
    },
  };
}

function plainValue(document: Document.Parsed, what: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new Refusal('config_invalid', `aliases are not allowed in the ${what}`);
  }
}

/** As much of a part of the document as says where it stands. */
interface Part {
  readonly range?: readonly [number, number, number] | null | undefined;
  readonly value?: unknown;
  readonly items?: readonly (Part | Entry)[];
}

interface Entry {
  readonly key: Part;
  readonly value: Part | null;
}

/** Where the key of a path begins in the text, or of its deepest part that exists. */
function placeOf(document: Document.Parsed, path: readonly string[]): number | undefined {
  let part = document.contents as Part | null;
  let place = part?.range?.[0];
  for (const key of path) {
    const entry = part === null ? undefined : entryAt(part, key);
    if (entry?.key.range == null) break;
    place = entry.key.range[0];
    part = entry.value;
  }
  return place;
}

/** A member by its key, or an item by its place. */
function entryAt({ items = [] }: Part, key: string): Entry | undefined {
  const named = items.find((item): item is Entry => 'key' in item && String(item.key.value) === key);
  const item = items[Number(key)];
  return named ?? (item === undefined || 'key' in item ? undefined : { key: item, value: item });
}

/** The text of a file. Refuses `config_invalid`, also for one that is not there. */
export function readConfigText(path: string, what: string): string {
  const read = readPlainFile(path, LIMITS.configBytesMax);
  if (read.ok) return textOf(read.bytes);
  throw new Refusal('config_invalid', `the ${what} ${FILE_REASONS[read.reason]}: \`${displayText(path)}\``, {
    next: 'check the path',
  });
}
