import { useQueryClient } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { SESSION_KEY, signOut, useSession } from '../api/session.ts';
import { Icon } from '../parts/icons.tsx';
import { Connection } from './connection.tsx';
import { Navigation } from './navigation.tsx';
import { tellTabs } from './session-gate.tsx';
import classes from './shell.module.css';
import { ThemeSwitch } from './theme-switch.tsx';
import { useEventRefresh } from './use-event-refresh.ts';
import { useShortcuts } from './use-shortcuts.ts';

const loadPalette = () => import('./palette.tsx').then(({ Palette }) => ({ default: Palette }));
const Palette = lazy(loadPalette);
const KeyboardHelp = lazy(() => import('./keyboard-help.tsx').then(({ KeyboardHelp }) => ({ default: KeyboardHelp })));
const SignInDialog = lazy(() => import('./sign-in-more.tsx').then(({ SignInMore }) => ({ default: SignInMore })));

/** A layer of the frame on top of the page. */
export type Layer = 'palette' | 'help' | 'sign-in';

/** The frame of every page: navigation on the left, the page on the right. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [layer, open] = useState<Layer>();
  useEventRefresh();
  useShortcuts(open);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), 1000); // ready before the first Ctrl-K
    return () => clearTimeout(timer);
  }, []);
  const close = () => open(undefined);
  return (
    <div className={classes.shell}>
      <a href="#page" className={classes.skip}>
        Skip to the page
      </a>
      <div className={classes.side}>
        <div className={classes.brand}>
          <Link href="/tools" className={classes.home}>
            <img src="/assets/icon.svg" alt="" width={18} height={18} />
            Toolcrib
          </Link>
          <button type="button" className={classes.search} title="Search or go to" onClick={() => open('palette')}>
            <Icon name="search" />
            <span className={classes.word}>Search or go to</span>
            <kbd className={classes.word}>Ctrl K</kbd>
          </button>
        </div>
        <Navigation />
        <div className={classes.foot}>
          <Connection />
          <Who onSignIn={() => open('sign-in')} />
          <div className={classes.row}>
            <ThemeSwitch />
            <button type="button" className="icon-button" aria-label="Keyboard shortcuts" onClick={() => open('help')}>
              <Icon name="question" />
            </button>
          </div>
        </div>
      </div>
      <main id="page" className={classes.main} tabIndex={-1}>
        {children}
      </main>
      <Suspense fallback={null}>
        {layer === 'palette' && <Palette onClose={close} onLayer={open} />}
        {layer === 'help' && <KeyboardHelp onClose={close} />}
        {layer === 'sign-in' && <SignInDialog onClose={close} />}
      </Suspense>
    </div>
  );
}

/** The caller, and its way in or out. */
function Who({ onSignIn }: { readonly onSignIn: () => void }) {
  const { signedIn, caller, role } = useSession();
  const queries = useQueryClient();
  const leave = async (): Promise<void> => {
    queries.setQueryData(SESSION_KEY, await signOut());
    tellTabs();
    location.assign('/tools');
  };
  const name = signedIn ? (caller?.id ?? role) : 'Not signed in';
  return (
    <div className={classes.who}>
      <span className={classes.name} title={`${name}${signedIn ? ` (${role})` : ''}`}>
        {name}
        {signedIn && name !== role && <span className="faint"> {role}</span>}
      </span>
      {signedIn ? (
        <button type="button" className="link" onClick={() => void leave()}>
          Sign out
        </button>
      ) : (
        <button type="button" className="link" onClick={onSignIn}>
          Sign in
        </button>
      )}
    </div>
  );
}
