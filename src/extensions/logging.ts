import { names } from '../config/policy-schema.ts';
import type { ExtensionParts, ExtensionRecord, WithClock } from '../config/records.ts';
import { choice, object } from '../config/schema-node.ts';
import type { LoggingConfig } from '../config/types/guards.ts';
import { replayOf } from '../core/begun-runs.ts';
import { isPromise, type JsonValue } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { LOG_LEVELS, type LogLevel, type LogLine, type LogSink } from '../core/ports/observability.ts';
import { describe, didYouMean, readNameList } from '../core/read-options.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createRedactValue } from '../system/secrets/redact-value.ts';
import { logToStderr } from '../system/telemetry.ts';

/** Options of `logging()`. */
export interface LoggingOptions extends LoggingConfig {
  /** Receives log lines; default: JSON on stderr. */
  readonly sink?: LogSink;
}

export const logging: ExtensionRecord<LoggingOptions & WithClock> = {
  name: 'logging',
  priority: 1000,
  reason: 'observer: logs refused calls and unknown tools, too',
  options: object('Logs every call.', {
    level: choice(LOG_LEVELS, 'Minimum level; default info.'),
    redact: names('Argument names (globs) whose values are hidden, besides the default ones.'),
  }),
  codeOptions: ['sink', 'clock'],
  usual: { level: 'silent' },
  make(options, ports) {
    const { sink = logToStderr, clock = ports.clock } = options;
    const level = readLevel(options.level);
    const keys = readNameList(options.redact ?? [], 'logging(): redact');
    if (typeof sink !== 'function') throw invalid(`sink must be a function, got ${describe(sink)}.`);
    const show = createRedactValue({ redact: ports.redact, keys });
    return tellOfCalls(level, { clock, sink, warn: ports.warn, show });
  },
};

function readLevel(level: unknown = 'info'): LogLevel {
  const known = LOG_LEVELS.find((one) => one === level);
  if (known !== undefined) return known;
  const guess = typeof level === 'string' ? didYouMean(level, LOG_LEVELS) : '';
  throw invalid(`level must be one of ${LOG_LEVELS.join(', ')}, got ${describe(level)}.${guess}`);
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', `logging(): ${message}`);
}

/** Dependencies for writing lines. */
interface LoggingPorts {
  readonly clock: Clock;
  readonly sink: LogSink;
  /** Redacts secrets and cuts long parts. */
  show(value: unknown): JsonValue;
  warn(message: string): void;
}

type LineLevel = LogLine['level'];

/** Logs calls. `debug`: also starts and arguments. `info`: every end. `warn`: failures and refusals. `error`: internal failures. */
function tellOfCalls(level: LogLevel, ports: LoggingPorts): ExtensionParts {
  const { clock, show } = ports;
  const least = LOG_LEVELS.indexOf(level);
  const isTold = (lineLevel: LineLevel) => LOG_LEVELS.indexOf(lineLevel) >= least;
  const withArguments = isTold('debug');
  const write = createWrite(ports);
  const lineOf = (call: ToolCall, lineLevel: LineLevel, event: LogLine['event']) => ({
    time: new Date(clock.now()).toISOString(),
    level: lineLevel,
    event,
    ...aboutCall(call, show),
    ...(withArguments && { arguments: show(call[FACTS].input ?? call.input) }),
  });
  return {
    applies: () => level !== 'silent',
    ...(withArguments && { onStart: (call: ToolCall) => write(lineOf(call, 'debug', 'call.start')) }),
    onEnd(call, result) {
      const lineLevel = levelOf(result);
      if (!isTold(lineLevel)) return;
      const durationMs = Math.max(0, Math.round((clock.now() - call[FACTS].startedAt) * 1000) / 1000);
      const replay = replayOf(call) === undefined ? {} : { isReplayed: true as const };
      write({ ...lineOf(call, lineLevel, 'call.end'), ...aboutResult(result, show), ...replay, durationMs });
    },
  };
}

function levelOf(result: ToolResult): LineLevel {
  if (result.status !== 'failed') return 'info';
  return result.error.code === 'internal' ? 'error' : 'warn';
}

type Show = LoggingPorts['show'];

function aboutCall(call: ToolCall, show: Show) {
  const { spec, parent, caller, conversation } = call;
  return {
    callId: show(call.id),
    ...(parent !== undefined && { parentId: show(parent.id) }),
    tool: show(spec.name),
    ...(spec.source !== '' && { source: show(spec.source) }),
    profile: show(call.profile),
    ...(caller.id !== undefined && { caller: show(caller.id) }),
    door: show(call.door),
    ...(conversation !== undefined && { conversation: show(conversation) }),
  };
}

function aboutResult(result: ToolResult, show: Show) {
  if (result.status !== 'failed') return { outcome: result.status };
  const { code, message } = result.error;
  const cause = causeOf(result.error);
  return { outcome: result.status, code, message: show(message), ...(cause !== undefined && { cause: show(cause) }) };
}

function causeOf({ cause, message }: ToolError): string | undefined {
  const said = cause === undefined ? '' : messageOf(cause, '');
  return said === '' || message.includes(said) ? undefined : said;
}

/** Writes lines to the sink. A call that the sink itself makes is not logged, to avoid endless recursion. */
function createWrite({ sink, warn }: LoggingPorts): (line: LogLine) => void {
  let isWriting = false;
  const complain = (cause: unknown) => warn(`A log line could not be written: ${messageOf(cause)}`);
  return (line) => {
    if (isWriting) return;
    isWriting = true;
    try {
      const pending = sink(line);
      if (isPromise(pending)) pending.catch(complain);
    } catch (cause) {
      complain(cause);
    } finally {
      isWriting = false;
    }
  };
}
