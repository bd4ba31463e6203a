/** What waits for people, most urgent first: for whoever is signed in, or for everybody. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { asRead, type InboxRow } from '../documents.js';
import { call } from '../gate.js';
import { Badge, riskTone, Said, Title, Waiting } from '../parts/basics.js';
import { useMe } from '../session.js';
import { KINDS, RISKS, spanTo, WHATS, wordOf } from '../words.js';

export function InboxPage() {
  const me = useMe();
  const [isMine, setMine] = useState(true);
  const { data, error } = useQuery({
    queryKey: ['decisions', isMine],
    queryFn: () => call('decisions', { query: isMine ? { for: me.principal } : {} }),
    refetchInterval: 15_000,
  });
  return (
    <>
      <Title aside={<Choice isMine={isMine} onChange={setMine} />}>Inbox</Title>
      {data === undefined ? <Waiting error={error} /> : <Rows rows={asRead<readonly InboxRow[]>(data.rows)} />}
    </>
  );
}

function Choice({ isMine, onChange }: { readonly isMine: boolean; readonly onChange: (isMine: boolean) => void }) {
  const look = (isChosen: boolean) =>
    `min-h-11 rounded-lg px-4 ${isChosen ? 'bg-accent text-accent-text font-semibold' : 'text-text hover:bg-sunk'}`;
  return (
    <fieldset className="flex rounded-lg border border-line bg-card">
      <legend className="sr-only">Whose</legend>
      <button type="button" aria-pressed={isMine} className={look(isMine)} onClick={() => onChange(true)}>
        For me
      </button>
      <button type="button" aria-pressed={!isMine} className={look(!isMine)} onClick={() => onChange(false)}>
        Everybody
      </button>
    </fieldset>
  );
}

function Rows({ rows }: { readonly rows: readonly InboxRow[] }) {
  if (rows.length === 0) return <p className="py-10 text-center text-soft">Nothing waits.</p>;
  return (
    <ul className="space-y-3">
      {rows.map((row) => (
        <li key={`${row.what} ${row.id}`}>
          <Row row={row} />
        </li>
      ))}
    </ul>
  );
}

function Row({ row }: { readonly row: InboxRow }) {
  const isRequest = row.what === 'request';
  const look = 'block space-y-2 rounded-xl border border-line bg-card p-4 hover:border-accent';
  const inside = (
    <>
      <span className="flex flex-wrap items-center gap-2">
        {row.class === null ? null : <Badge tone={riskTone(row.class)}>{RISKS[row.class]?.word ?? row.class}</Badge>}
        <span className="text-sm text-soft">{wordOf(WHATS, row.what)}</span>
      </span>
      <span className="block text-lg font-semibold">
        <Said text={isRequest ? wordOf(KINDS, row.operation) : row.operation} />
      </span>
      <span className="block [overflow-wrap:anywhere]">
        <Said text={row.target} mono />
      </span>
      <span className="flex flex-wrap justify-between gap-2 text-sm text-soft">
        <span>
          {row.project === null ? null : <Said text={row.project} />}
          {row.project === null ? '' : ' · '}
          {row.approvals} of {row.quorum} {isRequest ? 'signatures' : 'approvals'}
        </span>
        <Due row={row} />
      </span>
    </>
  );
  return isRequest ? (
    <Link to="/requests/$id" params={{ id: row.id }} className={look}>
      {inside}
    </Link>
  ) : (
    <Link to="/actions/$id" params={{ id: row.id }} className={look}>
      {inside}
    </Link>
  );
}

function Due({ row: { what, due, wanted } }: { readonly row: InboxRow }) {
  const now = Date.now();
  if (what !== 'approval' && what !== 'request') return <span>{spanTo(due, now)}</span>;
  if (wanted?.late === true) return <span className="font-semibold text-bad">should have been decided</span>;
  return <span>ends {spanTo(due, now)}</span>;
}
