/** The door: a passkey signs somebody in. Being signed in reads and asks; whatever counts is signed by itself. */
import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { Button, Refused } from '../parts/basics.js';
import { useOnce } from '../parts/once.js';
import { signIn } from '../passkey.js';

export function SignInPage() {
  const client = useQueryClient();
  const signing = useOnce<void, unknown>(signIn, () => void client.resetQueries());
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-5 p-6">
      <h1 className="text-3xl font-bold">Countersign</h1>
      <p>Agents ask here. You decide, and sign exactly what may happen.</p>
      <Button look="strong" className="w-full" disabled={signing.isRunning} onClick={() => signing.start()}>
        <KeyRound aria-hidden="true" className="size-5" />
        {signing.isRunning ? 'Signing in …' : 'Sign in with a passkey'}
      </Button>
      <Refused error={signing.error} />
      <p className="text-sm text-soft">
        No passkey yet? An operator invites you by a link. The first one is made at the terminal: countersign serve.
      </p>
    </main>
  );
}
