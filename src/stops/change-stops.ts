import { randomUUID } from 'node:crypto';
import { type Caller, readCaller } from '../core/caller.ts';
import type { AuditTrail } from '../core/ports/audit-trail.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import {
  isPlainText,
  type ReadTarget,
  readStopTarget,
  type Stop,
  type StopKind,
  type StoredStop,
} from '../core/ports/stored-stops.ts';
import { describe, didYouMean, readOptions } from '../core/read-options.ts';
import { messageOf, ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import type { LiveStops } from './live-stops.ts';

/** Options for stopping calls. */
export interface StopOptions extends ResumeOptions {
  /** True to cancel the calls in flight as well, in every process. */
  readonly cancel?: boolean;
  /** True to stop a name that is not listed, such as a tool of another configuration with the same store. */
  readonly force?: boolean;
}

/** Options for resuming calls. */
export interface ResumeOptions {
  /** At most 200 characters. Callers are shown the note of a stop; the note of its end is only in the audit log. */
  readonly note?: string;
  /** The door of the request, for the audit log; default `library`. */
  readonly door?: string;
}

/** The stop after the change, or the reason why nothing was changed. */
export type StopOutcome =
  | {
      readonly ok: true;
      /** `already`: the target was stopped before, and that stop is kept. */
      readonly result: 'stopped' | 'already' | 'resumed';
      readonly stop: Stop;
      /** Number of calls in flight that ended in this process. */
      readonly ended: number;
    }
  | { readonly ok: false; readonly error: ToolError };

/** The emergency stops of a crib. They hold in every process with the same store; without a store, in this process. */
export interface CribStops {
  /** Lists the stops, oldest first. */
  list(): Promise<readonly Stop[]>;
  /** Stops `tool:NAME`, `source:NAME`, `caller:ID`, `profile:NAME` or `all`: calls are refused as `unavailable`. For operators only. Never rejects. */
  stop(target: string, options: StopOptions, by: Caller): Promise<StopOutcome>;
  /** Ends a stop. For operators only. Never rejects. */
  resume(target: string, options: ResumeOptions, by: Caller): Promise<StopOutcome>;
}

/** Dependencies of the stops of a crib. */
export interface CribStopsOptions extends Pick<CribContext, 'store' | 'redact'> {
  readonly live: LiveStops;
  /** The audit log, if calls are recorded. */
  trail(): (Pick<AuditTrail, 'recordStop'> & { flush(): Promise<void> }) | undefined;
  /** The names of this kind that exist now; undefined if every name is accepted. */
  namesOf(kind: StopKind): readonly string[] | undefined;
  now(): number;
  warn(message: string): void;
}

const MAX_NOTE = 200;
const MAX_STOPS = 1000;

type Refused = Extract<StopOutcome, { ok: false }>;
type Target = Exclude<ReadTarget, { mistake: string }>;

/** A stop or the end of one, with everything that was read. */
interface Wanted {
  readonly target: Target;
  readonly options: StopOptions;
  readonly by: string;
}

/** Creates the stops of a crib. */
export function createStops(options: CribStopsOptions): CribStops {
  const { live, redact, warn } = options;
  const shown = ({ cancelId: _id, note, ...stop }: StoredStop): Stop => ({
    ...stop,
    ...(note !== undefined && { note: redact(note) }),
  });
  const change = async (read: () => Wanted, work: (wanted: Wanted) => Promise<StopOutcome>): Promise<StopOutcome> => {
    try {
      const wanted = read();
      const outcome = await work(wanted);
      if (outcome.ok && (outcome.result !== 'already' || wanted.options.cancel === true))
        await record(outcome.result === 'resumed' ? 'resumed' : 'stopped', wanted, options);
      return outcome.ok ? { ...outcome, stop: shown(outcome.stop) } : outcome;
    } catch (cause) {
      if (cause instanceof ToolcribError) return failureOf(cause);
      throw cause;
    }
  };
  const freshen = async (): Promise<void> => {
    await live.look().catch((cause) => warn(`Reading the emergency stops failed: ${messageOf(cause)}`));
  };
  return {
    list: async () => (await live.look()).map(shown),
    stop: (target, given, by) =>
      change(
        () => readWanted(target, { given, keys: STOP_KEYS, by }),
        async (wanted) => {
          const mistake = await whyNotStopped(wanted, options);
          if (mistake !== undefined) return refuse('invalid_input', mistake);
          const { isNew, stop } = await addStop(wanted, options);
          const ended = live.enforce(stop);
          await freshen(); // a read that began before the stop was written may have ended it here
          return { ok: true, result: isNew ? 'stopped' : 'already', stop, ended };
        },
      ),
    resume: (target, given, by) =>
      change(
        () => readWanted(target, { given, keys: RESUME_KEYS, by }),
        async ({ target: { target: name } }) => {
          const stop = await removeStop(name, options);
          if (stop === undefined) return refuse('conflict', notStopped(name, await live.look()));
          live.lift(name);
          await freshen();
          return { ok: true, result: 'resumed', stop, ended: 0 };
        },
      ),
  };
}

async function addStop({ target: { target }, options, by }: Wanted, { store, live, now }: CribStopsOptions) {
  const { note, cancel } = options;
  const stop = {
    target,
    by,
    ...(note !== undefined && note !== '' && { note }),
    ...(cancel === true && { cancelId: randomUUID() }),
  };
  if (store !== undefined) return store.stops.add(stop);
  const before: StoredStop | undefined = (await live.look()).find((one) => one.target === target);
  if (before === undefined) return { isNew: true, stop: { ...stop, at: now() } };
  return { isNew: false, stop: { ...before, ...(stop.cancelId !== undefined && { cancelId: stop.cancelId }) } };
}

async function removeStop(target: string, { store, live }: CribStopsOptions): Promise<StoredStop | undefined> {
  if (store !== undefined) return store.stops.remove(target);
  return (await live.look()).find((stop) => stop.target === target);
}

/** The reason why a stop would not do what the operator means: its name is not listed, or there are too many. */
async function whyNotStopped(
  { target: { target, kind, name }, options: { force } }: Wanted,
  { live, namesOf }: CribStopsOptions,
): Promise<string | undefined> {
  const stops = await live.look();
  if (stops.some((stop) => stop.target === target)) return undefined;
  if (stops.length >= MAX_STOPS) return `There are ${MAX_STOPS} stops already. Stop "all", or resume some first.`;
  const names = kind === 'all' || force === true ? undefined : namesOf(kind);
  if (names === undefined || names.includes(name)) return undefined;
  return unknownName(kind, name, names);
}

/** The refusal to stop a name that is not listed. */
function unknownName(kind: string, name: string, names: readonly string[]): string {
  return `Nothing was stopped: the ${kind} "${name}" was not found.${didYouMean(name, names)} To stop a name that is not listed here, set force (--force).`;
}

function notStopped(target: string, stops: readonly Stop[]): string {
  const targets = stops.map((stop) => stop.target);
  const others = targets.length === 0 ? 'No stop is in force.' : `Stopped are: ${targets.slice(0, 20).join(', ')}.`;
  return `${target} is not stopped, so it cannot be resumed. ${others}`;
}

/** The stop holds whether or not it could be recorded: it must not wait for the audit log. */
async function record(outcome: 'stopped' | 'resumed', wanted: Wanted, { trail, warn }: CribStopsOptions) {
  const log = trail();
  if (log === undefined) return;
  const { target, options, by } = wanted;
  const { note, door = 'library', cancel } = options;
  log.recordStop({ outcome, target: target.target, by, door, note, isCancelling: cancel === true });
  await log.flush().catch((cause) => warn(`The audit row of a stop is waiting to be written: ${messageOf(cause)}`));
}

const RESUME_KEYS = ['note', 'door'] as const;
const STOP_KEYS = ['note', 'door', 'cancel', 'force'] as const;

interface Given {
  readonly given: unknown;
  readonly keys: readonly (keyof StopOptions)[];
  readonly by: Caller;
}

/** Reads what an operator wants. Throws for anything else. */
function readWanted(target: unknown, { given, keys, by }: Given): Wanted {
  const caller = readCaller(by);
  if (caller.operator !== true) throw new ToolcribError('denied', 'Only an operator may stop or resume calls.');
  const read = readStopTarget(target);
  if ('mistake' in read) throw invalid(read.mistake);
  const options = readOptions<StopOptions>(given ?? {}, keys, 'stops');
  for (const key of ['cancel', 'force'] as const)
    if (options[key] !== undefined && typeof options[key] !== 'boolean')
      throw invalid(`"${key}" must be true or false, got ${describe(options[key])}.`);
  requireText('note', options.note, MAX_NOTE);
  requireText('door', options.door, 200);
  return { target: read, options, by: caller.id ?? 'operator' };
}

function requireText(name: string, value: unknown, most: number): void {
  if (value === undefined || (typeof value === 'string' && value.length <= most && isPlainText(value))) return;
  throw invalid(
    `"${name}" must be a text of at most ${most} characters on one line, without control characters, got ${describe(value)}.`,
  );
}

function refuse(code: ToolErrorCode, message: string): Refused {
  return { ok: false, error: toolError(code, message) };
}

function failureOf(cause: ToolcribError): Refused {
  if (cause.code === 'denied') return refuse('denied', cause.message);
  if (/^(invalid|unknown)_option$/.test(cause.code)) return refuse('invalid_input', cause.message);
  const message = `The store is not available, so the change may not be in force: ${cause.message} Try again.`;
  return { ok: false, error: toolError('unavailable', message, { retryable: true, cause }) };
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
