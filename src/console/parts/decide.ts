/**
 * A person's decision about one action: asks the gate for the request, compares what it would sign with what was shown,
 * signs it, and hands it in. A request that ended meanwhile is asked for anew, once.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, type JsonObject, Refusal } from '../../api/index.js';
import { call, type Identity } from '../gate.js';
import { signRequest } from '../passkey.js';
import { useMe } from '../session.js';
import { type Once, useOnce } from './once.js';

export interface Choice {
  readonly decision: 'approve' | 'deny';
  /** The lines that were shown: nothing else is signed. */
  readonly lines: readonly string[];
  readonly words?: string;
  readonly sendBack?: boolean;
}

export interface Decided {
  readonly choice: Choice;
  readonly answer: AnswerOf<'approve'>;
}

/** A request for exactly these lines. Refuses `summary_mismatch` where the gate would have others signed. */
export async function requestFor(
  id: string,
  me: Identity,
  decision: Choice['decision'],
  lines: readonly string[],
): Promise<JsonObject> {
  const issued = await call('request', { action_id: id, body: { approver: me.principal, decision } });
  if (issued.summary.length !== lines.length || issued.summary.some((line, at) => line !== lines[at])) {
    throw new Refusal('summary_mismatch', 'it changed since you looked: nothing was signed', {
      next: 'read it again below',
    });
  }
  return issued.request as JsonObject;
}

async function decideOnce(id: string, me: Identity, choice: Choice): Promise<Decided> {
  const { decision, lines, words, sendBack } = choice;
  const receipt = await signRequest(await requestFor(id, me, decision, lines), me);
  const answer = await call('approve', {
    action_id: id,
    body: {
      receipt: receipt as never,
      ...(words === undefined || words === '' ? {} : { words }),
      ...(sendBack === true ? { send_back: true } : {}),
    },
  });
  return { choice, answer };
}

/** `isAgain`: the first request ended before it was signed, and the passkey is asked for another one. */
export function useDecision(id: string): Once<Choice, Decided> & { readonly isAgain: boolean } {
  const me = useMe();
  const client = useQueryClient();
  const [isAgain, setAgain] = useState(false);
  const refresh = () => void client.invalidateQueries();
  const once = useOnce<Choice, Decided>(async (choice) => {
    setAgain(false);
    try {
      return await decideOnce(id, me, choice).catch((error: unknown) => {
        if (!(error instanceof Refusal) || error.code !== 'expired') throw error;
        setAgain(true);
        return decideOnce(id, me, choice);
      });
    } finally {
      refresh();
    }
  });
  return { ...once, isAgain };
}
