/**
 * The text that a person signs: one renderer, reversible, that cuts nothing. Pure.
 * A line is `name: value`; the value has every control, invisible and line-breaking character written as an escape,
 * so that no value can make a line of its own.
 * Source: spec actions (summary), core (text).
 */
import { digest, displayText, parseDisplayText } from '../core/index.js';
import type { SummaryLines } from './schema.js';

/** The lines of a summary as text, in order. A name has no raw colon, so that it ends at the first one of its line. */
export function renderSummary(lines: SummaryLines): readonly string[] {
  return lines.map(({ name, value }) => `${displayText(name).replaceAll(':', '\\u{3a}')}: ${displayText(value)}`);
}

/** The name that a line shows: a colon in it was written as an escape. */
function nameIn(shown: string): string | undefined {
  return parseDisplayText(shown.replaceAll(/\\\\|\\u\{3a\}/g, (part) => (part === '\\\\' ? part : ':')));
}

/** The reverse of `renderSummary`; undefined for text that it did not make. */
export function parseSummary(rendered: readonly string[]): SummaryLines | undefined {
  const lines = rendered.map((line) => {
    const at = line.indexOf(': ');
    const name = at < 0 ? undefined : nameIn(line.slice(0, at));
    const value = at < 0 ? undefined : parseDisplayText(line.slice(at + 2));
    return name === undefined || value === undefined ? undefined : { name, value };
  });
  if (!lines.every((line) => line !== undefined)) return undefined;
  return renderSummary(lines).every((line, at) => line === rendered[at]) ? lines : undefined;
}

export function summaryDigest(rendered: readonly string[]): string {
  return digest('countersign-summary/1', { lines: [...rendered] });
}
