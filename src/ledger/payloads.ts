/**
 * The list of payloads of an event's row, read alike from either store.
 */
import { parseTrusted } from '../core/index.js';

/** The list of an event's payloads. A text in any spelling but our own becomes a list that no hash agrees with. */
export function payloadsOf(text: string): readonly string[] {
  if (text === '[]') return [];
  try {
    const list = parseTrusted(text);
    const isOurs =
      Array.isArray(list) && list.every((item) => typeof item === 'string') && JSON.stringify(list) === text;
    return isOurs ? (list as string[]) : [text];
  } catch {
    // Not JSON: the hash of the event says so.
    return [text];
  }
}
