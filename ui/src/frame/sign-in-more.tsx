import { useQueryClient } from '@tanstack/react-query';
import { SESSION_KEY, type Session, useSession } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Empty } from '../parts/empty.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in of a caller that sees something without one. */
export function SignInMore({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const begin = useBegin();
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <p className="soft">Operators see every tool, all calls, approvals and sources.</p>
      <SignInForm
        session={session}
        opensIn="this tab"
        onSignedIn={(next) => {
          begin(next);
          onClose();
        }}
      />
    </Dialog>
  );
}

/** The sign-in in the place of a page that needs one. */
export function SignInHere() {
  const session = useSession();
  return (
    <Empty title="Sign in to see this page.">
      <p className="soft">
        The server knows callers without a credential as one local caller, who lists and runs tools. An operator opens
        the link that the server prints at start, or enters the token in it.
      </p>
      <SignInForm session={session} opensIn="this tab" onSignedIn={useBegin()} />
    </Empty>
  );
}

/** Goes on as another caller: what the page knows of the first one is forgotten. */
function useBegin(): (session: Session) => void {
  const queries = useQueryClient();
  return (session) => {
    queries.setQueryData(SESSION_KEY, session);
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  };
}
