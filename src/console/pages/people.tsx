/**
 * People, their keys and roles, invitations that wait for their code, and the tokens of agents. Whoever is signed in
 * revokes an own key at once; everything else about people, keys and tokens takes a signature.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { asRead, type KeyRow, type PendingRow, type PersonRow, type TokenRow } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Button, Card, Refused, Said, Title, Waiting } from '../parts/basics.js';
import { Confirm, Invite } from '../parts/invite.js';
import { useAct } from '../parts/signing.js';
import { TakeBack } from '../parts/take-back.js';
import { isRole, useMe } from '../session.js';
import { nameOf, timeOf } from '../words.js';

export function PeoplePage() {
  const me = useMe();
  const { data, error } = useQuery({
    queryKey: ['people'],
    queryFn: () => call('people', {}),
    refetchInterval: 10_000,
  });
  const isOperator = isRole(me, 'operator');
  return (
    <>
      <Title>People, keys and agents</Title>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <>
          {isOperator ? <Invite /> : null}
          <Pending rows={asRead<readonly PendingRow[]>(data.pending)} isOperator={isOperator} />
          {asRead<readonly PersonRow[]>(data.people).map((person) => (
            <Person
              key={person.person}
              person={person}
              keys={asRead<readonly KeyRow[]>(data.keys).filter((key) => key.person === person.person)}
              isOperator={isOperator}
              isMe={person.person === me.principal}
            />
          ))}
          <Tokens rows={asRead<readonly TokenRow[]>(data.tokens)} isOperator={isOperator} />
        </>
      )}
    </>
  );
}

function Pending({ rows, isOperator }: { readonly rows: readonly PendingRow[]; readonly isOperator: boolean }) {
  if (rows.length === 0) return null;
  return (
    <Card title="Passkeys that wait for their code">
      <ul className="space-y-4">
        {rows.map((row) => (
          <li key={row.invitation_id}>
            <p className="font-medium">
              <Said text={nameOf(row.person)} />{' '}
              <span className="font-normal text-soft">
                as {row.roles.join(', ') || 'nothing yet'}, until {timeOf(row.expires)}
              </span>
            </p>
            {isOperator ? <Confirm row={row} /> : null}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Person({
  person,
  keys,
  isOperator,
  isMe,
}: {
  readonly person: PersonRow;
  readonly keys: readonly KeyRow[];
  readonly isOperator: boolean;
  readonly isMe: boolean;
}) {
  const act = useAct('Change people and keys');
  const isActive = person.state === 'active';
  return (
    <Card
      title={isMe ? `${nameOf(person.person)} (you)` : nameOf(person.person)}
      aside={
        <Badge tone={isActive ? 'good' : 'plain'}>{isActive ? person.roles.join(', ') || 'no role' : 'removed'}</Badge>
      }
    >
      {person.away !== null && person.away.until > Date.now() ? (
        <p className="mb-2 text-soft">Away until {timeOf(person.away.until)}</p>
      ) : null}
      <ul className="divide-y divide-line">
        {keys.map((key) => (
          <li key={key.key_id} className="flex flex-wrap items-center justify-between gap-2 py-2">
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {key.method === 'webauthn' ? 'Passkey' : 'Software key'}, {key.state}, since {timeOf(key.added_at)}
              <span className="block font-mono text-sm text-soft">{key.key_id}</span>
            </span>
            {key.state === 'active' ? (
              <RevokeKey id={key.key_id} isOwn={isMe} isOperator={isOperator} act={act} />
            ) : null}
          </li>
        ))}
      </ul>
      <Refused error={act.error} />
      {isOperator && isActive ? (
        <Button
          className="mt-2"
          disabled={act.isRunning}
          onClick={() => act.start({ kind: 'registry', change: { change: 'remove-person', person: person.person } })}
        >
          Remove {nameOf(person.person)} by signature …
        </Button>
      ) : null}
    </Card>
  );
}

/** An own key goes by the session; the key of somebody else by the signature of an operator. */
function RevokeKey({
  id,
  isOwn,
  isOperator,
  act,
}: {
  readonly id: string;
  readonly isOwn: boolean;
  readonly isOperator: boolean;
  readonly act: ReturnType<typeof useAct>;
}) {
  const revoke = { kind: 'registry', change: { change: 'revoke-key', key_id: id } };
  if (isOwn) {
    return (
      <TakeBack
        act={revoke}
        label="Revoke your key"
        words="Nothing can be signed with it any more, and who is signed in by it is signed out."
      />
    );
  }
  if (!isOperator) return null;
  return (
    <Button look="bad" disabled={act.isRunning} onClick={() => act.start(revoke)}>
      Revoke key by signature …
    </Button>
  );
}

function Tokens({ rows, isOperator }: { readonly rows: readonly TokenRow[]; readonly isOperator: boolean }) {
  return (
    <Card
      title="Tokens of agents"
      aside={
        <Link to="/api" className="text-accent underline">
          The HTTP API
        </Link>
      }
    >
      {rows.length === 0 ? (
        <p className="text-soft">There is none. An operator makes one: countersign agent add NAME</p>
      ) : null}
      <ul className="divide-y divide-line">
        {rows.map((row) => (
          <li key={row.token_id} className="py-3">
            <Token row={row} isOperator={isOperator} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Token({ row, isOperator }: { readonly row: TokenRow; readonly isOperator: boolean }) {
  const act = useAct('Revoke a token');
  const isOver = row.expires <= Date.now();
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap items-center gap-2">
        <strong>
          <Said text={row.agent} />
        </strong>
        <Badge tone={row.state === 'active' && !isOver ? 'good' : 'plain'}>{isOver ? 'over' : row.state}</Badge>
      </p>
      <p className="text-sm">
        May {row.scope.verbs.join(', ')} in <Said text={row.scope.projects.join(', ')} /> by{' '}
        <Said text={row.scope.connectors.join(', ')} />, until {timeOf(row.expires)}
      </p>
      <p className="font-mono text-sm text-soft">{row.token_id}</p>
      <Refused error={act.error} />
      {isOperator && row.state === 'active' && !isOver ? (
        <Button
          look="bad"
          disabled={act.isRunning}
          onClick={() => act.start({ kind: 'agent', change: { change: 'revoke-token', token_id: row.token_id } })}
        >
          Revoke token by signature …
        </Button>
      ) : null}
    </div>
  );
}
