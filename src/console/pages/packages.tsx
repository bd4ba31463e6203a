/** Packages: each with its state, what it is for, and when it changed; a page at a time, all or in one state. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { asRead, type PackageRow } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Button, FIELD, Field, packageTone, Refused, Said, Title, Waiting } from '../parts/basics.js';
import { PACKAGE_STATES, timeOf, wordOf } from '../words.js';

const PAGE_ROWS = '50';

export function PackagesPage() {
  const [state, setState] = useState('');
  const list = useInfiniteQuery({
    queryKey: ['packages', state],
    queryFn: ({ pageParam }) =>
      call('packages', {
        query: {
          limit: PAGE_ROWS,
          ...(state === '' ? {} : { states: state }),
          ...(pageParam === '' ? {} : { after: pageParam }),
        },
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 15_000,
  });
  const rows = (list.data?.pages ?? []).flatMap((page) => asRead<readonly PackageRow[]>(page.rows));
  return (
    <>
      <Title>Packages</Title>
      <Field label="State">
        {(id) => (
          <select id={id} value={state} onChange={(event) => setState(event.target.value)} className={FIELD}>
            <option value="">all</option>
            {Object.entries(PACKAGE_STATES).map(([name, word]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </select>
        )}
      </Field>
      {list.data === undefined ? <Waiting error={list.error} /> : null}
      {list.data !== undefined && rows.length === 0 ? (
        <p className="py-10 text-center text-soft">There is none.</p>
      ) : null}
      <ul className="space-y-3 empty:hidden">
        {rows.map((row) => (
          <li key={row.id}>
            <Row row={row} />
          </li>
        ))}
      </ul>
      {list.data === undefined ? null : <Refused error={list.error} />}
      {list.hasNextPage ? (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {list.isFetchingNextPage ? 'One moment …' : 'Show more'}
        </Button>
      ) : null}
    </>
  );
}

function Row({ row: { id, status, intent, updated, revision } }: { readonly row: PackageRow }) {
  return (
    <Link
      to="/packages/$id"
      params={{ id }}
      className="block space-y-2 rounded-xl border border-line bg-card p-4 hover:border-accent"
    >
      <Badge tone={packageTone(status)}>{wordOf(PACKAGE_STATES, status)}</Badge>
      <span className="block text-lg font-semibold [overflow-wrap:anywhere]">
        <Said text={intent} />
      </span>
      <span className="flex flex-wrap justify-between gap-2 text-sm text-soft">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <Said text={id} mono />
        </span>
        <span>
          revision {revision} · {timeOf(updated)}
        </span>
      </span>
    </Link>
  );
}
