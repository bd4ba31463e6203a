/** What an input or a draft says, asked for when somebody opens it, and shown a part at a time. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../gate.js';
import { shown } from '../words.js';
import { Button, Waiting } from './basics.js';

/** As much as a page draws at once. */
const PART_CHARS = 20_000;

export function ContentOf({
  id,
  sha256,
  name,
}: {
  readonly id: string;
  readonly sha256: string;
  readonly name: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-11 cursor-pointer py-2 font-medium">What it says</summary>
      {isOpen ? <Content id={id} sha256={sha256} name={name} /> : null}
    </details>
  );
}

function Content({ id, sha256, name }: { readonly id: string; readonly sha256: string; readonly name: string }) {
  const [chars, setChars] = useState(PART_CHARS);
  const { data, error } = useQuery({
    queryKey: ['content', id, sha256],
    queryFn: () => call('packageContent', { package_id: id, content: sha256 }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined) return <Waiting error={error} />;
  const part = data.content.slice(0, chars);
  return (
    <>
      <section
        aria-label={`What ${shown(name)} says`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard as well
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-lg border border-line p-3"
      >
        <ol className="font-mono text-sm" dir="ltr">
          {part.split('\n').map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
            <li key={at} className="min-h-[1lh] whitespace-pre-wrap [overflow-wrap:anywhere]">
              <bdi>{shown(line)}</bdi>
            </li>
          ))}
        </ol>
      </section>
      <p className="my-2 font-mono text-xs text-soft [overflow-wrap:anywhere]">sha256 {sha256}</p>
      {data.content.length > chars ? (
        <Button onClick={() => setChars(chars + PART_CHARS)}>
          Show more: {chars} of {data.content.length} characters
        </Button>
      ) : null}
    </>
  );
}
