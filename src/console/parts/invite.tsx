/**
 * How somebody new comes in: a link for one person, good once and for fifteen minutes, and the code that they tell,
 * typed here and then signed for.
 */
import { type FormEvent, useState } from 'react';
import type { AnswerOf } from '../../api/index.js';
import type { PendingRow } from '../documents.js';
import { call } from '../gate.js';
import { nameOf, timeOf } from '../words.js';
import { Button, Card, FIELD, Field, Notice, Refused } from './basics.js';
import { useOnce } from './once.js';
import { issuedOf, useAsking } from './signing.js';

const ROLES = [
  ['approver', 'approves actions'],
  ['operator', 'changes people, keys and rules'],
  ['auditor', 'reads the log'],
  ['viewer', 'looks'],
] as const;
type Role = (typeof ROLES)[number][0];

export function Invite() {
  const [name, setName] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(['approver']);
  const inviting = useOnce<void, AnswerOf<'invite'>>(() =>
    call('invite', { body: { person: `human:${name.replace(/^human:/, '')}`, roles: [...roles] } }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    inviting.start();
  };
  const toggle = (role: Role) =>
    setRoles((known) => (known.includes(role) ? known.filter((one) => one !== role) : [...known, role]));
  return (
    <Card title="Invite somebody">
      {inviting.done === undefined ? (
        <form onSubmit={submit} className="space-y-3">
          <Field label="Name" hint="Letters, digits, dots and dashes">
            {(id) => (
              <input
                id={id}
                required
                autoCapitalize="none"
                autoComplete="off"
                spellCheck={false}
                value={name}
                onChange={(event) => setName(event.target.value)}
                className={FIELD}
              />
            )}
          </Field>
          <fieldset>
            <legend className="font-medium">Roles</legend>
            {ROLES.map(([role, does]) => (
              <label key={role} className="flex min-h-11 items-center gap-3">
                <input
                  type="checkbox"
                  className="size-5 shrink-0 accent-accent"
                  checked={roles.includes(role)}
                  onChange={() => toggle(role)}
                />
                <span>
                  {role} <span className="text-soft">{does}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <Refused error={inviting.error} />
          <Button type="submit" disabled={inviting.isRunning}>
            Make a link
          </Button>
        </form>
      ) : (
        <Link invited={inviting.done} onClose={inviting.forget} />
      )}
    </Card>
  );
}

function Link({ invited, onClose }: { readonly invited: AnswerOf<'invite'>; readonly onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(invited.link).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div className="space-y-3">
      <Notice tone="warn">
        For {nameOf(invited.person)} alone, once, until {timeOf(invited.expires)}. Whoever opens it can make the
        passkey; the code shows whether it was them.
      </Notice>
      <p className="rounded-lg bg-sunk p-3 font-mono text-sm break-all" data-link>
        {invited.link}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="strong" onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy the link'}
        </Button>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  );
}

export function Confirm({ row }: { readonly row: PendingRow }) {
  const [code, setCode] = useState('');
  const confirming = useAsking<string>('Add a passkey', async (typed) =>
    issuedOf(await call('confirmKey', { invitation_id: row.invitation_id, body: { code: typed } })),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirming.start(code);
  };
  return (
    <form onSubmit={submit} className="space-y-2">
      <Field label={`The code that ${nameOf(row.person)} tells you`}>
        {(id) => (
          <input
            id={id}
            required
            maxLength={16}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            placeholder="XXXX-XXXX"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            className={`${FIELD} font-mono`}
          />
        )}
      </Field>
      <Refused error={confirming.error} />
      <Button type="submit" disabled={confirming.isRunning}>
        Check the code
      </Button>
    </form>
  );
}
