/**
 * One thing is signed at a time: what the gate asks for takes the place of the view until it was signed or put off, so
 * that its result stays whatever becomes of the list that it was asked from.
 */
import { useLocation } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { Issued } from '../documents.js';
import { call } from '../gate.js';
import { useMe } from '../session.js';
import { useOnce } from './once.js';
import { SignIssued } from './sign-issued.js';

interface Signing {
  readonly issued: Issued;
  readonly title: string;
}

const Sign = createContext<(signing: Signing) => void>(() => undefined);

export function SigningPlace({ children }: { readonly children: ReactNode }) {
  const [signing, setSigning] = useState<Signing>();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever goes elsewhere has put it off
  useEffect(() => setSigning(undefined), [pathname]);
  return (
    <Sign.Provider value={setSigning}>
      <div hidden={signing !== undefined} className="space-y-4">
        {children}
      </div>
      {signing === undefined ? null : (
        <>
          <h1 className="text-2xl font-bold">Sign</h1>
          <SignIssued {...signing} onClose={() => setSigning(undefined)} />
        </>
      )}
    </Sign.Provider>
  );
}

/** Asks the gate for something to sign, and puts it before whoever is signed in. */
export function useAsking<Input>(title: string, ask: (input: Input, me: string) => Promise<Issued>) {
  const { principal } = useMe();
  const sign = useContext(Sign);
  return useOnce<Input, Issued>(
    (input) => ask(input, principal),
    (issued) => sign({ issued, title }),
  );
}

/** Asks the gate for an act on people, keys, tokens, freezes or standing approvals. */
export function useAct(title: string) {
  return useAsking<unknown>(title, async (act, person) =>
    issuedOf(await call('requestAct', { body: { act: act as never, person } })),
  );
}

export function issuedOf({
  request,
  summary,
}: {
  readonly request: object;
  readonly summary: readonly string[];
}): Issued {
  return { request: request as Issued['request'], summary };
}
