/**
 * Taking back what is one's own, a key or a standing approval: at once, by being signed in alone. What is somebody
 * else's takes a signature, and has another button.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../gate.js';
import { Button, Notice, Refused } from './basics.js';
import { useOnce } from './once.js';

export function TakeBack({
  act,
  label,
  words,
}: {
  readonly act: object;
  readonly label: string;
  /** What follows, besides that it is revoked. */
  readonly words: string;
}) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const taking = useOnce<void, unknown>(
    () => call('sessionAct', { body: { act: act as never } }),
    () => void client.invalidateQueries(),
  );
  if (!isAsking) {
    return (
      <Button look="bad" onClick={() => setAsking(true)}>
        {label} …
      </Button>
    );
  }
  return (
    <div className="w-full space-y-3">
      <Notice tone="warn">It is yours: it is revoked at once, without a signature, and for good. {words}</Notice>
      <Refused error={taking.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="bad" disabled={taking.isRunning} onClick={() => taking.start()}>
          Revoke it now
        </Button>
        <Button disabled={taking.isRunning} onClick={() => setAsking(false)}>
          Keep it
        </Button>
      </div>
    </div>
  );
}
