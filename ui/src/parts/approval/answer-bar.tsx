import { type RefObject, useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { RelativeTime, useNow } from '../relative-time.tsx';
import { Status } from '../status.tsx';
import { VisibleText } from '../visible-text.tsx';
import classes from './approval-card.module.css';
import { RememberChoice, whyNotRemembered } from './approval-remember.tsx';
import type { Approval, ApprovalBinding, Decision, Remember } from './approval-types.ts';
import { useSettled } from './use-settled.ts';
import { whyNotAnswer } from './who-answers.ts';

interface AnswerBarProps {
  readonly approval: Approval;
  readonly binding: ApprovalBinding | undefined;
  /** How many folded values keep the call from being approved. */
  readonly folded: number;
  readonly hasKeys: boolean;
  /** How many calls are answered together. */
  readonly count?: number;
  readonly isSending: boolean;
  readonly error: Error | null;
  onOpenFolded(): void;
  onAnswer(decision: Decision): void;
}

/** The answer that can be given, or why this session may not answer. */
export function AnswerBar(props: AnswerBarProps) {
  const why = whyNotAnswer(props.approval, useSession());
  return why === undefined ? <OpenAnswer {...props} /> : <p className={classes.given}>{why}</p>;
}

/** Approve or deny, with a note and a memory. Takes no answer for 400 ms after it appeared or moved. */
function OpenAnswer(props: AnswerBarProps) {
  const { approval, folded, hasKeys, isSending, count = 1, onAnswer, onOpenFolded } = props;
  const bar = useRef<HTMLDivElement>(null);
  const noteInput = useRef<HTMLInputElement>(null);
  const { isSettled, isStill } = useSettled(bar, approval.id);
  const now = useNow();
  const [note, setNote] = useState('');
  const [remember, setRemember] = useState<Remember | undefined>(undefined);
  const isOver = Date.parse(approval.expiresAt) <= now;
  const mayAnswer = isSettled && !isSending && !isOver;
  const mayApprove = mayAnswer && folded === 0;
  const answer = (decision: 'approve' | 'deny') => {
    if (!isStill() || (decision === 'approve' ? !mayApprove : !mayAnswer)) return;
    const memory = decision === 'approve' && remember !== undefined ? { remember } : {};
    onAnswer({ decision, ...(note !== '' && { note }), ...memory });
  };
  useAnswerKeys(hasKeys, {
    a: () => answer('approve'),
    d: () => answer('deny'),
    o: onOpenFolded,
    n: () => noteInput.current?.focus(),
  });
  return (
    <>
      <div className={classes.memory}>
        <MemoryOrWhyNot {...props} remember={remember} onRemember={setRemember} />
      </div>
      <div className={classes.bar} ref={bar}>
        <div className={classes.answers}>
          <input
            ref={noteInput}
            className={`input ${classes.note}`}
            aria-label="Note to the caller"
            placeholder="Note to the caller (optional)"
            maxLength={2000}
            value={note}
            onChange={({ currentTarget }) => setNote(currentTarget.value)}
          />
          <button type="button" className="button danger" disabled={!mayAnswer} onClick={() => answer('deny')}>
            {count === 1 ? 'Deny' : `Deny ${count}`} {hasKeys && <kbd className={classes.key}>D</kbd>}
          </button>
          <button type="button" className="button primary" disabled={!mayApprove} onClick={() => answer('approve')}>
            {toVerb(count, remember)} {hasKeys && <kbd className={classes.key}>A</kbd>}
          </button>
        </div>
        <Obstacle folded={folded} isOver={isOver} error={props.error} onOpenFolded={onOpenFolded} hasKeys={hasKeys} />
      </div>
    </>
  );
}

function toVerb(count: number, remember: Remember | undefined): string {
  if (count > 1) return `Approve ${count}`;
  return remember === undefined ? 'Approve' : 'Approve and remember';
}

function MemoryOrWhyNot(
  props: AnswerBarProps & { remember: Remember | undefined; onRemember(chosen: Remember | undefined): void },
) {
  const { approval, binding, remember, onRemember } = props;
  const why = whyNotRemembered(approval);
  if (why !== undefined) return <p className={classes.hint}>{why}</p>;
  return <RememberChoice approval={approval} binding={binding} chosen={remember} onChoose={onRemember} />;
}

interface ObstacleProps {
  readonly folded: number;
  readonly isOver: boolean;
  readonly hasKeys: boolean;
  readonly error: Error | null;
  onOpenFolded(): void;
}

/** Why the call cannot be approved now. */
function Obstacle({ folded, isOver, error, hasKeys, onOpenFolded }: ObstacleProps) {
  if (error !== null)
    return (
      <p className={classes.hint} role="alert">
        <Status tone="danger">Not answered</Status> <VisibleText text={error.message} />
      </p>
    );
  if (isOver) return <p className={classes.hint}>The request has expired.</p>;
  if (folded === 0) return null;
  return (
    <p className={classes.hint}>
      {folded === 1 ? 'One value is folded.' : `${folded} values are folded.`} Open {folded === 1 ? 'it' : 'them'}{' '}
      before you approve.{' '}
      <button type="button" className={classes.link} onClick={onOpenFolded}>
        {folded === 1 ? 'Open it' : 'Open all'}
      </button>{' '}
      {hasKeys && <kbd className={classes.key}>O</kbd>}
    </p>
  );
}

/** A key after G belongs to G, even if it comes late. */
const LEADER_MS = 3000;

/** Keys count only outside of fields and without modifiers. */
function useAnswerKeys(isOn: boolean, actions: Readonly<Record<string, () => void>>): void {
  const latest: RefObject<typeof actions> = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    if (!isOn) return;
    let leader = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement &&
        event.target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select');
      const isAfterLeader = event.timeStamp - leader < LEADER_MS; // G and A go to this page, they approve nothing
      leader = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (
        isTyping ||
        isAfterLeader ||
        event.repeat ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector('dialog[open]') !== null
      )
        return;
      const action = latest.current[event.key.toLowerCase()];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOn]);
}

