/** One transition of a stored thing. It is `new` before its first one. */
export interface Transition<State extends string> {
  readonly from: State | 'new';
  readonly event: string;
  readonly to: State;
  /** The process or person that causes it. */
  readonly who: string;
}

/** The states in which an event may happen. */
export function fromStates<Row extends Transition<string>>(
  rows: readonly Row[],
  event: Row['event'],
): readonly Row['from'][] {
  return rows.filter((row) => row.event === event).map(({ from }) => from);
}

/** The state that each event leads to. */
type ToStates<Row extends Transition<string>> = { readonly [One in Row as One['event']]: One['to'] };

/** The states after the events of a table. Each event leads to one state. */
export function toStates<Row extends Transition<string>>(rows: readonly Row[]): ToStates<Row> {
  return Object.fromEntries(rows.map(({ event, to }) => [event, to])) as ToStates<Row>; // each row has both
}
