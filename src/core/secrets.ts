/**
 * Secrets in plain: found to refuse them before they are stored, and masked wherever text leaves the gate.
 *
 * `redact` applies to threads, logs and notifications, never to what is hashed or to what a person decides on. It
 * knows a secret by its key's name and by its shape, and errs towards masking. `secretPath` refuses proposals, so it
 * trusts names and known prefixes alone: a long random string may well be an argument. `{"$secret":"NAME"}` names a
 * secret and is fine everywhere.
 * Source: spec core (redact), actions (secret_value).
 */
import { PATTERNS } from './ids.js';
import { isJsonObject, type Json, type JsonObject, jsonPath } from './json/index.js';
import { LIMITS } from './limits.js';

/** What stands where a secret stood. */
export const MASK = '[redacted]';

/** Words of a key's name that mean a secret. `passw` begins password, passwd and their plurals. */
const SECRET_WORDS = new Set([
  ...['secret', 'secrets', 'token', 'auth', 'credential', 'credentials', 'cookie', 'cookies', 'bearer', 'private'],
  ...['apikey', 'apikeys'],
]);

// Most keys hold none of these letters in a row and need no splitting. `api` and `key` may stand apart.
const HAS_SECRET_WORD = /secret|token|passw|api|auth|credential|cookie|bearer|private/i;

/** Whether a key's name says that its value is a secret: whole words between `_`, `-`, `.` and changes of case. */
export function isSecretName(key: string): boolean {
  if (!HAS_SECRET_WORD.test(key)) return false;
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1.$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1.$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word, at) => {
    const isApiKey = word === 'api' && (words[at + 1] === 'key' || words[at + 1] === 'keys');
    return isApiKey || SECRET_WORDS.has(word) || word.startsWith('passw');
  });
}

/** Prefixes that issuers give to secrets, each with as much behind it as tells a value from a mention. */
const KNOWN_PREFIXES = [
  '[rs]k_(?:live|test)_[0-9A-Za-z]{8,}',
  'whsec_[0-9A-Za-z+/=]{16,}',
  'sk-[0-9A-Za-z_-]{20,}',
  'gh[opsur]_[0-9A-Za-z]{16,}',
  'github_pat_[0-9A-Za-z_]{16,}',
  'glpat-[0-9A-Za-z_-]{16,}',
  'xox[abeprs]-[0-9A-Za-z-]{8,}',
  'xapp-[0-9A-Za-z-]{8,}',
  '(?:AKIA|ASIA)[0-9A-Z]{16}',
  'AIza[0-9A-Za-z_-]{30,}',
  'ya29\\.[0-9A-Za-z_-]{16,}',
  'npm_[0-9A-Za-z]{30,}',
  'pypi-[0-9A-Za-z_-]{16,}',
  'hf_[0-9A-Za-z]{20,}',
  'dop_v1_[0-9a-f]{32,}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,}',
  'SG\\.[0-9A-Za-z_-]{16,}\\.[0-9A-Za-z_-]{16,}',
  // Not inside a longer run either, or else a run of many beginnings would be searched once from each.
  '(?<![_-])eyJ[0-9A-Za-z_-]{8,}\\.[0-9A-Za-z_-]{8,}\\.[0-9A-Za-z_-]*',
  'AGE-SECRET-KEY-1[0-9A-Z]{16,}',
].join('|');
const PEM = '-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----';
const KNOWN_SECRET = new RegExp(`(?<![0-9A-Za-z])(?:${KNOWN_PREFIXES})|${PEM}`);
const KNOWN_SECRETS = new RegExp(`(?<![0-9A-Za-z])(?:${KNOWN_PREFIXES})`, 'g');
/** No shape of a secret is shorter. */
const SECRET_CHARS_MIN = 12;
const AUTH_SCHEME = /^(?:basic|bearer)\s+[0-9A-Za-z+/=._~-]{6,}$/i;

/** Our own ids and digests, or else a run of characters in which secrets are spelled. */
const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const OWN_IDS = [
  'sha256:[0-9a-f]{64}',
  `(?:act|chg|run|grant|dec|ev|req)_${ULID}`,
  'inv_[0-9a-f]{32}',
  '(?:pkg|evt)_[A-Za-z0-9_-]{1,96}',
  '(?:human|agent|engine):[A-Za-z0-9][A-Za-z0-9._-]{0,63}',
].join('|');
const RUNS = new RegExp(`(?:${OWN_IDS})(?![0-9A-Za-z])|[0-9A-Za-z+/_-]{24,}={0,2}`, 'g');
const OWN_ID = new RegExp(`^(?:${OWN_IDS})$`);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PLAIN_DIGEST = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/**
 * Whether `text` holds a run of 24 characters or more that looks random: digits and letters in turn, no character
 * often. Never 40 or 64 hex digits, `sha256:` digests, UUIDs or our own ids.
 */
export function hasHighEntropy(text: string): boolean {
  return text.match(RUNS)?.some(isRandomRun) ?? false;
}

