/** What policy would decide about a proposal, and who could approve it. Nothing is proposed and nothing is written. */
import { type FormEvent, useState } from 'react';
import { type AnswerOf, readJson } from '../../api/index.js';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { OUTCOMES, RISKS, shown, wordOf } from '../words.js';
import { Button, Card, Facts, FIELD, Field, Notice, Refused, Said } from './basics.js';
import { useOnce } from './once.js';
import { type Preview, PreviewText } from './preview.js';

const FIELDS = [
  ['as', 'Agent', 'agent:bot'],
  ['project', 'Project', 'web'],
  ['connector', 'Connector', 'git-local'],
  ['operation', 'Operation', 'merge'],
  ['target', 'Target', 'web#main'],
] as const;
type Name = (typeof FIELDS)[number][0];

interface Explained {
  readonly decision: { readonly outcome: string; readonly reason: string; readonly determined_by: readonly string[] };
  readonly approvers: readonly string[];
  readonly class: string;
  readonly rule: string | null;
  readonly preconditions: unknown;
  readonly preview?: Preview;
}

const EMPTY: Readonly<Record<Name, string>> = { as: '', project: '', connector: '', operation: '', target: '' };

export function Explain() {
  const [given, setGiven] = useState(EMPTY);
  const [args, setArgs] = useState('{}');
  const read = readJson(args);
  const isObject = read.ok && typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value);
  const asking = useOnce<void, AnswerOf<'explain'>>(() => {
    const { as, ...named } = given;
    return call('explain', { query: { as }, body: { ...named, args: read.ok ? read.value : null } as never });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isObject) asking.start();
  };
  return (
    <Card title="What would be decided">
      <form onSubmit={submit} className="space-y-3">
        <p className="text-soft">Say what an agent would ask for. Nothing is asked for, and nothing is written.</p>
        <div className="grid gap-3 sm:grid-cols-2">
          {FIELDS.map(([name, label, example]) => (
            <Field key={name} label={label}>
              {(id) => (
                <input
                  id={id}
                  required
                  autoCapitalize="none"
                  autoComplete="off"
                  spellCheck={false}
                  placeholder={example}
                  value={given[name]}
                  onChange={(event) => setGiven((known) => ({ ...known, [name]: event.target.value }))}
                  className={FIELD}
                />
              )}
            </Field>
          ))}
        </div>
        <Field label="Arguments" hint={isObject ? 'An object, as JSON' : 'This is no object in JSON yet'}>
          {(id) => (
            <textarea
              id={id}
              rows={3}
              spellCheck={false}
              value={args}
              onChange={(event) => setArgs(event.target.value)}
              className={`${FIELD} font-mono text-sm`}
            />
          )}
        </Field>
        <Refused error={asking.error} />
        <Button type="submit" disabled={!isObject || asking.isRunning}>
          Explain
        </Button>
      </form>
      {asking.done === undefined || asking.isRunning ? null : <Answer found={asRead<Explained>(asking.done)} />}
    </Card>
  );
}

function Answer({ found }: { readonly found: Explained }) {
  const { decision, approvers, rule, preconditions, preview } = found;
  const asks = decision.outcome === 'REQUIRE_APPROVAL';
  const rows = [
    ['Because', <Said key="because" text={decision.reason} />],
    ['Rules', <Said key="rules" text={decision.determined_by.join(', ') || 'the built-in rule'} />],
    ['Risk', RISKS[found.class]?.word ?? shown(found.class)],
    ...(asks ? [['Approval rule', <Said key="rule" text={rule ?? 'none: nobody may approve'} />] as const] : []),
    ...(asks ? [['May approve', <Said key="who" text={approvers.join(', ') || 'nobody'} />] as const] : []),
    ['Must still hold', preconditions === null ? 'nothing' : <Said key="held" text={preconditions} mono />],
  ] as const;
  return (
    <div className="mt-4 space-y-3">
      <Notice tone={decision.outcome === 'ALLOW' ? 'good' : decision.outcome === 'DENY' ? 'bad' : 'warn'}>
        <strong>{wordOf(OUTCOMES, decision.outcome)}</strong>
      </Notice>
      <Facts rows={rows} />
      {preview === undefined ? null : <PreviewText preview={preview} of="what would be asked for" />}
    </div>
  );
}
