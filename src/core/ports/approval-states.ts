import { fromStates, type Transition, toStates } from './transitions.ts';

/** Listed states of an approval request. */
export const APPROVAL_STATES = ['waiting', 'approved', 'denied', 'expired', 'withdrawn', 'claimed', 'done'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The listed states, and `lost`: the process of the call is gone. The request is then listed as done with the outcome `unknown_outcome`. */
export type MachineState = ApprovalState | 'lost';

/**
 * All transitions of a request. The store changes a state by an event and takes the states before and after from this
 * table, so no other transition is possible. docs/architecture.md shows the diagram.
 */
export const TRANSITIONS = [
  { from: 'new', event: 'ask', to: 'waiting', who: 'a call that needs approval' },
  { from: 'waiting', event: 'approve', to: 'approved', who: 'an approver, through the store' },
  { from: 'waiting', event: 'approveOwn', to: 'claimed', who: 'the approval callback: the call runs at once' },
  { from: 'waiting', event: 'deny', to: 'denied', who: 'an approver' },
  { from: 'waiting', event: 'withdraw', to: 'withdrawn', who: 'the requesting call: it no longer waits' },
  { from: 'waiting', event: 'expire', to: 'expired', who: 'time' },
  { from: 'approved', event: 'expire', to: 'expired', who: 'time' },
  {
    from: 'approved',
    event: 'claim',
    to: 'claimed',
    who: 'the one call that runs; for a question, the call that asked it',
  },
  { from: 'claimed', event: 'giveBack', to: 'approved', who: 'that call: its tool did not begin' },
  { from: 'claimed', event: 'finish', to: 'done', who: 'that call' },
  { from: 'claimed', event: 'lose', to: 'lost', who: 'another process: the process of the call is gone' },
  { from: 'lost', event: 'finish', to: 'done', who: 'that call: its process was only frozen' },
] as const satisfies readonly Transition<MachineState>[];

type Row = (typeof TRANSITIONS)[number];
export type ApprovalEvent = Row['event'];

/** The states in which an event may happen. */
export function statesBefore(event: ApprovalEvent): readonly Row['from'][] {
  return fromStates(TRANSITIONS, event);
}

const AFTER = toStates(TRANSITIONS);

/** The state that an event leads to. */
export function stateAfter<Event extends ApprovalEvent>(event: Event): (typeof AFTER)[Event] {
  return AFTER[event];
}

/** True if a request in this state can expire. */
export function canExpire(state: MachineState): boolean {
  return statesBefore('expire').some((before) => before === state);
}

/** True if the call may still run or is running, so its arguments are needed. */
export function needsArguments(state: MachineState): boolean {
  return canExpire(state) || statesBefore('giveBack').some((before) => before === state);
}
