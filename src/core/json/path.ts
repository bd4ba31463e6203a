/**
 * Paths into a JSON value, as a person reads them: `$.args.items[3]["odd key"]`.
 * Keys come from hostile input: they are made displayable, and a path has a bound however long they are.
 */
import { displayText } from '../text.js';

const KEY_CHARS_MAX = 64;
const SEGMENTS_MAX = 16;

/** The path of keys and indexes from the root. Long keys and long paths are cut at a `…`. */
export function jsonPath(segments: readonly (string | number)[]): string {
  if (segments.length <= SEGMENTS_MAX) return `$${segments.map(segmentText).join('')}`;
  const head = segments
    .slice(0, SEGMENTS_MAX / 2)
    .map(segmentText)
    .join('');
  const tail = segments
    .slice(-SEGMENTS_MAX / 2)
    .map(segmentText)
    .join('');
  return `$${head}…${tail}`;
}

function segmentText(segment: string | number): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const isCut = segment.length > KEY_CHARS_MAX;
  const key = isCut ? segment.slice(0, KEY_CHARS_MAX) : segment;
  if (!isCut && /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key)) return `.${key}`;
  return `["${displayText(key).replaceAll('"', '\\u{22}')}${isCut ? '…' : ''}"]`;
}
