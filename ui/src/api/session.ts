import { createContext, useContext } from 'react';
import type { Answer } from './answer.ts';
import { api } from './client.ts';

/** The caller, what it may see, and how it can sign in. */
export type Session = Answer<'/api/session'>;

/** A page of the console. */
export type PageName = Session['pages'][number];

/** The key of the session in the cache of answers. */
export const SESSION_KEY = ['session'] as const;

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of this browser. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('The page has no session.');
  return session;
}

/** Reads the session. */
export const fetchSession = (): Promise<Session> => api<Session>('/api/session');

/** True if both sessions show the same: every operator sees everything, other callers see their own. */
export function isSameCaller(a: Session, b: Session): boolean {
  return a.role === b.role && (a.role === 'operator' || a.caller?.id === b.caller?.id);
}

/** Signs the browser in. */
export const signIn = (credential: string): Promise<Session> =>
  api<Session>('/api/session', { method: 'POST', body: { credential } });

/** Signs the browser out. */
export const signOut = (): Promise<Session> => api<Session>('/api/session', { method: 'DELETE' });
