/** How a package came to stand where it does: the envelopes that it took, and the actions that carry its draft out. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { asRead, type EnvelopeRow, type ReleaseRow } from '../documents.js';
import { call } from '../gate.js';
import { ENVELOPES, nameOf, STATES, shown, timeOf, wordOf } from '../words.js';
import { Badge, Button, Card, Said, stateTone, Waiting } from './basics.js';

export function Envelopes({ id, revision }: { readonly id: string; readonly revision: number }) {
  const list = useInfiniteQuery({
    // Another revision has another first page.
    queryKey: ['envelopes', id, revision],
    queryFn: ({ pageParam }) =>
      call('packageEnvelopes', { package_id: id, query: pageParam === '' ? {} : { after: pageParam } }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const rows = (list.data?.pages ?? []).flatMap((page) => asRead<readonly EnvelopeRow[]>(page.rows));
  return (
    <Card title="Envelopes, the newest first">
      {list.data === undefined ? <Waiting error={list.error} /> : null}
      <ol className="space-y-3 border-l-2 border-line pl-4 empty:hidden">
        {rows.map(({ revision: no, at, by, action, action_id, about }) => (
          <li key={no} className="[overflow-wrap:anywhere]">
            <p>
              {wordOf(ENVELOPES, action)}
              {about === null ? null : (
                <>
                  : <Said text={about} />
                </>
              )}
            </p>
            <p className="text-sm text-soft">
              {no} · by <Said text={nameOf(by)} /> · {timeOf(at)}
            </p>
            {action_id === null ? null : (
              <p className="text-xs text-soft">
                <Said text={action_id} mono />
              </p>
            )}
          </li>
        ))}
      </ol>
      {list.hasNextPage ? (
        <Button className="mt-3" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show older
        </Button>
      ) : null}
    </Card>
  );
}

export function Releases({ id, isReady }: { readonly id: string; readonly isReady: boolean }) {
  const list = useInfiniteQuery({
    queryKey: ['releases', id],
    queryFn: ({ pageParam }) =>
      call('packageReleases', { package_id: id, query: pageParam === '' ? {} : { after: pageParam } }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const rows = (list.data?.pages ?? []).flatMap((page) => asRead<readonly ReleaseRow[]>(page.rows));
  return (
    <Card title="Releases">
      {list.data === undefined ? <Waiting error={list.error} /> : null}
      {list.data !== undefined && rows.length === 0 ? (
        <p className="text-soft">
          {list.hasNextPage ? 'None among the newest actions.' : 'Nobody asked for one.'}
          {isReady ? ` A release is an action of its own: countersign package release ${shown(id)}` : ''}
        </p>
      ) : null}
      <ul className="divide-y divide-line empty:hidden">
        {rows.map((row) => (
          <li key={row.action_id} className="py-3 [overflow-wrap:anywhere]">
            <Link to="/actions/$id" params={{ id: row.action_id }} className="text-accent underline">
              {row.target === undefined ? row.action_id : <Said text={`${row.connector} ${row.target}`} />}
            </Link>{' '}
            <Badge tone={stateTone(row.state)}>{wordOf(STATES, row.state)}</Badge>
            {row.proposed_at === undefined ? null : (
              <p className="text-sm text-soft">
                asked by <Said text={row.proposed_by} />, {timeOf(row.proposed_at)}, at revision{' '}
                <Said text={row.revision} />
              </p>
            )}
          </li>
        ))}
      </ul>
      {list.hasNextPage ? (
        <Button className="mt-3" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Look further back
        </Button>
      ) : null}
    </Card>
  );
}
