import { type FormEvent, useId, useState } from 'react';
import { type Session, signIn } from '../api/session.ts';
import classes from './sign-in.module.css';

interface SignInFormProps {
  readonly session: Session;
  /** Where the sign-in at an issuer opens: in this tab, or in another so that this page stays. */
  readonly opensIn: 'this tab' | 'another tab';
  /** A problem to show before the first try. */
  readonly problem?: string | undefined;
  onSignedIn(session: Session): void;
}

/** Takes a credential, or leads to the issuer. */
export function SignInForm({ session, opensIn, problem: before, onSignedIn }: SignInFormProps) {
  const [credential, setCredential] = useState('');
  const [problem, setProblem] = useState(before);
  const [isSending, setSending] = useState(false);
  const field = useId();
  const issuer = session.methods.find(({ kind }) => kind === 'issuer');

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    try {
      onSignedIn(await signIn(credential.trim()));
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    }
    setSending(false);
  };

  return (
    <form onSubmit={submit} className={classes.form}>
      {issuer?.start !== undefined && (
        <>
          <a
            className={`button ${classes.issuer}`}
            href={withReturn(issuer.start)}
            {...(opensIn === 'another tab' && { target: '_blank', rel: 'noreferrer' })}
          >
            {issuer.says}
          </a>
          <p className={classes.or}>or</p>
        </>
      )}
      <label htmlFor={field} className={classes.label}>
        {labelOf(session)}
      </label>
      <input
        id={field}
        className={`input ${classes.input}`}
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        aria-describedby={`${field}-problem`}
        aria-invalid={problem !== undefined}
        value={credential}
        onChange={(event) => setCredential(event.currentTarget.value)}
      />
      <p id={`${field}-problem`} role="alert" className={classes.problem}>
        {problem}
      </p>
      <button type="submit" className="button primary" disabled={isSending || credential.trim() === ''}>
        {isSending ? 'Signing in' : 'Sign in'}
      </button>
    </form>
  );
}

const WORDS: Readonly<Record<string, string>> = { token: 'Operator token', key: 'API key', jwt: 'JWT' };

/** Operator token, API key or JWT: as far as the server takes them. */
function labelOf({ methods }: Session): string {
  const words = methods.flatMap(({ kind }) => WORDS[kind] ?? []);
  return words.length < 2 ? (words[0] ?? 'Credential') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The address of the issuer, which leads back to this page. */
function withReturn(start: string): string {
  const url = new URL(start, location.origin);
  url.searchParams.set('to', location.pathname + location.search.replace(/[?&]signin=failed/, ''));
  return url.pathname + url.search;
}
