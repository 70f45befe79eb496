import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { onSessionEnded } from '../api/client.ts';
import { fetchSession, isSameCaller, SESSION_KEY, type Session, SessionContext } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { useChannel } from '../parts/live-events.ts';

const SignInPage = lazy(() => import('./sign-in-page.tsx').then(({ SignInPage }) => ({ default: SignInPage })));
const SignInDialog = lazy(() => import('./sign-in-dialog.tsx').then(({ SignInDialog }) => ({ default: SignInDialog })));

/** Shows the console to a caller that may see it, and the sign-in to others. If a session ends, the page stays and the sign-in is asked for on top of it. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: SESSION_KEY,
    queryFn: fetchSession,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { hasEnded, begin } = useEndedSession(data);
  const channel = useChannel();
  const isSignedIn = data?.signedIn === true;
  useEffect(() => {
    if (!isSignedIn) return;
    channel.start();
    return () => channel.stop();
  }, [channel, isSignedIn]);

  if (data === undefined) {
    if (error === null || isFetching) return null;
    return (
      <Empty title="The server does not answer.">
        <p className="soft">{error.message}</p>
        <button type="button" className="button" onClick={() => void refetch()}>
          Try again
        </button>
      </Empty>
    );
  }
  if (data.role === 'none')
    return (
      <Suspense fallback={null}>
        <SignInPage session={data} onSignedIn={begin} />
      </Suspense>
    );
  return (
    <SessionContext value={data}>
      {children}
      <Suspense fallback={null}>{hasEnded && <SignInDialog session={data} onSignedIn={begin} />}</Suspense>
    </SessionContext>
  );
}

const TABS = 'toolcrib-session';

/** Watches for the end of the session. Requests that were refused meanwhile wait, and are sent again after the sign-in. */
function useEndedSession(session: Session | undefined) {
  const queries = useQueryClient();
  const [hasEnded, setEnded] = useState(false);
  const waiting = useRef(new Set<(isSignedIn: boolean) => void>());
  const current = useRef(session);
  current.current = session;

  /** Goes on with a session, of this tab or another. */
  const begin = useCallback(
    (next: Session) => {
      const before = current.current;
      const isOther = before !== undefined && !isSameCaller(before, next);
      if (isOther && before.signedIn) {
        release(waiting.current, false);
        tellTabs();
        location.reload(); // what the page shows and was about to send belongs to the caller from before
        return;
      }
      queries.setQueryData(SESSION_KEY, next);
      setEnded(false);
      release(waiting.current, true);
      const others = {
        predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) => queryKey[0] !== SESSION_KEY[0],
      };
      void (isOther ? queries.resetQueries(others) : queries.invalidateQueries(others));
      tellTabs();
    },
    [queries],
  );

  useEffect(
    () =>
      onSessionEnded(async () => {
        if (current.current?.signedIn !== true) return false;
        const now = await fetchSession().catch(() => undefined);
        if (now?.signedIn === true) {
          const isSame = isSameCaller(current.current, now);
          if (!isSame) begin(now);
          return isSame;
        }
        setEnded(true);
        return new Promise((resolve) => waiting.current.add(resolve));
      }),
    [begin],
  );
  useOtherTabs((now) => {
    const isOther = current.current !== undefined && !isSameCaller(current.current, now);
    if (now.signedIn && (isOther || waiting.current.size > 0)) begin(now);
    if (!now.signedIn && current.current?.signedIn === true) setEnded(true);
  });
  const isSignedIn = session?.signedIn === true;
  useEffect(() => {
    if (isSignedIn) tellTabs(); // a sign-in at the issuer comes back in another tab
  }, [isSignedIn]);
  return { hasEnded, begin };
}

/** Calls the listener with the present session when one began or ended in a tab of the browser. */
function useOtherTabs(listener: (now: Session) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const channel = new BroadcastChannel(TABS);
    channel.onmessage = async () => {
      const now = await fetchSession().catch(() => undefined);
      if (now !== undefined) latest.current(now);
    };
    return () => channel.close();
  }, []);
}

/** Sends the waiting requests again, or lets them fail. */
function release(waiting: Set<(isSignedIn: boolean) => void>, isSignedIn: boolean): void {
  for (const resolve of waiting) resolve(isSignedIn);
  waiting.clear();
}

/** Tells the other tabs of the browser that a session began or ended. */
export function tellTabs(): void {
  const channel = new BroadcastChannel(TABS);
  channel.postMessage('changed');
  channel.close();
}
