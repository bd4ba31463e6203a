/**
 * Around every view for people: who is signed in, where else one can go, and what everybody has to know, such as a
 * freeze. Whoever is not signed in sees the door instead.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { BookOpen, Inbox, ListChecks, LogOut, MessagesSquare, Octagon, Package, ScrollText, Users } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { FrozenRow } from '../documents.js';
import { asRead } from '../documents.js';
import { call, type Identity, toldOf } from '../gate.js';
import { useLive } from '../live.js';
import { SignInPage } from '../pages/sign-in.js';
import { MeProvider, useIdentity } from '../session.js';
import { nameOf, shown } from '../words.js';
import { Waiting } from './basics.js';
import { frozenWords } from './frozen-words.js';
import { SigningPlace } from './signing.js';

const PLACES = [
  { to: '/', word: 'Inbox', Icon: Inbox },
  { to: '/packages', word: 'Packages', Icon: Package },
  { to: '/standing', word: 'Standing', Icon: ListChecks },
  { to: '/threads', word: 'Threads', Icon: MessagesSquare },
  { to: '/people', word: 'People', Icon: Users },
  { to: '/policy', word: 'Policy', Icon: BookOpen },
  { to: '/audit', word: 'Audit', Icon: ScrollText },
] as const;

export function SignedIn() {
  const { data: me, error } = useIdentity();
  if (error !== null && toldOf(error).code === 'unauthenticated') return <SignInPage />;
  if (me === undefined) {
    return (
      <main className="mx-auto max-w-xl p-6">
        <h1 className="sr-only">Countersign</h1>
        <Waiting error={error} />
      </main>
    );
  }
  return (
    <MeProvider value={me}>
      <Frame me={me} />
    </MeProvider>
  );
}

function Frame({ me }: { readonly me: Identity }) {
  useLive();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const wasAt = useRef(pathname);
  useEffect(() => {
    if (wasAt.current === pathname) return;
    wasAt.current = pathname;
    window.scrollTo(0, 0);
    main.current?.focus();
  }, [pathname]);
  return (
    <div className="mx-auto max-w-5xl pb-28 sm:pb-10">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-card focus:p-3 focus:text-accent"
      >
        Skip to the content
      </a>
      <header>
        <Head me={me} />
        <Places />
        <Banners me={me} />
      </header>
      <main ref={main} id="main" tabIndex={-1} className="space-y-4 p-4 outline-none sm:px-6">
        <SigningPlace>
          <Outlet />
        </SigningPlace>
      </main>
    </div>
  );
}

function Head({ me }: { readonly me: Identity }) {
  const client = useQueryClient();
  const signOut = async () => {
    await call('signOut', {}).catch(() => undefined);
    client.clear();
    window.location.assign('/');
  };
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-3 sm:px-6">
      <p className="min-w-0 font-semibold">
        Countersign <bdi className="font-normal text-soft">{shown(me.name)}</bdi>
      </p>
      <p className="flex items-center gap-1">
        <bdi className="text-sm text-soft">{nameOf(me.principal)}</bdi>
        <Link
          to="/freeze"
          className="inline-flex size-11 items-center justify-center rounded-lg text-bad hover:bg-sunk"
        >
          <Octagon aria-hidden="true" className="size-5" />
          <span className="sr-only">Freeze</span>
        </Link>
        <button
          type="button"
          onClick={signOut}
          className="inline-flex size-11 items-center justify-center rounded-lg hover:bg-sunk"
        >
          <LogOut aria-hidden="true" className="size-5" />
          <span className="sr-only">Sign out</span>
        </button>
      </p>
    </div>
  );
}

function Banners({ me }: { readonly me: Identity }) {
  const frozen = asRead<readonly FrozenRow[]>(me.frozen ?? []);
  return (
    <>
      {me.demo ? (
        <p className="bg-warn-soft px-4 py-2 text-warn sm:mx-6 sm:rounded-lg">
          Demo ledger: nothing here is meant for real work.
        </p>
      ) : null}
      {frozen.length === 0 ? null : (
        <div role="status" className="mt-1 bg-bad-soft px-4 py-2 text-bad sm:mx-6 sm:rounded-lg">
          <span className="font-semibold">Frozen: </span>
          <bdi>{frozen.map(frozenWords).join(', ')}</bdi>. Nothing new is asked for, approved or run there.{' '}
          <Link to="/freeze" className="underline">
            Look at it
          </Link>
        </div>
      )}
    </>
  );
}

/** On a phone at the thumb, where a narrow one moves it sideways; elsewhere at the top. */
const BAR =
  'fixed inset-x-0 bottom-0 z-10 overflow-x-auto border-t border-line bg-card ' +
  'sm:static sm:border-0 sm:bg-transparent sm:px-6';
const PLACE =
  'flex min-h-14 flex-col items-center justify-center gap-0.5 border-t-2 px-0.5 text-[0.6875rem] -outline-offset-2 ' +
  'sm:min-h-11 sm:flex-row sm:border-0 sm:gap-2 sm:px-3 sm:text-base';

function Places() {
  const bar = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is another one to show
  useEffect(() => {
    bar.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  return (
    <nav ref={bar} aria-label="Places" className={BAR}>
      <ul className="mx-auto flex max-w-5xl justify-between sm:flex-wrap sm:justify-start sm:gap-1">
        {PLACES.map(({ to, word, Icon }) => (
          <li key={to} className="min-w-[3.25rem] flex-1 sm:min-w-0 sm:flex-none">
            <Link
              to={to}
              activeOptions={{ exact: to === '/' }}
              activeProps={{ className: 'border-accent text-accent sm:font-semibold' }}
              inactiveProps={{ className: 'border-transparent text-soft' }}
              className={PLACE}
            >
              <Icon aria-hidden="true" className="size-5" />
              {word}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
