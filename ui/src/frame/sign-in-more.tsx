import { useQueryClient } from '@tanstack/react-query';
import { SESSION_KEY, useSession } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in of a caller that sees something without one. */
export function SignInMore({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const queries = useQueryClient();
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <p className="soft">Operators see every tool, all calls, approvals and sources.</p>
      <SignInForm
        session={session}
        opensIn="this tab"
        onSignedIn={(next) => {
          queries.clear();
          queries.setQueryData(SESSION_KEY, next);
          onClose();
        }}
      />
    </Dialog>
  );
}
