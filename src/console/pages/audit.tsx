/**
 * The whole ledger verified, and its log by pages: every event in the one order with the hash that holds it in its
 * place, or what happened to whatever has an id.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { Button, FIELD, Field, Said, Title, Waiting } from '../parts/basics.js';
import { Verify } from '../parts/verify.js';
import { timeOf } from '../words.js';

interface Line {
  /** Absent where one id is looked for. */
  readonly sequence?: number;
  readonly revision: number;
  readonly kind: string;
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly actor: string;
  readonly hash: string;
}

export function AuditPage() {
  const [pages, setPages] = useState<readonly number[]>([0]);
  const [of, setOf] = useState('');
  const after = pages.at(-1) ?? 0;
  const { data, error } = useQuery({
    queryKey: ['log', of, after],
    queryFn: () => call('log', { query: { after: String(after), ...(of === '' ? {} : { of }) } }),
  });
  const lines = asRead<readonly Line[]>(data?.entries ?? []);
  const last = of === '' ? lines.at(-1)?.sequence : nextRevision(lines);
  return (
    <>
      <Title>Audit</Title>
      <Verify />
      <h2 className="text-lg font-semibold">The log</h2>
      <div className="grid gap-3 sm:grid-cols-2">
        <GoTo
          label="Go to number"
          accepts={(text) => text.replaceAll(/\D/g, '').slice(0, 15)}
          onGo={(text) => {
            setOf('');
            setPages((known) => [...known, Math.max(0, Number(text) - 1)]);
          }}
        />
        <GoTo
          label="Find by id"
          accepts={(text) => text.trim().slice(0, 256)}
          onGo={(text) => {
            setOf(text);
            setPages([0]);
          }}
        />
      </div>
      {of === '' ? null : (
        <p className="flex flex-wrap items-center gap-2">
          What happened to <Said text={of} mono />
          <Button onClick={() => setOf('')}>Show the whole log</Button>
        </p>
      )}
      {data === undefined ? <Waiting error={error} /> : null}
      {data !== undefined && lines.length === 0 ? (
        <p className="py-6 text-center text-soft">
          {of === '' ? 'The log ends here.' : 'There is nothing more of it.'}
        </p>
      ) : null}
      <ol className="divide-y divide-line rounded-xl border border-line bg-card empty:hidden">
        {lines.map((line) => (
          <LogLine key={`${line.kind} ${line.sequence ?? line.revision}`} line={line} />
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

/** Behind which revision of a record to go on. */
function nextRevision(lines: readonly Line[]): number | undefined {
  return lines.length === 0 ? undefined : Math.max(...lines.map(({ revision }) => revision)) + 1;
}

function GoTo({
  label,
  accepts,
  onGo,
}: {
  readonly label: string;
  readonly accepts: (text: string) => string;
  readonly onGo: (text: string) => void;
}) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== '') onGo(text);
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2 [&>div]:grow">
      <Field label={label}>
        {(id) => (
          <input
            id={id}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(accepts(event.target.value))}
            className={FIELD}
          />
        )}
      </Field>
      <Button type="submit" aria-label={label}>
        Go
      </Button>
    </form>
  );
}

function LogLine({ line }: { readonly line: Line }) {
  return (
    <li className="grid gap-x-4 p-3 sm:grid-cols-[4rem_1fr_auto]">
      <span className="font-mono text-sm text-soft">{line.sequence ?? `#${line.revision}`}</span>
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
