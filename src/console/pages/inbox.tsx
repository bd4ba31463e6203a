/** What waits for people, most urgent first, a page at a time: for whoever is signed in, or for everybody. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { asRead, type InboxRow } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Button, Refused, riskTone, Said, Title, Waiting } from '../parts/basics.js';
import { TOGETHER_MAX, Together } from '../parts/together.js';
import { useMe } from '../session.js';
import { actWord, KINDS, RISKS, shown, spanTo, WHATS, wordOf } from '../words.js';

export function InboxPage() {
  const me = useMe();
  const [isMine, setMine] = useState(true);
  const list = useInfiniteQuery({
    queryKey: ['decisions', isMine],
    queryFn: ({ pageParam }) =>
      call('decisions', {
        query: { ...(isMine ? { for: me.principal } : {}), ...(pageParam === '' ? {} : { after: pageParam }) },
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 15_000,
  });
  const [picked, setPicked] = useState<ReadonlySet<string>>();
  // Those that are decided about stay as they were picked, whatever becomes of the list.
  const [together, setTogether] = useState<readonly InboxRow[]>();
  const rows = rowsOf(list.data?.pages ?? []);
  if (together !== undefined) {
    const close = () => {
      setTogether(undefined);
      setPicked(undefined);
    };
    return <Together rows={together} onClose={close} />;
  }
  const chosen = rows.filter(({ what, id }) => what === 'approval' && picked?.has(id) === true);
  return (
    <>
      <Title aside={<Choice isMine={isMine} onChange={setMine} />}>Inbox</Title>
      {list.data === undefined ? <Waiting error={list.error} /> : null}
      {isMine && rows.filter(({ what }) => what === 'approval').length > 1 ? (
        <Picking picked={picked} chosen={chosen} onPick={setPicked} onGo={() => setTogether(chosen)} />
      ) : null}
      {list.data === undefined ? null : (
        <Rows rows={rows} isMore={list.hasNextPage} picked={isMine ? picked : undefined} onPick={setPicked} />
      )}
      {list.data === undefined ? null : <Refused error={list.error} />}
      {list.hasNextPage ? (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {list.isFetchingNextPage ? 'One moment …' : rows.length === 0 ? 'Look further' : 'Show more'}
        </Button>
      ) : null}
    </>
  );
}

/** The rows of all pages. What moved from one page to another while they were asked for is shown once. */
function rowsOf(pages: readonly { readonly rows: readonly unknown[] }[]): readonly InboxRow[] {
  const all = pages.flatMap(({ rows }) => asRead<readonly InboxRow[]>(rows));
  return [...new Map(all.map((row) => [`${row.what} ${row.id}`, row])).values()];
}

function Picking({
  picked,
  chosen,
  onPick,
  onGo,
}: {
  readonly picked: ReadonlySet<string> | undefined;
  readonly chosen: readonly InboxRow[];
  readonly onPick: (picked: ReadonlySet<string> | undefined) => void;
  readonly onGo: () => void;
}) {
  if (picked === undefined) return <Button onClick={() => onPick(new Set())}>Pick several …</Button>;
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="strong" disabled={chosen.length === 0 || chosen.length > TOGETHER_MAX} onClick={onGo}>
        Look at {chosen.length} together
      </Button>
      <Button onClick={() => onPick(undefined)}>Pick none</Button>
    </div>
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

function Rows({
  rows,
  isMore,
  picked,
  onPick,
}: {
  readonly rows: readonly InboxRow[];
  readonly isMore: boolean;
  readonly picked: ReadonlySet<string> | undefined;
  readonly onPick: (picked: ReadonlySet<string>) => void;
}) {
  const toggle = (id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    onPick(next);
  };
  if (rows.length === 0) {
    const words = isMore ? 'Nothing among the first that wait is for you.' : 'Nothing waits.';
    return <p className="py-10 text-center text-soft">{words}</p>;
  }
  return (
    <ul className="space-y-3">
      {rows.map((row) => (
        <li key={`${row.what} ${row.id}`} className="flex items-center gap-3">
          {picked === undefined || row.what !== 'approval' ? null : (
            <input
              type="checkbox"
              className="size-6 shrink-0 accent-accent"
              aria-label={`Pick ${shown(row.operation)} on ${shown(row.target)}`}
              checked={picked.has(row.id)}
              onChange={() => toggle(row.id)}
            />
          )}
          <Row row={row} />
        </li>
      ))}
    </ul>
  );
}

function Row({ row }: { readonly row: InboxRow }) {
  const isRequest = row.what === 'request';
  const isSummary = row.what === 'confirmation';
  const look = 'block min-w-0 flex-1 space-y-2 rounded-xl border border-line bg-card p-4 hover:border-accent';
  const inside = (
    <>
      <span className="flex flex-wrap items-center gap-2">
        {row.class === null ? null : <Badge tone={riskTone(row.class)}>{RISKS[row.class]?.word ?? row.class}</Badge>}
        <span className="text-sm text-soft">{wordOf(WHATS, row.what)}</span>
        {row.awaited === true ? <Badge tone="accent">its caller waits</Badge> : null}
      </span>
      <span className="block text-lg font-semibold">
        <Said text={headOf(row)} />
      </span>
      <span className="block [overflow-wrap:anywhere]">
        <Said text={row.target} mono />
      </span>
      <span className="flex flex-wrap justify-between gap-2 text-sm text-soft">
        <span>
          {row.project === null ? null : <Said text={row.project} />}
          {row.project === null ? '' : ' · '}
          {row.approvals} of {row.quorum} {isRequest || isSummary ? 'signatures' : 'approvals'}
        </span>
        <Due row={row} />
      </span>
    </>
  );
  if (isSummary) {
    return (
      <Link to="/packages/$id" params={{ id: row.id }} className={look}>
        {inside}
      </Link>
    );
  }
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

/** A row about no action says what it is about. */
function headOf({ what, operation }: InboxRow): string {
  if (what === 'confirmation') return wordOf(KINDS, 'summary');
  return what === 'request' ? actWord(operation) : operation;
}

function Due({ row: { what, due, wanted } }: { readonly row: InboxRow }) {
  const now = Date.now();
  if (what !== 'approval' && what !== 'request') return <span>{spanTo(due, now)}</span>;
  if (wanted?.late === true) return <span className="font-semibold text-bad">should have been decided</span>;
  return <span>ends {spanTo(due, now)}</span>;
}
