/**
 * Several actions approved by one gesture: each is listed in full, each keeps its own checks, and each has a result of
 * its own. What the gate would not ask for any more is left out of what is signed, and says why.
 */
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { JsonObject } from '../../api/index.js';
import { asRead, type InboxRow } from '../documents.js';
import { call, type Identity, toldOf } from '../gate.js';
import { signBatch } from '../passkey.js';
import { useMe } from '../session.js';
import { RISKS, STATES, shown, wordOf } from '../words.js';
import { Badge, Button, Card, Notice, Refused, riskTone, Said, Title, Waiting } from './basics.js';
import { requestFor } from './decide.js';
import { useOnce } from './once.js';
import { type Preview, PreviewText } from './preview.js';
import { Summary } from './summary.js';

/** As many as one gesture signs. */
export const TOGETHER_MAX = 50;

interface Item {
  readonly row: InboxRow;
  readonly lines: readonly string[];
  readonly preview: Preview | undefined;
}

interface Outcome {
  readonly row: InboxRow;
  readonly isGood: boolean;
  readonly words: string;
}

function refusedOutcome(row: InboxRow, error: unknown): Outcome {
  return { row, isGood: false, words: `Not approved: ${toldOf(error).text}` };
}

async function approveTogether(items: readonly Item[], me: Identity): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const asked: { readonly row: InboxRow; readonly request: JsonObject }[] = [];
  for (const { row, lines } of items) {
    try {
      asked.push({ row, request: await requestFor(row.id, me, 'approve', lines) });
    } catch (error) {
      outcomes.push(refusedOutcome(row, error));
    }
  }
  if (asked.length === 0) return outcomes;
  const receipts = await signBatch(
    asked.map(({ request }) => request),
    me,
  );
  for (const [at, { row }] of asked.entries()) {
    try {
      const body = { receipt: receipts[at] as never };
      const { state, approvals, settled, refused } = await call('approve', { action_id: row.id, body });
      const signed = state === 'proposed' ? `Signed: ${approvals} of ${row.quorum} approvals` : 'Approved';
      const ran = settled === undefined ? (refused ?? '') : wordOf(STATES, settled.state);
      outcomes.push({ row, isGood: refused === undefined, words: ran === '' ? signed : `${signed}, ${ran}` });
    } catch (error) {
      outcomes.push(refusedOutcome(row, error));
    }
  }
  return outcomes;
}

export function Together({ rows, onClose }: { readonly rows: readonly InboxRow[]; readonly onClose: () => void }) {
  const summaries = useQueries({
    queries: rows.map(({ id }) => ({
      queryKey: ['summary', id],
      queryFn: () => call('summary', { action_id: id }),
    })),
  });
  const items = rows.flatMap((row, at): Item[] => {
    const summary = summaries[at]?.data;
    if (summary === undefined) return [];
    return [{ row, lines: summary.lines, preview: asRead<Preview | undefined>(summary.preview) }];
  });
  if (items.length < rows.length) return <Waiting error={summaries.find(({ error }) => error !== null)?.error} />;
  return <Items items={items} onClose={onClose} />;
}

function Items({ items, onClose }: { readonly items: readonly Item[]; readonly onClose: () => void }) {
  const me = useMe();
  const client = useQueryClient();
  const [read, setRead] = useState<ReadonlyMap<string, readonly string[]>>(new Map());
  const onRead = useCallback(
    (id: string, lines: readonly string[]) => setRead((known) => new Map([...known, [id, lines]])),
    [],
  );
  const isRead = items.every(({ row, lines }) => read.get(row.id) === lines);
  const signing = useOnce<void, readonly Outcome[]>(
    () => approveTogether(items, me),
    () => void client.invalidateQueries(),
  );
  if (signing.done !== undefined) return <Outcomes outcomes={signing.done} onClose={onClose} />;
  return (
    <>
      <Title>Approve {items.length} together</Title>
      {items.map((item) => (
        <ItemCard key={item.row.id} item={item} onRead={onRead} />
      ))}
      <Refused error={signing.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="strong" disabled={!isRead || signing.isRunning} onClick={() => signing.start()}>
          {signing.isRunning ? 'Signing …' : `Approve all ${items.length} with your passkey`}
        </Button>
        <Button disabled={signing.isRunning} onClick={onClose}>
          Back
        </Button>
      </div>
      {isRead ? null : <p className="text-sm text-soft">Approving opens once all of each was in view.</p>}
    </>
  );
}

function ItemCard({
  item: { row, lines, preview },
  onRead,
}: {
  readonly item: Item;
  readonly onRead: (id: string, lines: readonly string[]) => void;
}) {
  const onAll = useCallback(() => onRead(row.id, lines), [onRead, row.id, lines]);
  const risk = row.class ?? 'read';
  return (
    <Card
      title={`${shown(row.operation)} on ${shown(row.target)}`}
      aside={<Badge tone={riskTone(risk)}>{RISKS[risk]?.word ?? shown(risk)}</Badge>}
    >
      {preview === undefined ? null : <PreviewText preview={preview} of={shown(row.target)} />}
      <Summary lines={lines} onRead={onAll} />
    </Card>
  );
}

function Outcomes({ outcomes, onClose }: { readonly outcomes: readonly Outcome[]; readonly onClose: () => void }) {
  return (
    <>
      <Title>What became of them</Title>
      <ul className="space-y-3">
        {outcomes.map(({ row, isGood, words }) => (
          <li key={row.id}>
            <Notice tone={isGood ? 'good' : 'warn'}>
              <strong>
                <Said text={`${row.operation} on ${row.target}`} />
              </strong>
              <p>{shown(words)}</p>
            </Notice>
          </li>
        ))}
      </ul>
      <Button onClick={onClose}>Back to the inbox</Button>
    </>
  );
}
