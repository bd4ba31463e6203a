/** Threads: what happened in a project, in the entries that the gate signs one after the other. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { parseDisplayText } from '../../api/index.js';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { Button, Said, Title, Waiting } from '../parts/basics.js';
import { shown } from '../words.js';

/** Each project that has an action has a thread of its name. */
export function ThreadsPage() {
  const { data, error } = useQuery({
    queryKey: ['projects'],
    queryFn: () => call('list', { query: { limit: '200' } }),
  });
  const names = [
    ...new Set((data?.rows ?? []).flatMap(({ project }) => (project === undefined ? [] : [project]))),
  ].sort();
  return (
    <>
      <Title>Threads</Title>
      {data === undefined ? <Waiting error={error} /> : null}
      {data !== undefined && names.length === 0 ? (
        <p className="py-10 text-center text-soft">No project has one yet.</p>
      ) : null}
      <ul className="divide-y divide-line rounded-xl border border-line bg-card empty:hidden">
        {names.map((name) => (
          <li key={name}>
            <Link to="/threads/$name" params={{ name }} className="block min-h-11 p-4 text-accent underline">
              <Said text={name} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

interface Entry {
  readonly id?: string;
  readonly intent?: string;
  readonly payload?: string;
  readonly message?: { readonly id?: string; readonly intent?: string; readonly payload?: string };
}

const ACTION = /act_[0-7][0-9A-HJKMNP-TV-Z]{25}/;

export function ThreadPage({ name }: { readonly name: string }) {
  const [after, setAfter] = useState('0');
  const { data, error } = useQuery({
    queryKey: ['thread', name, after],
    queryFn: () => call('thread', { thread: name, query: { after } }),
  });
  const next = data?.next;
  return (
    <>
      <Title>
        Thread <Said text={name} />
      </Title>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <>
          <ol className="divide-y divide-line rounded-xl border border-line bg-card empty:hidden">
            {asRead<readonly Entry[]>(data.entries).map((entry, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries stand in their order
              <EntryLine key={at} entry={entry} />
            ))}
          </ol>
          <div className="flex gap-2">
            {after === '0' ? null : <Button onClick={() => setAfter('0')}>From the beginning</Button>}
            {next === undefined ? null : <Button onClick={() => setAfter(next)}>Go on</Button>}
          </div>
        </>
      )}
    </>
  );
}

/** The gate writes its entries as text to display; what somebody else wrote is made so here. */
function displayed(payload: string): string {
  return parseDisplayText(payload) === undefined ? shown(payload) : payload;
}

function EntryLine({ entry }: { readonly entry: Entry }) {
  const { intent = '', payload = '' } = entry.message ?? entry;
  const id = ACTION.exec(payload)?.[0];
  return (
    <li className="p-3 [overflow-wrap:anywhere]">
      {intent === 'assert' ? null : <span className="text-sm text-soft">{shown(intent)}</span>}
      <p>
        <bdi>{displayed(payload)}</bdi>
      </p>
      {id === undefined ? null : (
        <Link to="/actions/$id" params={{ id }} className="inline-block min-h-6 text-sm text-accent underline">
          Look at it
        </Link>
      )}
    </li>
  );
}
