/** The brake: what is frozen, freezing everything or a part at once, and lifting it by a signature. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asRead, type FrozenRow } from '../documents.js';
import { call } from '../gate.js';
import { Button, Card, FIELD, Field, Refused, Said, Title } from '../parts/basics.js';
import { frozenWords } from '../parts/frozen-words.js';
import { useOnce } from '../parts/once.js';
import { useAct } from '../parts/signing.js';
import { useMe } from '../session.js';
import { timeOf } from '../words.js';

const SCOPES = [
  ['all', 'everything'],
  ['project', 'a project'],
  ['agent', 'an agent'],
  ['connector', 'a connector'],
] as const;

export function FreezePage() {
  const frozen = asRead<readonly FrozenRow[]>(useMe().frozen ?? []);
  return (
    <>
      <Title>Freeze</Title>
      <p>
        While something is frozen nothing new is asked for, approved or run there. What runs already finishes; you can
        still deny, cancel and check outcomes.
      </p>
      <Card title="What is frozen">
        {frozen.length === 0 ? <p className="text-soft">Nothing.</p> : null}
        <ul className="space-y-3">
          {frozen.map((row) => (
            <li key={`${row.scope} ${row.name}`}>
              <Lift row={row} />
            </li>
          ))}
        </ul>
      </Card>
      <SetFreeze />
    </>
  );
}

function Lift({ row }: { readonly row: FrozenRow }) {
  const act = useAct('Lift a freeze');
  const { scope, name } = row;
  return (
    <div className="space-y-2">
      <p>
        <strong>
          <Said text={frozenWords(row)} />
        </strong>{' '}
        by <Said text={row.by} />, {timeOf(row.at)}
      </p>
      <Refused error={act.error} />
      <Button
        disabled={act.isRunning}
        onClick={() => act.start({ kind: 'freeze', op: 'lift', scope: { scope, name } })}
      >
        Lift it …
      </Button>
    </div>
  );
}

function SetFreeze() {
  const [scope, setScope] = useState<string>('all');
  const [name, setName] = useState('');
  const client = useQueryClient();
  const act = useOnce(
    (freeze: object) => call('sessionAct', { body: { act: freeze as never } }),
    () => void client.invalidateQueries(),
  );
  const named = scope === 'agent' && !name.startsWith('agent:') ? `agent:${name}` : name;
  const what = { scope, name: scope === 'all' ? null : named };
  return (
    <Card title="Freeze now">
      <div className="space-y-3">
        <Field label="What">
          {(id) => (
            <select id={id} value={scope} onChange={(event) => setScope(event.target.value)} className={FIELD}>
              {SCOPES.map(([value, word]) => (
                <option key={value} value={value}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </Field>
        {scope === 'all' ? null : (
          <Field label="Its name">
            {(id) => (
              <input
                id={id}
                autoCapitalize="none"
                autoComplete="off"
                spellCheck={false}
                value={name}
                onChange={(event) => setName(event.target.value)}
                className={FIELD}
              />
            )}
          </Field>
        )}
        <Refused error={act.error} />
        <Button
          look="bad"
          disabled={act.isRunning || (scope !== 'all' && name === '')}
          onClick={() => act.start({ kind: 'freeze', op: 'set', scope: what })}
        >
          Freeze
        </Button>
      </div>
    </Card>
  );
}
