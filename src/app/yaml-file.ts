/**
 * A configuration that a person writes: YAML in one bounded file, read strictly (duplicate keys, aliases and tags of
 * other types are refused), every defect with its line, and never with the value that stands there.
 */
import type { Document } from 'yaml';
import type { ZodError } from 'zod';
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import { defectClause, defectIn, displayText, LIMITS, Refusal } from '../core/index.js';

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
    const what = broken.code === 'DUPLICATE_KEY' ? 'a key stands here twice' : 'this is not well-formed YAML';
    throw new Refusal('config_invalid', `line ${lines.linePos(broken.pos[0]).line}: ${what}`);
  }
  const lineOf = (path: readonly string[]) => {
    const at = placeOf(document, path);
    return at === undefined ? 1 : lines.linePos(at).line;
  };
  const value = plainValue(document, what);
  return {
    value,
    lineOf,
    defect(error, within = []) {
      const defect = defectIn(error?.issues, valueAt(value, within), { ownWords: true });
      const full = [...within, ...(error?.issues[0]?.path.map(String) ?? [])];
      const line = lineOf(defect.unknownKey === undefined ? full : [...full, defect.unknownKey]);
      const path = [...within, ...defect.path].join('.');
      const clause = defectClause(defect, path === '' ? ['configuration'] : within);
      return new Refusal('config_invalid', `line ${line}: ${clause}`, { path });
    },
  };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | undefined)?.[key], value);
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
