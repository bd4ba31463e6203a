/**
 * What a schema found wrong, in words of ours: which field, and whether it is missing, of another type, or out of which
 * bound. It never says the value that stands there, nor the words of a schema that is not ours, which may. Pure.
 * Source: spec core (errors), doors (configuration).
 */

/** As much as is read of a defect that zod tells. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly exact?: unknown;
  readonly divisor?: unknown;
  readonly keys?: unknown;
  readonly values?: unknown;
  readonly options?: unknown;
  readonly errors?: unknown;
}

/** One defect: its field and `what` make a clause. */
export interface Defect {
  /** Names and places down to the field, as far as they can be told. */
  readonly path: readonly string[];
  /** Such as `is missing`, `is no whole number`, `is above 5`. */
  readonly what: string;
  /** Words that say more: of an unknown key, or, where they count, of the schema itself. */
  readonly words?: string;
  /** The key that nobody knows, as it stands there: for finding its line, not for telling. */
  readonly unknownKey?: string;
}

/** A key that somebody mistyped. Whatever else stands there may be anything, a secret too: its place has to do. */
const WORD = /^[A-Za-z][A-Za-z_-]{0,31}$/;
/** A key of ours, a name that a schema let in, or a place in a list. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;
/** How many values are told that a field may have. */
const OPTIONS_MAX = 8;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  int: 'whole number',
  boolean: 'truth value',
  array: 'list',
  object: 'object',
  record: 'object',
};

/**
 * The first defect in `given`. With `ownWords` what the schema says counts, where it says more than zod does: for
 * schemas of ours alone, whose words are fixed.
 */
export function defectIn(
  issues: readonly SchemaIssue[] | undefined,
  given: unknown,
  { ownWords = false }: { readonly ownWords?: boolean } = {},
): Defect {
  const issue = issues?.[0];
  if (issue === undefined) return { path: [], what: 'is not what this takes' };
  // A key that is refused itself is no name to be told.
  const place = issue.code === 'invalid_key' ? issue.path.slice(0, -1) : issue.path;
  const path = place.map((key) => (NAME.test(String(key)) ? String(key) : '…'));
  if (issue.code === 'unrecognized_keys') {
    const [unknownKey = ''] = issue.keys as readonly string[];
    const words = WORD.test(unknownKey) ? `unknown key \`${unknownKey}\`` : 'unknown key';
    return { path, what: 'has an unknown key', words, unknownKey };
  }
  const words = ownWords && !isMissing(given, issue.path) ? saidBy(issue) : undefined;
  return { path, what: whatOf(issue, given), ...(words === undefined ? {} : { words }) };
}

/** What the schema says, where it says more than zod does of itself, which begins with a capital. */
function saidBy({ message, ...issue }: SchemaIssue): string | undefined {
  if (/^[^A-Z]/.test(message)) return message;
  const branches = issue.code === 'invalid_union' ? (issue.errors as readonly (readonly SchemaIssue[])[]) : [];
  return branches.flat().find(({ path, message: said }) => path.length === 0 && /^[^A-Z]/.test(said))?.message;
}

/** The defect as one clause that begins with its field. */
export function defectClause({ path, what, words }: Defect, within: readonly string[]): string {
  const field = [...within, ...path].join('.');
  return words === undefined ? `\`${field}\` ${what}` : `\`${field}\`: ${words}`;
}

function whatOf(issue: SchemaIssue, given: unknown): string {
  if (issue.code === 'invalid_key') return 'has a key that it can not have';
  if (isMissing(given, issue.path)) return 'is missing';
  switch (issue.code) {
    case 'invalid_type': {
      const type = TYPES[String(issue.expected)];
      return type === undefined ? 'is of another type' : `is no ${type}`;
    }
    case 'too_small':
    case 'too_big':
      return boundOf(issue);
    case 'not_multiple_of':
      return `is no multiple of ${issue.divisor}`;
    case 'invalid_value':
      return optionsOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue.options) ? optionsOf(issue.options) : 'has none of the forms that it may have';
    case 'invalid_format':
      return 'does not have the form that it has to have';
    default:
      return 'is not what this takes';
  }
}

/** Whether nothing stands at a place. Accessors are of plain data: whoever asks has copied it. */
function isMissing(given: unknown, path: readonly PropertyKey[]): boolean {
  let value = given;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return true;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value === undefined;
}

function boundOf({ code, origin, minimum, maximum, inclusive, exact }: SchemaIssue): string {
  const bound = String(code === 'too_small' ? minimum : maximum);
  const unit = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'entry' : undefined;
  if (unit === undefined) {
    if (inclusive === false) return code === 'too_small' ? `is not above ${bound}` : `is not below ${bound}`;
    return code === 'too_small' ? `is below ${bound}` : `is above ${bound}`;
  }
  const counted = bound === '1' ? `1 ${unit}` : `${bound} ${unit === 'entry' ? 'entries' : `${unit}s`}`;
  if (exact === true) return `does not have exactly ${counted}`;
  return code === 'too_small' ? `has fewer than ${counted}` : `has more than ${counted}`;
}

/** What a field may have, where that are a few words. */
function optionsOf(values: unknown): string {
  const options = Array.isArray(values) ? values.map(String) : [];
  const areShort = options.length > 0 && options.length <= OPTIONS_MAX && options.every((one) => NAME.test(one));
  if (!areShort) return 'is none of what it may be';
  const [only] = options.map((one) => `\`${one}\``);
  return options.length === 1 ? `is not ${only}` : `is none of ${options.map((one) => `\`${one}\``).join(', ')}`;
}
