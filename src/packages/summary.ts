/**
 * The canonical summary: the exact lines that a person confirms, made from the manifest alone. Pure.
 *
 * INVARIANT: no field can make a line of its own: every one of them is refused where it holds a line break
 * (packages.summary.no-forgery). Source: spec packages (the canonical summary).
 */
import { sha256Hex } from '../core/index.js';
import { isBlank } from './fields.js';
import type { Input, Manifest } from './schema.js';

const EDGE = /[\p{White_Space}\u001c-\u001f]/u;

/** Without the white space around it: Unicode's, and U+001C to U+001F; U+FEFF stays. */
export function trimmed(text: string): string {
  // From both ends by hand: a pattern for the end would look at every run of spaces from each of its places. No such
  // character is beyond one code unit.
  let [from, to] = [0, text.length];
  while (from < to && EDGE.test(text.charAt(from))) from += 1;
  while (to > from && EDGE.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** UTF-8 lines joined by LF, one LF at the end. */
export function renderCanonical({ package_id, intent, inputs, objective }: Manifest): string {
  const outcomes = objective?.desired_outcomes ?? [];
  const lines = [
    '=== PACKAGE SUMMARY ===',
    `package_id : ${package_id}`,
    `intent     : ${trimmed(intent.clarified ?? intent.raw)}`,
    `inputs     : ${inputs.length}`,
    ...inputs.map(inputLine),
    `objective  : ${trimmed(objective?.statement ?? '')}`,
    ...(outcomes.length === 0 ? [] : ['outcomes   :', ...outcomes.map((outcome) => `  - ${trimmed(outcome)}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

function inputLine({ input_id, kind, source, disposition, content_sha256, exclusion_reason }: Input): string {
  const reason = exclusion_reason === null || isBlank(exclusion_reason) ? '' : ` — ${exclusion_reason}`;
  return `  - ${input_id} [${kind}, ${source}, ${disposition}] sha256:${content_sha256.slice(0, 12)}${reason}`;
}

/** 64 hex digits: SHA-256 of exactly these bytes. */
export function canonicalDigest(content: string): string {
  return sha256Hex(content);
}
