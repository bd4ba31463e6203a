/**
 * The forms of a manifest: its digest, its times, its event ids, and the paths that a draft may have. Pure.
 * Source: spec packages (manifest, rules).
 */
import { canonicalize, isoTime, type Json, LIMITS, sha256Hex } from '../core/index.js';
import type { Input, Manifest } from './schema.js';

/** The canonical text of inputs that nobody can change any more: most of a long manifest is what it was before. */
const INPUT_TEXTS = new WeakMap<Input, string>();

function inputText(input: Input): string {
  const known = INPUT_TEXTS.get(input);
  if (known !== undefined) return known;
  const text = canonicalize(input);
  if (Object.isFrozen(input)) INPUT_TEXTS.set(input, text);
  return text;
}

/** 64 hex digits: SHA-256 of the manifest's canonical JSON, whose members stand in the order of their names. */
export function manifestDigest({ artifacts, created_at, inputs, ...rest }: Manifest): string {
  const before = canonicalize({ artifacts, created_at } as Json).slice(0, -1);
  const after = canonicalize(rest as Json).slice(1);
  return sha256Hex(`${before},"inputs":[${inputs.map(inputText).join(',')}],${after}`);
}

/** `2026-08-07T00:00:00+00:00`, with six digits of a second only where they are not all zero. */
export function utcTime(ms: number): string {
  const text = isoTime(ms);
  const [seconds = '', thousandths = '000'] = text.slice(0, -1).split('.');
  return `${seconds}${thousandths === '000' ? '' : `.${thousandths}000`}+00:00`;
}

export function eventId(packageId: string, revision: number): string {
  return `evt_${packageId}_${revision}`;
}

/**
 * Whether a draft may have this path: relative, plain segments, at most 255 code points, and nothing that another
 * system would read as a way out (a backslash, a drive letter, an escape, a control character, `.git`).
 */
export function isLogicalPath(path: string): boolean {
  if (path === '' || path.length > 2 * LIMITS.logicalPathCharsMax || [...path].length > LIMITS.logicalPathCharsMax) {
    return false;
  }
  if (/[\p{Cc}\\%]/u.test(path) || /^[A-Za-z]:/.test(path)) return false;
  return path
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && segment.toLowerCase() !== '.git');
}
