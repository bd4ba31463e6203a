/** The log by pages: every event of the ledger in its one order, with the hash that holds it in its place. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { Button, FIELD, Field, Said, Title, Waiting } from '../parts/basics.js';
import { timeOf } from '../words.js';

interface Line {
  readonly sequence: number;
  readonly kind: string;
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly actor: string;
  readonly hash: string;
}

export function AuditPage() {
  const [pages, setPages] = useState<readonly number[]>([0]);
  const after = pages.at(-1) ?? 0;
  const { data, error } = useQuery({
    queryKey: ['log', after],
    queryFn: () => call('log', { query: { after: String(after) } }),
  });
  const lines = asRead<readonly Line[]>(data?.entries ?? []);
  const last = lines.at(-1)?.sequence;
  return (
    <>
      <Title>Audit</Title>
      <p className="text-soft">
        What stands here is what the gate wrote down. To have it verified, without trusting this page: countersign audit
        verify.
      </p>
      <GoTo onGo={(sequence) => setPages((known) => [...known, Math.max(0, sequence - 1)])} />
      {data === undefined ? <Waiting error={error} /> : null}
      {data !== undefined && lines.length === 0 ? (
        <p className="py-6 text-center text-soft">The log ends here.</p>
      ) : null}
      <ol className="divide-y divide-line rounded-xl border border-line bg-card empty:hidden">
        {lines.map((line) => (
          <LogLine key={line.sequence} line={line} />
        ))}
      </ol>
      <div className="flex gap-2">
        <Button disabled={pages.length === 1} onClick={() => setPages((known) => known.slice(0, -1))}>
          Back
        </Button>
        <Button disabled={last === undefined} onClick={() => setPages((known) => [...known, last ?? 0])}>
          Go on
        </Button>
      </div>
    </>
  );
}

function GoTo({ onGo }: { readonly onGo: (sequence: number) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== '') onGo(Number(text));
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <Field label="Go to number">
        {(id) => (
          <input
            id={id}
            inputMode="numeric"
            value={text}
            onChange={(event) => setText(event.target.value.replaceAll(/\D/g, '').slice(0, 15))}
            className={FIELD}
          />
        )}
      </Field>
      <Button type="submit">Go</Button>
    </form>
  );
}

function LogLine({ line }: { readonly line: Line }) {
  return (
    <li className="grid gap-x-4 p-3 sm:grid-cols-[4rem_1fr_auto]">
      <span className="font-mono text-sm text-soft">{line.sequence}</span>
      <span className="min-w-0 [overflow-wrap:anywhere]">
        <strong>
          <Said text={line.type} />
        </strong>{' '}
        by <Said text={line.actor} />
        <span className="block font-mono text-sm">
          {line.kind === 'action' ? (
            <Link to="/actions/$id" params={{ id: line.id }} className="text-accent underline">
              {line.id}
            </Link>
          ) : (
            <>
              {line.kind} <Said text={line.id} mono />
            </>
          )}
        </span>
        <span className="block font-mono text-xs text-soft">{line.hash}</span>
      </span>
      <span className="text-sm text-soft">{timeOf(line.at)}</span>
    </li>
  );
}
