/** The connector's own view of what would happen: a change with its added and removed lines, or plain text. */
import { shown } from '../words.js';

export interface Preview {
  readonly mediaType: string;
  readonly text: string;
}

function lookOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ')) return 'font-bold bg-sunk';
  if (line.startsWith('@@')) return 'text-accent bg-accent-soft';
  if (line.startsWith('+')) return 'bg-good-soft text-good';
  if (line.startsWith('-')) return 'bg-bad-soft text-bad';
  return '';
}

export function PreviewText({ preview: { mediaType, text }, of }: { readonly preview: Preview; readonly of: string }) {
  const isDiff = mediaType === 'text/x-diff';
  return (
    <section
      aria-label={`Lines of the connector’s own view of ${of}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keyboard as well
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line"
    >
      <ol className="min-w-max font-mono text-sm" dir="ltr">
        {text.split('\n').map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
          <li key={at} className={`px-3 whitespace-pre ${isDiff ? lookOf(line) : ''}`}>
            <bdi>{shown(line) || ' '}</bdi>
          </li>
        ))}
      </ol>
    </section>
  );
}
