/**
 * Patterns of names and targets. What widens is read narrowly: there `*` stays within one segment between slashes. What
 * holds back is read widely: there it crosses them. Pure, linear.
 */

/** `*` matches any characters but `/`; everything else is itself. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text;
  const parts = pattern.split('/');
  const segments = text.split('/');
  return parts.length === segments.length && parts.every((part, i) => matchesSegment(part, segments[i] as string));
}

/** `*` matches any characters, slashes among them. */
export function matchesWidely(pattern: string, text: string): boolean {
  return matchesSegment(pattern, text);
}

/** Greedy match of the literals between the stars, in order: linear in the text for each literal. */
function matchesSegment(part: string, segment: string): boolean {
  const literals = part.split('*');
  const first = literals[0] as string;
  const last = literals.at(-1) as string;
  if (literals.length === 1) return part === segment;
  if (segment.length < first.length + last.length) return false;
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false;
  let at = first.length;
  const end = segment.length - last.length;
  for (const literal of literals.slice(1, -1)) {
    const found = segment.indexOf(literal, at);
    if (found < 0 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}

/**
 * Whether a target can be compared with a pattern at all: ASCII without `%` and `*`, no empty, `.` or `..` segment. Any
 * other could mean something else to the system that reads it, and a `*` something else where it stands in a pattern.
 */
export function isPlainTarget(text: string): boolean {
  if (!/^[ -$&-)+-~]+$/.test(text)) return false;
  return text.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}
