import { useLive } from '../parts/live-events.ts';
import { toAbsolute, useNow } from '../parts/relative-time.tsx';
import { Status, type Tone } from '../parts/status.tsx';
import classes from './shell.module.css';

/** A lost connection makes the page stale after this time. */
const STALE_MS = 10_000;

/** Tells whether the page is up to date. */
export function Connection() {
  const live = useLive();
  const now = useNow();
  if (live.state === 'off') return null;
  const [tone, word] = describe(live.state, 'since' in live ? live.since : now, now);
  return (
    <div
      role="status"
      className={classes.live}
      title={'since' in live ? `Up to date until ${toAbsolute(live.since)}` : undefined}
    >
      <Status tone={tone}>{word}</Status>
    </div>
  );
}

function describe(state: string, since: number, now: number): readonly [Tone, string] {
  if (state === 'live') return ['good', 'Live'];
  if (now - since > STALE_MS)
    return ['warn', `Stale since ${new Date(since).toLocaleTimeString('en-GB', { timeStyle: 'short' })}`];
  return state === 'connecting' ? ['quiet', 'Connecting'] : ['active', 'Reconnecting'];
}
