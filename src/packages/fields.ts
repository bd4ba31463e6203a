/**
 * The kinds of fields that an envelope has: each one a schema, the words of its rule and an example, from which
 * validation, prompts and JSON Schema follow. Pure.
 *
 * Lengths are code points. A line is text that a person confirms as part of the summary: nothing in it may break the
 * line, hide, or turn the direction of what stands around it.
 * Source: spec packages (rules).
 */
import * as z from 'zod';

/** What a schema says of itself, beside what zod knows: it goes into JSON Schema as it stands. */
interface Told {
  /** The rule in words: what a value `must be`. */
  readonly description: string;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/**
 * Controls, format characters (bidi controls and zero-width ones among them), halves of surrogate pairs, line and
 * paragraph separators, and everything else that is drawn as nothing. By property, so that a character assigned later
 * is covered by the platform's data.
 */
const UNFIT_FOR_LINE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Blank is white space alone, by Unicode's property: U+FEFF is none. */
export function isBlank(text: string): boolean {
  return /^\p{White_Space}*$/u.test(text);
}

/** Whether a text has `min` to `max` code points. */
function hasLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false;
  if (text.length <= max && min <= 1) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count >= min && count <= max;
}

function told<Type extends z.ZodType>(type: Type, meta: Told): Type {
  return type.meta({ ...meta }) as Type;
}

function exampleIs(example: string | undefined): { readonly examples?: readonly [string] } {
  return example === undefined ? {} : { examples: [example] };
}

/** Any text of at most `max` code points. */
export function text(max: number, example: string) {
  return told(
    z.string().refine((value) => hasLength(value, 0, max)),
    { description: `text of at most ${max} characters`, examples: [example], maxLength: max },
  );
}

/** One line of text, of `min` to `max` code points. */
export function line(min: number, max: number, example?: string) {
  const length = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  return told(
    z.string().refine((value) => hasLength(value, min, max) && !UNFIT_FOR_LINE.test(value)),
    {
      description: `one line of ${length} characters, without control, invisible or direction characters`,
      ...exampleIs(example),
      ...(min === 0 ? {} : { minLength: min }),
      maxLength: max,
    },
  );
}

/** A name of `min` to `max` code points that nobody confirms: only controls are refused. */
export function word(min: number, max: number, example: string) {
  return told(
    z.string().refine((value) => hasLength(value, min, max) && !/[\p{Cc}\p{Cs}]/u.test(value)),
    {
      description: `${min} to ${max} characters, without control characters`,
      examples: [example],
      minLength: min,
      maxLength: max,
    },
  );
}

/** A name of `1` to `max` of the characters of a class, such as `A-Za-z0-9_-`. */
export function name(characters: string, max: number, example?: string) {
  const pattern = `^[${characters}]{1,${max}}$`;
  const whole = new RegExp(`${pattern}(?!\n)`);
  return told(
    z.string().refine((value) => whole.test(value)),
    { description: `1 to ${max} of the characters ${characters}`, ...exampleIs(example), pattern },
  );
}

/** A string in the form of a full-match pattern. */
export function form(pattern: RegExp, description: string, example: string) {
  const written = pattern.source.replace('(?!\\n)', '');
  return told(
    z.string().refine((value) => pattern.test(value)),
    { description, examples: [example], pattern: written },
  );
}

/** Any string: its rule is a gate's, which refuses it by another code than a schema does. */
export function gated(max: number, description: string, example: string) {
  return told(z.string(), { description, examples: [example], maxLength: max });
}

/** One of a closed list of words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return told(z.enum(words), { description: `one of ${words.join(', ')}`, examples: [words[0]] });
}

/** A list of at most `max` values. */
export function list<Item extends z.ZodType>(item: Item, max: number) {
  const { description, examples } = item.meta() as unknown as Told;
  return told(z.array(item).max(max), {
    description: `a list of at most ${max}, each ${description}`,
    examples: [examples],
  });
}

/** A field that may be absent or null. The example of the field stays its example. */
export function optional<Type extends z.ZodType>(type: Type) {
  const { description, examples } = type.meta() as unknown as Told;
  return told(type.nullish(), {
    description: `${description}; may be absent`,
    ...(examples === undefined ? {} : { examples }),
  });
}

/** A field with a further rule in words, which a gate holds it to. */
export function noted<Type extends z.ZodType>(type: Type, words: string) {
  const { description, ...rest } = type.meta() as unknown as Told;
  return told(type, { ...rest, description: `${description}; ${words}` });
}

/** The rule of a field in words. */
export function ruleOf(type: z.ZodType): string {
  return (type.meta() as unknown as Told | undefined)?.description ?? 'another value';
}

/** An example of a field. */
export function exampleOf(type: z.ZodType): unknown {
  return (type.meta() as unknown as Told | undefined)?.examples?.[0];
}
