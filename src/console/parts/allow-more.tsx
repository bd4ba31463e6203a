/**
 * "Allow more like this": the narrowest standing approval that an action fits, for so many of them and so long, shown
 * in full and signed like everything else.
 */
import { useState } from 'react';
import type { ActionDocument } from '../documents.js';
import { call } from '../gate.js';
import { Button, FIELD, Field, Refused } from './basics.js';
import { issuedOf, useAsking } from './signing.js';

const SPANS = [
  ['1 hour', 3_600_000],
  ['8 hours', 8 * 3_600_000],
  ['1 day', 24 * 3_600_000],
  ['7 days', 7 * 24 * 3_600_000],
] as const;

export function AllowMore({ action }: { readonly action: ActionDocument }) {
  const [isOpen, setOpen] = useState(false);
  const [count, setCount] = useState('5');
  const [span, setSpan] = useState<number>(SPANS[0][1]);
  const asking = useAsking<void>('Allow more like this', async (_input, person) => {
    const query = { count, until: String(Date.now() + span) };
    const { grant } = await call('narrowestGrant', { action_id: action.content.action_id, query });
    const { issued } = await call('requestStanding', { body: { grant: grant as never, person } });
    return issuedOf(issued);
  });
  if (!isOpen) return <Button onClick={() => setOpen(true)}>Allow more like this …</Button>;
  return (
    <div className="space-y-3 rounded-lg border border-line p-3">
      <p>The same agent, operation, target and arguments as here, and nothing else:</p>
      <Field label="How many">
        {(id) => (
          <input
            id={id}
            inputMode="numeric"
            value={count}
            onChange={(event) => setCount(event.target.value.replaceAll(/\D/g, '').slice(0, 4))}
            className={FIELD}
          />
        )}
      </Field>
      <Field label="For how long">
        {(id) => (
          <select id={id} value={span} onChange={(event) => setSpan(Number(event.target.value))} className={FIELD}>
            {SPANS.map(([word, ms]) => (
              <option key={ms} value={ms}>
                {word}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Refused error={asking.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="strong" disabled={asking.isRunning || !/^[1-9]/.test(count)} onClick={() => asking.start()}>
          Show what would be signed
        </Button>
        <Button onClick={() => setOpen(false)}>Back</Button>
      </div>
    </div>
  );
}
