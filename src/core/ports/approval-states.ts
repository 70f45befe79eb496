/** States of a request for approval, as they are listed. */
export const APPROVAL_STATES = ['waiting', 'approved', 'denied', 'expired', 'withdrawn', 'claimed', 'done'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The listed states, and `lost`: the process of the call is gone, and the request is listed as done with the outcome `unknown_outcome`. */
export type MachineState = ApprovalState | 'lost';

/** One move of a request. A request is new before its first one. */
interface Transition {
  readonly from: MachineState | 'new';
  readonly event: string;
  readonly to: MachineState;
  readonly who: string;
}

/**
 * Every move that a request can make. The store changes a state by naming an event, and takes from this table where the
 * event may begin and where it leads: a move that is not here cannot be made. docs/architecture.md has the picture.
 */
export const TRANSITIONS = [
  { from: 'new', event: 'ask', to: 'waiting', who: 'a call that needs approval' },
  { from: 'waiting', event: 'approve', to: 'approved', who: 'a person, through the store' },
  { from: 'waiting', event: 'approveOwn', to: 'claimed', who: 'the person at hand: the call that asked runs at once' },
  { from: 'waiting', event: 'deny', to: 'denied', who: 'a person' },
  { from: 'waiting', event: 'withdraw', to: 'withdrawn', who: 'the call that asked: it no longer waits' },
  { from: 'waiting', event: 'expire', to: 'expired', who: 'time' },
  { from: 'approved', event: 'expire', to: 'expired', who: 'time' },
  {
    from: 'approved',
    event: 'claim',
    to: 'claimed',
    who: 'the one call that runs; of a question, the call that asked it',
  },
  { from: 'claimed', event: 'giveBack', to: 'approved', who: 'that call: its tool did not begin' },
  { from: 'claimed', event: 'finish', to: 'done', who: 'that call' },
  { from: 'claimed', event: 'lose', to: 'lost', who: 'another process: the one of the call is silent' },
  { from: 'lost', event: 'finish', to: 'done', who: 'that call: its process was only frozen' },
] as const satisfies readonly Transition[];

type Row = (typeof TRANSITIONS)[number];
export type ApprovalEvent = Row['event'];

/** The states in which an event may happen. */
export function statesBefore(event: ApprovalEvent): readonly Row['from'][] {
  return TRANSITIONS.filter((row) => row.event === event).map(({ from }) => from);
}

type After = { readonly [One in Row as One['event']]: One['to'] };
const AFTER = Object.fromEntries(TRANSITIONS.map(({ event, to }) => [event, to])) as After; // an event leads to one state

/** The state that an event leads to. */
export function stateAfter<Event extends ApprovalEvent>(event: Event): After[Event] {
  return AFTER[event];
}

/** True for a state that time ends, as it ends every state that waits for somebody. */
export function canExpire(state: MachineState): boolean {
  return statesBefore('expire').some((before) => before === state);
}

/** True for a state in which the call may still run or is running: it needs its arguments. */
export function needsArguments(state: MachineState): boolean {
  return canExpire(state) || statesBefore('giveBack').some((before) => before === state);
}
