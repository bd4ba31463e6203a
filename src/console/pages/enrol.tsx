/**
 * Behind an invitation's link: it is opened once, by a click, and makes one passkey. The code that it ends with is
 * told to the operator by another way than this page; until they have typed it and signed, the passkey counts for
 * nothing.
 */
import { useState } from 'react';
import type { AnswerOf } from '../../api/index.js';
import { call } from '../gate.js';
import { Button, Facts, Notice, Refused, Said } from '../parts/basics.js';
import { useOnce } from '../parts/once.js';
import { makePasskey } from '../passkey.js';
import { nameOf } from '../words.js';

/** Taken off the address at once: it stays in no history and in no picture of the screen. */
function takeSecret(): string {
  const secret = window.location.hash.slice(1);
  if (secret !== '') window.history.replaceState(window.history.state, '', '/enrol');
  return secret;
}

export function EnrolPage() {
  const [secret] = useState(takeSecret);
  const opening = useOnce<void, AnswerOf<'openInvitation'>>(() => call('openInvitation', { body: { secret } }));
  const opened = opening.done;
  return (
    <main className="mx-auto flex max-w-md flex-col gap-5 p-6">
      <h1 className="text-2xl font-bold">Make your passkey</h1>
      {/^[A-Za-z0-9_-]{20,100}$/.test(secret) ? null : (
        <Notice tone="warn">
          This page is for a link that you were given. Open it in full, with what stands behind #.
        </Notice>
      )}
      {opened === undefined ? (
        <>
          <p>The link can be opened once. Do it on the device whose passkey you want to use.</p>
          <Button look="strong" disabled={secret === '' || opening.isRunning} onClick={() => opening.start()}>
            Open the invitation
          </Button>
          <Refused error={opening.error} />
        </>
      ) : (
        <Opened secret={secret} opened={opened} />
      )}
    </main>
  );
}

function Opened({ secret, opened }: { readonly secret: string; readonly opened: AnswerOf<'openInvitation'> }) {
  const making = useOnce<void, string>(() => makePasskey(secret, opened));
  const rows = [
    ['You are', <Said key="who" text={nameOf(opened.person)} />],
    ['You may', opened.roles.join(', ') || 'look'],
    ['At', <Said key="at" text={opened.ledger.name} />],
  ] as const;
  if (making.done !== undefined) return <Code code={making.done} />;
  return (
    <>
      <Facts rows={rows} />
      <Button look="strong" disabled={making.isRunning} onClick={() => making.start()}>
        {making.isRunning ? 'Making it …' : 'Make a passkey'}
      </Button>
      <Refused error={making.error} />
    </>
  );
}

function Code({ code }: { readonly code: string }) {
  return (
    <div className="space-y-4">
      <Notice tone="good">Your passkey is made. Tell this code to your operator, by voice or in person:</Notice>
      <p role="status" className="text-center font-mono text-5xl font-bold tracking-wider" data-code>
        {code}
      </p>
      <p>It counts once they have typed the code and signed. Until then you can not sign in.</p>
      <p>
        <a href="/" className="text-accent underline">
          Sign in
        </a>
      </p>
    </div>
  );
}
