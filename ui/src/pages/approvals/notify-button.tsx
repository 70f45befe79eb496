import { useEffect, useRef, useState } from 'react';
import type { Approval } from '../../parts/approval/approval-types.ts';
import { toPieces } from '../../parts/visible-characters.ts';
import classes from './approvals-page.module.css';

const KEPT = 'toolcrib-notify';

function isWanted(): boolean {
  try {
    return localStorage.getItem(KEPT) === 'yes';
  } catch {
    return false; // storage is blocked
  }
}

function keep(isOn: boolean): void {
  try {
    localStorage.setItem(KEPT, isOn ? 'yes' : 'no');
  } catch {
    // Storage is blocked: the choice holds until the page is closed.
  }
}

/** Turns browser notifications on and off. The browser asks the user only after a click. */
export function NotifyButton({ waiting }: { readonly waiting: readonly Approval[] }) {
  const isPossible = 'Notification' in window;
  const [isOn, setOn] = useState(isPossible && Notification.permission === 'granted' && isWanted());
  const [isRefused, setRefused] = useState(isPossible && Notification.permission === 'denied');
  useNotifications(isOn, waiting);
  if (!isPossible) return null;
  const change = async () => {
    const allowed = isOn || (await Notification.requestPermission()) === 'granted';
    setRefused(!allowed);
    setOn(!isOn && allowed);
    keep(!isOn && allowed);
  };
  if (isRefused)
    return (
      <span
        className={`faint ${classes.blocked}`}
        title="Allow notifications of this page in the settings of the browser."
      >
        Notifications are blocked
      </span>
    );
  return (
    <button type="button" className="button" aria-pressed={isOn} onClick={() => void change()}>
      {isOn ? 'Notifications on' : 'Notify me'}
    </button>
  );
}

/** One notification for each request that arrives while another page is in front. */
function useNotifications(isOn: boolean, waiting: readonly Approval[]): void {
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  useEffect(() => {
    const before = known.current;
    known.current = new Set(waiting.map(({ id }) => id));
    if (!isOn || before === undefined || document.hasFocus()) return;
    for (const { id, tool, caller } of waiting) {
      if (before.has(id)) continue;
      const text = `${toPlain(caller.id ?? 'A caller')} wants to run ${toPlain(tool)}`;
      const notification = new Notification('Approval required', { body: text, tag: id });
      notification.onclick = () => {
        window.focus();
        location.assign(`/approvals/${id}`);
      };
    }
  }, [isOn, waiting]);
}

/** Notifications show text only; suspicious characters are replaced by their codes. */
function toPlain(text: string): string {
  return toPieces(text.slice(0, 80), 'one line')
    .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
    .join('');
}
