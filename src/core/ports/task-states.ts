import type { TaskState } from './stored-tasks.ts';
import { fromStates, type Transition, toStates } from './transitions.ts';

/**
 * The listed states, and two that a task has after its process is gone: `requeued` is listed as queued, `lost` as done with
 * the outcome `unknown_outcome`. In both, the process can still store the real end if it was only frozen.
 */
export type TaskMachineState = TaskState | 'requeued' | 'lost';

/**
 * All transitions of a task. The store changes a state by an event and takes the states before and after from this table,
 * so no other transition is possible. docs/architecture.md shows the diagram.
 */
export const TASK_TRANSITIONS = [
  { from: 'new', event: 'submit', to: 'queued', who: 'a caller, or a schedule' },
  { from: 'new', event: 'park', to: 'waiting', who: 'a script that waits for approval of its calls' },
  { from: 'queued', event: 'claim', to: 'running', who: 'one process that can run it' },
  { from: 'requeued', event: 'claim', to: 'running', who: 'another process than before' },
  {
    from: 'waiting',
    event: 'claim',
    to: 'running',
    who: 'one process, after the approval request was answered or ended',
  },
  { from: 'running', event: 'postpone', to: 'queued', who: 'its process: the tool did not begin' },
  { from: 'requeued', event: 'postpone', to: 'queued', who: 'its process, which was only frozen' },
  { from: 'running', event: 'await', to: 'waiting', who: 'its process: the call needs approval' },
  { from: 'requeued', event: 'await', to: 'waiting', who: 'its process, which was only frozen' },
  { from: 'running', event: 'finish', to: 'done', who: 'its process' },
  { from: 'requeued', event: 'finish', to: 'done', who: 'its process, which was only frozen' },
  { from: 'lost', event: 'finish', to: 'done', who: 'its process, which was only frozen' },
  { from: 'queued', event: 'cancel', to: 'done', who: 'the caller, or an operator' },
  { from: 'requeued', event: 'cancel', to: 'done', who: 'the caller, or an operator' },
  { from: 'waiting', event: 'cancel', to: 'done', who: 'the caller, or an operator' },
  { from: 'queued', event: 'expire', to: 'done', who: 'time' },
  { from: 'requeued', event: 'expire', to: 'done', who: 'time' },
  { from: 'running', event: 'unclaim', to: 'queued', who: 'its process: the answer to its claim was lost' },
  {
    from: 'running',
    event: 'requeue',
    to: 'requeued',
    who: 'another process: its process is gone, its tool may be repeated',
  },
  {
    from: 'running',
    event: 'lose',
    to: 'lost',
    who: 'another process: its process is gone, its tool must not be repeated',
  },
] as const satisfies readonly Transition<TaskMachineState>[];

type Row = (typeof TASK_TRANSITIONS)[number];
export type TaskEvent = Row['event'];

/** The states in which an event may happen to a task. */
export function taskStatesBefore(event: TaskEvent): readonly Row['from'][] {
  return fromStates(TASK_TRANSITIONS, event);
}

const AFTER = toStates(TASK_TRANSITIONS);

/** The state of a task after an event. */
export function taskStateAfter(event: TaskEvent): TaskMachineState {
  return AFTER[event];
}

/** The source of scripts that began on the command line. No server has it: the command goes on with them when it is repeated. */
export const COMMAND_SOURCE = '(command line)';

/** The door under which tasks call. */
export const TASK_DOOR = 'task';
