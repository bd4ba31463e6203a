/**
 * Signing what the gate asks for besides the approval of an action: people, keys, tokens, freezes, standing approvals,
 * findings. The lines are shown in full, and signed by a passkey once all of them were in view.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Issued } from '../documents.js';
import { call } from '../gate.js';
import { signRequest } from '../passkey.js';
import { useMe } from '../session.js';
import { Button, Card, Notice, Refused } from './basics.js';
import { useOnce } from './once.js';
import { Summary } from './summary.js';

/** What the gate said of a receipt: how many more people have to sign. */
type Submitted = Awaited<ReturnType<typeof call<'submit'>>>;

export function SignIssued({
  issued,
  title,
  onClose,
}: {
  readonly issued: Issued;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const me = useMe();
  const client = useQueryClient();
  const [isRead, setRead] = useState(false);
  const heading = useRef<HTMLDivElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const onRead = useCallback(() => setRead(true), []);
  const signing = useOnce<void, Submitted>(
    async () => {
      const receipt = await signRequest(issued.request, me);
      return call('submit', { body: { receipt: receipt as never } });
    },
    () => void client.invalidateQueries(),
  );
  return (
    <div ref={heading} tabIndex={-1} className="scroll-mt-4 outline-none">
      <Card title={title}>
        <Summary lines={issued.summary} onRead={onRead} />
        <div className="mt-4 space-y-3">
          <Refused error={signing.error} />
          {signing.done === undefined ? (
            <div className="flex flex-wrap gap-2">
              <Button look="strong" disabled={!isRead || signing.isRunning} onClick={() => signing.start()}>
                {signing.isRunning ? 'Signing …' : 'Sign with your passkey'}
              </Button>
              <Button onClick={onClose}>Not now</Button>
            </div>
          ) : (
            <>
              <Notice tone="good">{submittedWords(signing.done)}</Notice>
              <Button onClick={onClose}>Done</Button>
            </>
          )}
        </div>
      </Card>
    </div>
  );
}

function submittedWords({ missing = 0, action_id, applied }: Submitted): string {
  if (applied !== undefined) return `Signed. The summary is confirmed, at revision ${applied['revision']}.`;
  if (missing > 0) return `Signed. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to sign the same.`;
  return action_id === undefined ? 'Signed, and carried out.' : `Signed. It goes on as ${action_id}.`;
}
