/** Who is signed in, for every part of a page that asks. */
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { call, type Identity } from './gate.js';

const Me = createContext<Identity | undefined>(undefined);
export const MeProvider = Me.Provider;

export function useIdentity() {
  return useQuery({
    queryKey: ['identity'],
    queryFn: () => call('identity', {}),
    retry: false,
    refetchInterval: 30_000,
  });
}

/** Whoever is signed in: pages are shown to nobody else. */
export function useMe(): Identity {
  const me = useContext(Me);
  if (me === undefined) throw new Error('nobody is signed in');
  return me;
}

export function isRole(me: Identity, role: string): boolean {
  return me.roles?.includes(role) === true;
}