/** The time that is left, as a countdown. */
export function Countdown({ until }: { readonly until: string }) {
  const left = Date.parse(until) - useNow();
  if (left <= 0) return <Status tone="quiet">Expired</Status>;
  const seconds = Math.ceil(left / 1000);
  const minutes = Math.floor(seconds / 60);
  const text =
    minutes < 60
      ? `${minutes}:${String(seconds % 60).padStart(2, '0')}`
      : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return (
    <span className="tabular" title={`until ${new Date(until).toLocaleString('en-GB')}`}>
      {left < 60_000 ? <Status tone="warn">{`Expires in ${text}`}</Status> : `Expires in ${text}`}
    </span>
  );
}

/** The answer that a request has, with its approver, and what became of the call. */
export function AnswerGiven({ approval }: { readonly approval: Approval }) {
  const { answer, state, outcome, claim } = approval;
  return (
    <div className={classes.given} role="status">
      {answer === undefined ? (
        <Status tone="quiet">
          {state === 'withdrawn' ? 'Withdrawn: the caller no longer waits' : 'Expired without an answer'}
        </Status>
      ) : (
        <span>
          <Status tone={answer.decision === 'approve' ? 'good' : 'danger'}>
            {answer.decision === 'approve' ? 'Approved' : 'Denied'}
          </Status>{' '}
          by{' '}
          <strong>
            <VisibleText text={answer.by} limit={80} />
          </strong>{' '}
          <span className="soft">
            <RelativeTime at={answer.at} />
          </span>
        </span>
      )}
      {answer?.note !== undefined && (
        <span className="soft">
          “<VisibleText text={answer.note} limit={2000} />”
        </span>
      )}
      {state === 'claimed' && <Status tone="active">Running</Status>}
      {state === 'approved' && (
        <span className="soft">{approval.isParked ? 'The call starts now.' : 'The call continues.'}</span>
      )}
      {outcome !== undefined && (
        <Status tone={outcome === 'done' ? 'good' : 'danger'}>
          {outcome === 'done' ? 'The call has run' : `The call ended: ${outcome}`}
        </Status>
      )}
      {claim !== undefined && <a href={`/calls/${encodeURIComponent(claim.callId)}`}>Show the call</a>}
    </div>
  );
}
