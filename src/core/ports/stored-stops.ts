import { describe, didYouMean } from '../read-options.ts';
import type { ToolCall } from '../tool-call.ts';
import { type ToolError, toolError } from '../tool-error.ts';

/** The kinds of targets; besides them there is `all`. */
const STOP_KINDS = ['tool', 'source', 'caller', 'profile'] as const;
export type StopKind = (typeof STOP_KINDS)[number];

/** An emergency stop: an operator forbids the calls of one tool, source, caller or profile, or all calls. */
export interface Stop {
  /** `tool:NAME`, `source:NAME`, `caller:ID`, `profile:NAME` or `all`. */
  readonly target: string;
  /** A message for the callers. */
  readonly note?: string;
  /** The operator who stopped it. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A stop as stored. */
export interface StoredStop extends Stop {
  /** Changes with every request to cancel the calls in flight, so that each process carries it out once. */
  readonly cancelId?: string;
}

/** The stops of all processes with this store. */
export interface StoredStops {
  /** All stops, oldest first. */
  list(): Promise<readonly StoredStop[]>;
  /** Adds a stop. If the target is stopped already, that stop is kept, and only a new `cancelId` is stored. */
  add(stop: Omit<StoredStop, 'at'>): Promise<{ readonly isNew: boolean; readonly stop: StoredStop }>;
  /** Removes a stop and returns it; undefined if the target is not stopped. */
  remove(target: string): Promise<StoredStop | undefined>;
}

/** The properties of a call that stops refer to. */
export interface Stoppable {
  /** Absent if the tool is unknown or hidden: a stop must not reveal that it exists. */
  readonly tool?: string | undefined;
  readonly source?: string | undefined;
  /** The caller's id. */
  readonly caller: string | undefined;
  readonly profile: string;
}

/** The stops in force in this process, for the path of a call. */
export interface StopsInForce {
  /** True in normal operation: the stops are known, and there are none. */
  readonly isOpen: boolean;
  /** False until the stops were read for the first time. */
  readonly isKnown: boolean;
  /** The stops that cover a call, widest first. */
  covering(call: Stoppable): readonly Stop[];
  /** Resolves when the stops were read once; to an error if the store cannot be read. */
  known(): Promise<ToolError | undefined>;
}

/** A crib without stops, for extensions outside a crib. */
export const NO_STOPS: StopsInForce = {
  isOpen: true,
  isKnown: true,
  covering: () => [],
  known: async () => undefined,
};

/** The properties of a call that stops refer to. */
export function stoppableOf(call: ToolCall): Stoppable {
  const { name, source } = call.spec;
  return { ...(source !== '' && { tool: name, source }), caller: call.caller.id, profile: call.profile };
}

/** The targets that cover a call, widest first. */
export function targetsOf({ tool, source, caller, profile }: Stoppable): readonly string[] {
  return [
    'all',
    ...(caller === undefined ? [] : [`caller:${caller}`]),
    `profile:${profile}`,
    ...(source === undefined ? [] : [`source:${source}`]),
    ...(tool === undefined ? [] : [`tool:${tool}`]),
  ];
}

/** A stop in words, without its author. */
export function stopInWords({ target, note, at }: Stop): string {
  const since = `${target}, since ${new Date(at).toISOString()}`;
  return note === undefined ? since : `${since}: ${note}`;
}

/** The commands that end these stops. */
export function resumeInWords(stops: readonly Stop[]): string {
  return stops.map(({ target }) => `"toolcrib resume ${target}"`).join(' and ');
}

/** The error of a call that was stopped before its tool began. */
export function stoppedError(name: string, stops: readonly Stop[]): ToolError {
  const why = stops.map(stopInWords).join('; ');
  const message = `"${name}" was not run: stopped by the operator (${why}). It can be called again after the operator has resumed it with ${resumeInWords(stops)}.`;
  return toolError('unavailable', message);
}

/** A target that was read, or the reason why it is not one. */
export type ReadTarget =
  | { readonly target: string; readonly kind: StopKind | 'all'; readonly name: string }
  | { readonly mistake: string };

const FORMS = 'tool:NAME, source:NAME, caller:ID, profile:NAME or all';
const MAX_NAME = 200;
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,47}$/;

/** Reads a target. */
export function readStopTarget(given: unknown): ReadTarget {
  if (given === 'all') return { target: 'all', kind: 'all', name: '' };
  if (typeof given !== 'string' || !given.includes(':')) {
    const words = ['all', ...STOP_KINDS.map((kind) => `${kind}:`)];
    const guess = typeof given === 'string' ? didYouMean(given, words) : '';
    return { mistake: `${describe(given)} cannot be stopped: use ${FORMS}.${guess}` };
  }
  const at = given.indexOf(':');
  const [word, name] = [given.slice(0, at), given.slice(at + 1)];
  const kind = STOP_KINDS.find((known) => known === word);
  if (kind === undefined)
    return { mistake: `${describe(given)} cannot be stopped: use ${FORMS}.${didYouMean(word, STOP_KINDS)}` };
  if (name === '' || name.length > MAX_NAME || !isPlainText(name))
    return {
      mistake: `The name after "${kind}:" must be a text of 1 to ${MAX_NAME} characters without control characters, got ${describe(name)}.`,
    };
  if (kind === 'tool' && !TOOL_NAME.test(name))
    return {
      mistake: `${describe(name)} is not the name of a tool. A stop names one tool; to stop several, stop their source, the profile or the caller.`,
    };
  return { target: given, kind, name };
}

/** True if every store can hold the text and every terminal can show it. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}
