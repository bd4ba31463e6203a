/**
 * The text that a person signs: one renderer, reversible, that cuts nothing. Pure.
 * A line is `name: value`; the value has every control, invisible and line-breaking character written as an escape, so that
 * no value can make a line of its own.
 * Source: spec actions (summary), core (text).
 */
import { digest, displayText, parseDisplayText } from '../core/index.js';
import type { SummaryLines } from './schema.js';

/** The lines of a summary as text, in order. */
export function renderSummary(lines: SummaryLines): readonly string[] {
  return lines.map(({ name, value }) => `${displayText(name)}: ${displayText(value)}`);
}

/** The reverse of `renderSummary`; undefined for text that it did not make. */
export function parseSummary(rendered: readonly string[]): SummaryLines | undefined {
  const lines = rendered.map((line) => {
    const at = line.indexOf(': ');
    const name = at < 0 ? undefined : parseDisplayText(line.slice(0, at));
    const value = at < 0 ? undefined : parseDisplayText(line.slice(at + 2));
    return name === undefined || value === undefined ? undefined : { name, value };
  });
  return lines.every((line) => line !== undefined) ? (lines as SummaryLines) : undefined;
}

export function summaryDigest(rendered: readonly string[]): string {
  return digest('countersign-summary/1', { lines: [...rendered] });
}
