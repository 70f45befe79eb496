import { useEffect, useId, useRef } from 'react';
import { useSession } from '../../api/session.ts';
import { useNow } from '../relative-time.tsx';
import classes from './approval-remember.module.css';
import { ApprovalRule, hasUses } from './approval-rule.tsx';
import type { Approval, ApprovalBinding, Remember } from './approval-types.ts';
import { VaryChoice } from './vary-choice.tsx';

const HOUR_MS = 3_600_000;
/** The server forgets every remembered approval after this time. */
const LONGEST_MS = 30 * 24 * HOUR_MS;

const TIMES = [
  { says: '1 hour', forMs: HOUR_MS },
  { says: '8 hours', forMs: 8 * HOUR_MS },
  { says: '1 day', forMs: 24 * HOUR_MS },
  { says: '7 days', forMs: 7 * 24 * HOUR_MS },
  { says: '30 days', forMs: LONGEST_MS },
];

/** Why an answer to this request cannot be remembered; undefined if it can. */
export function whyNotRemembered({ question, caller, items }: Approval): string | undefined {
  if (question !== undefined) return 'The answer to a question of a running tool cannot be remembered.';
  if (caller.id === undefined) return 'The caller has no id, so the answer cannot be remembered.';
  if (items !== undefined) return 'To remember an approval, answer its call alone.';
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
  const now = useNow();
  const { role } = useSession();
  const isTime = typeof chosen === 'object' && !hasUses(chosen);
  const rule = useRef<HTMLFieldSetElement>(null);
  const what = typeof chosen === 'object' ? (isTime ? 'time' : 'uses') : chosen;
  useEffect(() => {
    if (what !== undefined) rule.current?.scrollIntoView({ block: 'nearest' }); // what would be saved is read before it is
  }, [what]);
  const option = (says: string, remember: Remember | undefined, isChosen: boolean) => (
    <label className={classes.option}>
      <input type="radio" name={name} checked={isChosen} onChange={() => onChoose(remember)} />
      {says}
    </label>
  );
  return (
    <fieldset ref={rule} className={classes.remember}>
      <legend className={classes.legend}>This approval counts</legend>
      <div className={classes.options}>
        {option('for this call only', undefined, chosen === undefined)}
        {option('for the same arguments', 'arguments', chosen === 'arguments')}
        {approval.conversation !== undefined &&
          option('for this conversation', 'conversation', chosen === 'conversation')}
        {role === 'operator' && option('for further calls', { uses: 10, forMs: HOUR_MS }, hasUses(chosen))}
        {option('for all calls, for a time', { forMs: HOUR_MS }, isTime)}
      </div>
      {typeof chosen === 'object' && <Bounds chosen={chosen} onChoose={onChoose} />}
      {hasUses(chosen) && <VaryChoice given={approval.arguments} terms={chosen} onChoose={onChoose} />}
      {chosen !== undefined && (
        <ApprovalRule
          about={approval}
          remember={chosen}
          endsAt={now + (typeof chosen === 'object' ? (chosen.forMs ?? LONGEST_MS) : LONGEST_MS)}
          hashes={binding}
        />
      )}
    </fieldset>
  );
}

/** How many calls and for how long. */
function Bounds({ chosen, onChoose }: { chosen: Exclude<Remember, string>; onChoose(remember: Remember): void }) {
  return (
    <div className={classes.options}>
      {hasUses(chosen) && (
        <label className={classes.option}>
          Number of calls
          <input
            type="number"
            className={classes.field}
            min={1}
            max={10_000}
            value={chosen.uses}
            onChange={({ target }) => onChoose({ ...chosen, uses: Math.max(1, Math.round(target.valueAsNumber) || 1) })}
          />
        </label>
      )}
      <label className={classes.option}>
        For
        <select
          className={classes.field}
          value={chosen.forMs}
          onChange={({ target }) => onChoose({ ...chosen, forMs: Number(target.value) })}
        >
          {TIMES.map(({ says, forMs }) => (
            <option key={forMs} value={forMs}>
              {says}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
