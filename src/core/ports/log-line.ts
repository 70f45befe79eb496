import type { JsonValue } from '../json.ts';

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What is told about the start or the end of one call. Nothing in it holds a known secret or is very long. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly event: 'call.start' | 'call.end';
  readonly callId: JsonValue;
  /** The call inside which this one was made. */
  readonly parentId?: JsonValue;
  readonly tool: JsonValue;
  /** Absent for a name that nobody has. */
  readonly source?: JsonValue;
  readonly profile: JsonValue;
  readonly caller?: JsonValue;
  readonly door: JsonValue;
  readonly conversation?: JsonValue;
  /** Only at `debug`. */
  readonly arguments?: JsonValue;
  readonly outcome?: 'done' | 'failed' | 'waiting';
  /** Why it failed. */
  readonly code?: string;
  readonly durationMs?: number;
  readonly message?: JsonValue;
  /** What was behind the failure, where the message does not tell. */
  readonly cause?: JsonValue;
}

/** Takes log lines. It is not waited for, and its failures fail no call. */
export type LogSink = (line: LogLine) => unknown;
