/**
 * The forms of a manifest: its digest, its times, its event ids, and the paths that a draft may have. Pure.
 * Source: spec packages (manifest, rules).
 */
import { canonicalize, isoTime, type Json, LIMITS, sha256Hex } from '../core/index.js';
import type { Manifest } from './schema.js';

/** 64 hex digits: SHA-256 of the manifest's canonical JSON. */
export function manifestDigest(manifest: Manifest): string {
  return sha256Hex(canonicalize(manifest as Json));
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
