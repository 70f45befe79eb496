import { useId } from 'react';
import { toAbsolute, useNow } from '../relative-time.tsx';
import { VisibleText } from '../visible-text.tsx';
import classes from './approval-remember.module.css';
import type { Approval, ApprovalBinding, Remember } from './approval-types.ts';

const DAY_MS = 86_400_000;
/** The server forgets every remembered approval after this time. */
const LONGEST_MS = 30 * DAY_MS;

const TIMES = [
  { says: '1 hour', forMs: 3_600_000 },
  { says: '8 hours', forMs: 8 * 3_600_000 },
  { says: '1 day', forMs: DAY_MS },
  { says: '7 days', forMs: 7 * DAY_MS },
  { says: '30 days', forMs: LONGEST_MS },
];

/** Why an answer to this request cannot be remembered; undefined if it can. */
export function whyNotRemembered({ question, caller }: Approval): string | undefined {
  if (question !== undefined) return 'The answer to a question of a running tool cannot be remembered.';
  if (caller.id === undefined) return 'The caller has no id, so the answer cannot be remembered.';
  return undefined;
}

interface RememberChoiceProps {
  readonly approval: Approval;
  readonly binding: ApprovalBinding | undefined;
  readonly chosen: Remember | undefined;
  onChoose(remember: Remember | undefined): void;
}

/** Chooses how long an approval counts, and shows the rule that would be saved: scope, bounds and end. */
export function RememberChoice({ approval, binding, chosen, onChoose }: RememberChoiceProps) {
  const name = useId();
  const option = (says: string, remember: Remember | undefined, isChosen: boolean) => (
    <label className={classes.option}>
      <input type="radio" name={name} checked={isChosen} onChange={() => onChoose(remember)} />
      {says}
    </label>
  );
  return (
    <fieldset className={classes.remember}>
      <legend className={classes.legend}>This approval counts</legend>
      <div className={classes.options}>
        {option('for this call only', undefined, chosen === undefined)}
        {option('for the same arguments', 'arguments', chosen === 'arguments')}
        {approval.conversation !== undefined &&
          option('for this conversation', 'conversation', chosen === 'conversation')}
        {option('for all calls, for a time', { forMs: 3_600_000 }, typeof chosen === 'object')}
        {typeof chosen === 'object' && (
          <select
            className={classes.time}
            aria-label="For how long"
            value={chosen.forMs}
            onChange={({ target }) => onChoose({ forMs: Number(target.value) })}
          >
            {TIMES.map(({ says, forMs }) => (
              <option key={forMs} value={forMs}>
                {says}
              </option>
            ))}
          </select>
        )}
      </div>
      {chosen !== undefined && <Rule approval={approval} binding={binding} remember={chosen} />}
    </fieldset>
  );
}

interface RuleProps {
  readonly approval: Approval;
  readonly binding: ApprovalBinding | undefined;
  readonly remember: Remember;
}

/** The exact rule that the server would save. */
function Rule({ approval, binding, remember }: RuleProps) {
  const now = useNow();
  const { tool, caller, profile, conversation, reason } = approval;
  const end = now + (typeof remember === 'object' ? remember.forMs : LONGEST_MS);
  return (
    <dl className={classes.rule} aria-label="The rule that will be saved">
      <dt>Rule</dt>
      <dd>
        Calls of{' '}
        <span className="name">
          <VisibleText text={tool} limit={120} />
        </span>{' '}
        by <VisibleText text={caller.id ?? ''} limit={80} /> in the profile <VisibleText text={profile} limit={80} />{' '}
        run without asking.
      </dd>
      <dt>Scope</dt>
      <dd>
        {remember === 'arguments' && (
          <>
            Only with exactly these arguments
            {binding !== undefined && (
              <>
                {' '}
                (<span className="name">{binding.argumentsHash.slice(0, 8)}</span>)
              </>
            )}
            .
          </>
        )}
        {remember === 'conversation' && (
          <>
            Any arguments, only in the conversation{' '}
            <span className="name">
              <VisibleText text={conversation ?? ''} limit={80} />
            </span>
            .
          </>
        )}
        {typeof remember === 'object' && 'Any arguments, in any conversation.'}
      </dd>
      <dt>Bound to</dt>
      <dd>
        The present definition of the tool
        {binding !== undefined && (
          <>
            {' '}
            (<span className="name">{binding.definitionHash.slice(0, 8)}</span>)
          </>
        )}
        , the present roles and permissions of the caller, and the reason “
        <VisibleText text={reason} limit={200} />
        ”. If one of them changes, the server asks again.
      </dd>
      <dt>Ends</dt>
      <dd>{toAbsolute(end)}, or when an approver revokes it under Remembered.</dd>
    </dl>
  );
}
