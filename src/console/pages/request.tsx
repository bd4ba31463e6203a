/** A request of the gate to sign something besides an action: people, keys, tokens, freezes, standing approvals. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Issued } from '../documents.js';
import { call } from '../gate.js';
import { Notice, Title, Waiting } from '../parts/basics.js';
import { SignIssued } from '../parts/sign-issued.js';
import { Summary } from '../parts/summary.js';
import { useMe } from '../session.js';
import { KINDS, nameOf, timeOf, wordOf } from '../words.js';

/** One that was signed here meanwhile stays with what became of it. */
const SIGNABLE: readonly string[] = ['open', 'signed', 'used'];

export function RequestPage({ id }: { readonly id: string }) {
  const me = useMe();
  const navigate = useNavigate();
  // What is signed stays as it was opened, whatever is asked for again meanwhile.
  const [first, setFirst] = useState<Issued>();
  const { data, error } = useQuery({
    queryKey: ['request', id],
    queryFn: async () => {
      const details = await call('requestDetails', { request_id: id });
      setFirst((known) => known ?? { request: details.request as Issued['request'], summary: details.summary });
      return details;
    },
  });
  if (data === undefined || first === undefined) {
    return (
      <>
        <Title>Signature</Title>
        <Waiting error={error} />
      </>
    );
  }
  const { kind, approver, requested_by, exp, subject } = first.request;
  const isMine = approver === me.principal;
  const isOver = Number(exp) <= Date.now();
  return (
    <>
      <Title>Signature about {wordOf(KINDS, kind)}</Title>
      <p className="text-soft">
        Asked by {nameOf(requested_by)}, of {nameOf(approver)}, until {timeOf(Number(exp))}
      </p>
      <SubjectLink kind={kind} id={String(subject)} />
      {kind === 'action' ? null : isMine && !isOver && SIGNABLE.includes(data.state) ? (
        <SignIssued issued={first} title="What you sign" onClose={() => void navigate({ to: '/' })} />
      ) : (
        <>
          <Notice tone="warn">
            {isMine ? 'This can not be signed any more: ask for it anew.' : `This is for ${nameOf(approver)} to sign.`}
          </Notice>
          <Summary lines={first.summary} />
        </>
      )}
    </>
  );
}

/** Where what it is about has a page of its own. */
function SubjectLink({ kind, id }: { readonly kind: unknown; readonly id: string }) {
  const look = 'text-accent underline';
  if (kind === 'action') {
    return (
      <p>
        <Link to="/actions/$id" params={{ id }} className={look}>
          Go to the action
        </Link>
      </p>
    );
  }
  if (kind !== 'summary') return null;
  return (
    <p>
      <Link to="/packages/$id" params={{ id }} className={look}>
        Go to the package
      </Link>
    </p>
  );
}
