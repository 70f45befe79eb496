import type { Session } from '../api/session.ts';
import { CopyLine } from '../parts/copy-line.tsx';
import classes from './sign-in.module.css';
import { SignInForm } from './sign-in-form.tsx';

interface SignInPageProps {
  readonly session: Session;
  onSignedIn(session: Session): void;
}

/** The first page of a caller that the server does not know. */
export function SignInPage({ session, onSignedIn }: SignInPageProps) {
  const hasFailed = new URLSearchParams(location.search).get('signin') === 'failed';
  return (
    <main className={classes.page}>
      <div className={classes.column}>
        <p className={classes.brand}>
          <img src="/assets/icon.svg" alt="" width={20} height={20} />
          Toolcrib
        </p>
        <h1 className={classes.title}>Sign in</h1>
        <SignInForm
          session={session}
          opensIn="this tab"
          problem={hasFailed ? 'The sign-in failed: the link or the answer of the issuer was not accepted.' : undefined}
          onSignedIn={onSignedIn}
        />
        <p className={classes.help}>
          An operator opens the link that the server prints at start. The command line creates keys for others:
        </p>
        <CopyLine text="toolcrib keys create --name NAME --role ROLE" />
        <p className={`faint ${classes.version}`}>Toolcrib {session.version}</p>
      </div>
    </main>
  );
}
