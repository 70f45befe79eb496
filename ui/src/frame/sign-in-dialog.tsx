import type { Session } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

interface SignInDialogProps {
  readonly session: Session;
  onSignedIn(session: Session): void;
}

/** Asks for the sign-in on top of the page. It cannot be dismissed: without a session the page behind it does nothing. */
export function SignInDialog({ session, onSignedIn }: SignInDialogProps) {
  return (
    <Dialog title="Your session has ended">
      <p className="soft">Sign in to go on. This page and what you typed stay as they are.</p>
      <SignInForm session={session} opensIn="another tab" onSignedIn={onSignedIn} />
    </Dialog>
  );
}