function isRandomRun(run: string): boolean {
  if (OWN_ID.test(run) || PLAIN_DIGEST.test(run) || UUID.test(run)) return false;
  if (/^[0-9a-f]{32,}$/i.test(run)) return /[0-9]/.test(run) && /[a-f]/i.test(run) && bitsPerCharacter(run) > 2.8;
  // Without a digit a run has to change more often, or names in camel case would be masked.
  const changesMin = /[0-9]/.test(run) ? 0.28 : 0.4;
  return /[A-Za-z]/.test(run) && bitsPerCharacter(run) > 3.4 && classChanges(run) > changesMin;
}

/** Shannon entropy of the characters of the first 256, in bits for each. */
function bitsPerCharacter(run: string): number {
  const counts = new Map<string, number>();
  const sample = run.slice(0, 256);
  for (const character of sample) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / sample.length) * Math.log2(count / sample.length);
  return bits;
}

/** How often neighbours are of different classes: words and paths change seldom, random text at every other place. */
function classChanges(run: string): number {
  let changes = 0;
  for (let at = 1; at < run.length; at += 1) {
    const before = classOf(run.charCodeAt(at - 1));
    const after = classOf(run.charCodeAt(at));
    if (before !== after && before !== 'sign' && after !== 'sign') changes += 1;
  }
  return changes / run.length;
}

function classOf(unit: number): 'digit' | 'upper' | 'lower' | 'sign' {
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  if (unit >= 0x41 && unit <= 0x5a) return 'upper';
  return unit >= 0x61 && unit <= 0x7a ? 'lower' : 'sign';
}

/** `value` with each secret masked, at any depth, in values and in keys. Masking twice changes nothing more. */
export function redact(value: Json): Json {
  return masked(value, false, 0);
}

function masked(value: Json, isSecret: boolean, depth: number): Json {
  if (typeof value === 'string') return isSecret && value !== '' ? MASK : maskedText(value);
  if (typeof value === 'number') return isSecret ? MASK : value;
  if (value === null || typeof value === 'boolean') return value;
  if (depth >= LIMITS.depthMax) return MASK;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => masked(item, isSecret, depth + 1));
  const object = value as JsonObject;
  if (isSecretReference(object)) return object;
  const entries = Object.entries(object).map(([key, item]): [string, Json] => {
    // A ledger's own id has the shape of a secret: 32 hex digits.
    if (key === 'ledger_id' && typeof item === 'string' && PATTERNS.ledgerId.test(item)) return [key, item];
    return [maskedText(key), masked(item, isSecret || isSecretName(key), depth + 1)];
  });
  return Object.fromEntries(apart(entries));
}

/** Keys that became equal by masking are counted, so that no member is lost. */
function apart(entries: readonly [string, Json][]): readonly [string, Json][] {
  const seen = new Map<string, number>();
  return entries.map(([key, item]) => {
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return [count === 1 ? key : `${key} ${count}`, item];
  });
}

function maskedText(text: string): string {
  if (text.length < SECRET_CHARS_MIN) return text;
  if (AUTH_SCHEME.test(text)) return MASK;
  const withoutKnown = withoutKeys(text).replace(KNOWN_SECRETS, MASK);
  return withoutKnown.replace(RUNS, (run) => (isRandomRun(run) ? MASK : run));
}

/** A private key reaches to the end of its block, or of the text when the block does not end. */
function withoutKeys(text: string): string {
  if (!text.includes('-----BEGIN ')) return text;
  let shown = '';
  let at = 0;
  const begins = new RegExp(PEM, 'g');
  const ends = /-----END [A-Z0-9 ]{0,64}-----/g;
  for (let match = begins.exec(text); match !== null; match = begins.exec(text)) {
    shown += text.slice(at, match.index) + MASK;
    ends.lastIndex = begins.lastIndex;
    at = ends.exec(text) === null ? text.length : ends.lastIndex;
    begins.lastIndex = at;
  }
  return shown + text.slice(at);
}

/** `{"$secret":"NAME"}`: the name of a secret in the place of its value. */
export function isSecretReference(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  const name = value['$secret'];
  return keys.length === 1 && keys[0] === '$secret' && typeof name === 'string' && PATTERNS.secretName.test(name);
}

/**
 * Path of the first secret in plain: a string that is not empty under a secret's name, or one that holds a known
 * prefix. A key that is a secret itself is answered as the path of its object. `undefined` when there is none.
 */
export function secretPath(value: Json): string | undefined {
  const path = findSecret(value, false, []);
  return path === undefined ? undefined : jsonPath(path);
}

type Path = readonly (string | number)[];

function findSecret(value: Json, isSecret: boolean, path: Path): Path | undefined {
  if (typeof value === 'string') return (isSecret && value !== '') || KNOWN_SECRET.test(value) ? path : undefined;
  if (value === null || typeof value !== 'object' || path.length >= LIMITS.depthMax) return undefined;
  if (isSecretReference(value)) return undefined;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) {
      const found = findSecret(item, isSecret, [...path, index]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value as JsonObject)) {
    if (KNOWN_SECRET.test(key)) return path;
    const found = findSecret(item, isSecret || isSecretName(key), [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
