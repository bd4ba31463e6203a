/**
 * Standing approvals: what each stands for, in the lines that were signed, what is left of it, and its end: who signed
 * it takes it back at once, everybody else by a signature.
 */
import { useQuery } from '@tanstack/react-query';
import { asRead, type GrantRow } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Button, Card, Facts, Refused, riskTone, Said, Title, Waiting } from '../parts/basics.js';
import { useAct } from '../parts/signing.js';
import { TakeBack } from '../parts/take-back.js';
import { useMe } from '../session.js';
import { nameOf, RISKS, spanTo, timeOf, wordOf } from '../words.js';

export function StandingPage() {
  const { data, error } = useQuery({
    queryKey: ['grants'],
    queryFn: () => call('grants', {}),
    refetchInterval: 15_000,
  });
  if (data === undefined) {
    return (
      <>
        <Title>Standing approvals</Title>
        <Waiting error={error} />
      </>
    );
  }
  const rows = asRead<readonly GrantRow[]>(data.rows);
  return (
    <>
      <Title>Standing approvals</Title>
      {rows.length === 0 ? (
        <p className="py-10 text-center text-soft">
          There is none. “Allow more like this”, on the page of an action, opens the narrowest one.
        </p>
      ) : null}
      {rows.map((row) => (
        <Grant key={row.grant_id} row={row} />
      ))}
    </>
  );
}

/** What can still be used of it: what runs, or has an unknown outcome, is held. */
function leftOf({ grant, used, holds }: GrantRow): number {
  return Math.max(0, grant.count - used - holds.length);
}

function stateOf(row: GrantRow): string {
  if (row.state !== 'active') return row.state;
  if (row.grant.until <= Date.now()) return 'over';
  return leftOf(row) === 0 ? 'used up' : 'active';
}

function Grant({ row }: { readonly row: GrantRow }) {
  const { grant } = row;
  const revoking = useAct('Revoke a standing approval');
  const me = useMe();
  const state = stateOf(row);
  const isOwn = row.signers.some(({ person }) => person === me.principal);
  const revoke = { kind: 'standing', change: { op: 'revoke', grant_id: row.grant_id } };
  const operations = Object.keys(grant.operations).join(', ');
  const rows = [
    ['Left', `${leftOf(row)} of ${grant.count}${row.holds.length === 0 ? '' : ` (${row.holds.length} held)`}`],
    ['Until', `${timeOf(grant.until)} (${spanTo(grant.until, Date.now())})`],
    ['Agents', <Said key="agents" text={grant.agents.join(', ')} />],
    ['Project', <Said key="project" text={grant.project} />],
    ['Target', <Said key="target" text={grant.target} mono />],
    ['Signed by', <Said key="by" text={row.signers.map(({ person }) => nameOf(person)).join(', ')} />],
  ] as const;
  return (
    <Card
      title={`${grant.connector} ${operations}`}
      aside={
        <span className="flex gap-2">
          <Badge tone={riskTone(grant.class)}>up to {wordOf(RISK_WORDS, grant.class)}</Badge>
          <Badge tone={state === 'active' ? 'good' : 'plain'}>{state}</Badge>
        </span>
      }
    >
      <Facts rows={rows} />
      <details className="mt-2">
        <summary className="min-h-11 cursor-pointer py-2 font-medium">What was signed</summary>
        <ol className="font-mono text-sm" dir="ltr">
          {row.lines.map((line) => (
            <li key={line} className="[overflow-wrap:anywhere]">
              <bdi>{line}</bdi>
            </li>
          ))}
        </ol>
      </details>
      <Refused error={revoking.error} />
      {row.state === 'revoked' ? null : (
        <div className="mt-2">
          {isOwn ? (
            <TakeBack act={revoke} label="Revoke your approval" words="What it covered needs a decision again." />
          ) : (
            <Button look="bad" disabled={revoking.isRunning} onClick={() => revoking.start(revoke)}>
              Revoke by signature …
            </Button>
          )}
        </div>
      )}
    </Card>
  );
}

const RISK_WORDS = Object.fromEntries(Object.entries(RISKS).map(([name, { word }]) => [name, word]));
