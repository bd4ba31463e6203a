/**
 * What a person can say of an outcome that nobody knows, or that a later word contradicts: a signed finding with its
 * evidence, or that the same may run again.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ActionDocument } from '../documents.js';
import { call } from '../gate.js';
import { Button, Card, FIELD, Field, Refused } from './basics.js';
import { useOnce } from './once.js';
import { issuedOf, useAsking } from './signing.js';

type Said = 'confirmed' | 'failed' | 'again';

export function Resolve({ action }: { readonly action: ActionDocument }) {
  const { action_id } = action.content;
  const [evidence, setEvidence] = useState('');
  const asking = useAsking<Said>('What the outcome was', async (said, person) => {
    const resolution =
      said === 'again'
        ? { kind: 'assume_duplicate', action_id }
        : { kind: 'finding', action_id, outcome: said, evidence };
    return issuedOf(await call('requestResolution', { body: { resolution, person } }));
  });
  const client = useQueryClient();
  const checking = useOnce<void, unknown>(
    () => call('reconcile', { action_id }),
    () => void client.invalidateQueries(),
  );
  if (action.state !== 'unknown' && action.late_result === null) return null;
  const isEmpty = evidence.trim() === '';
  return (
    <Card title="What the outcome was">
      <div className="space-y-3">
        <p>It may have happened. Ask the connector, or look at the outside and sign what you found.</p>
        {action.state === 'unknown' ? (
          <>
            <Refused error={checking.error} />
            <Button disabled={checking.isRunning} onClick={() => checking.start()}>
              Check outcome
            </Button>
          </>
        ) : null}
        <Field label="What you found, and where">
          {(id) => (
            <textarea
              id={id}
              rows={3}
              maxLength={4_000}
              value={evidence}
              onChange={(event) => setEvidence(event.target.value)}
              className={FIELD}
            />
          )}
        </Field>
        <Refused error={asking.error} />
        <div className="flex flex-wrap gap-2">
          <Button disabled={isEmpty || asking.isRunning} onClick={() => asking.start('confirmed')}>
            It happened
          </Button>
          <Button disabled={isEmpty || asking.isRunning} onClick={() => asking.start('failed')}>
            It did not happen
          </Button>
          {action.state === 'unknown' ? (
            <Button look="bad" disabled={asking.isRunning} onClick={() => asking.start('again')}>
              Run again (possible duplicate)
            </Button>
          ) : null}
        </div>
      </div>
    </Card>
  );
}
