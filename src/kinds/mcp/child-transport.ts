import type { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { beginningOf } from '../../core/visible-text.ts';
import { toBody } from '../../system/fetch/large-text.ts';
import { createLineSplitter, createOutputTail, type OutputTail } from '../../system/processes/child-output.ts';
import { type Child, type ChildCommand, type ChildEnd, startChild } from '../../system/processes/start-child.ts';
import { describeEnd, networkHint } from './last-words.ts';
import { McpFailure } from './mcp-failure.ts';
import type { StartingProgram } from './start-watch.ts';
import { idOfEnds, MAX_MESSAGE_BYTES, readMessage, type ServerTransport, TOO_LARGE } from './wire-requests.ts';

/** The command that starts a server. */
export interface ServerCommand extends ChildCommand {
  /** Network variables that were not passed on; used as a hint if the server cannot reach the network. */
  readonly notGiven?: string;
}

/** Most bytes waiting for the server to read; a slow reader must not fill our memory. */
const MAX_WAITING_BYTES = 50_000_000;
/** Grace period for the server to exit after its stdin was closed. */
const QUIET_MS = 400;
/** Grace period for the last output after the server exited. */
const LAST_WORDS_MS = 250;
/** Longest wait for the exit status after a write failed. */
const END_KNOWN_MS = 5000;
/** Bytes of output kept for each run. */
const SAID_BYTES = 8192;

/** Runs a server as a child process, from `start` on. Its stderr, and stdout lines that are not messages, go to `output`. */
export function childTransport(command: ServerCommand, output: OutputTail): ServerTransport {
  let child: Child | undefined;
  let end: ChildEnd | undefined;
  let isClosed = false;
  const lines = createLineQueue(() => child?.stdin);
  const hearing = createHearing(command, output);
  const closed = (): void => {
    if (isClosed) return;
    isClosed = true;
    transport.onclose?.();
  };
  const split = createLineSplitter(MAX_MESSAGE_BYTES, {
    onLine(text) {
      const message = readMessage(text);
      if (message !== undefined)
        transport.onmessage?.(message as JSONRPCMessage); // the sender of the request validates the rest
      else if (text.trim() !== '') hearing.add(Buffer.from(`${beginningOf(text, 2000)}\n`));
    },
    onTooLong(head, tail) {
      const id = idOfEnds(head, tail);
      hearing.add(Buffer.from(`A message of more than ${MAX_MESSAGE_BYTES} bytes was dropped.\n`));
      const error = { code: TOO_LARGE, message: `it answered with more than ${MAX_MESSAGE_BYTES} bytes` };
      // Without an id no single request can be failed, and all pending requests would hang.
      if (id === undefined) void transport.close();
      else transport.onmessage?.({ jsonrpc: '2.0', id, error });
    },
  });

  const transport: ServerTransport = {
    failureOf: toFailure,
    mayStillAnswer: () => true,
    forget: () => {},
    lastWords: () => (end === undefined ? undefined : describeEnd(end, command, hearing.program.said())),
    program: { ...hearing.program, family: () => child?.family() },
    keepAlive: (isNeeded) => child?.keepAlive(isNeeded),
    async start() {
      if (isClosed) throw new McpFailure('unreachable', 'it was closed');
      child = startChild(command);
      hearing.follow(child);
      child.stdout.on('data', split);
      const heardAll = new Promise((resolve) => child?.stdout.once('close', resolve));
      child.ended.then(async (how) => {
        end = how;
        await Promise.race([heardAll, delay(LAST_WORDS_MS)]);
        closed();
      });
    },
    async send(message) {
      const stdin = child?.stdin;
      if (stdin === undefined || !stdin.writable) return failedWrite(child, hasEnded());
      if (lines.waiting() > MAX_WAITING_BYTES) throw new McpFailure('busy', 'it does not read its input');
      await lines.write(toLine(message)).catch((cause: unknown) => failedWrite(child, cause));
    },
    async close() {
      if (child !== undefined) await endChild(child);
      closed();
    },
  };
  return transport;
}

/** Some programs, such as those that read with the `readline` of Node, also take the line separators of Unicode for the end of a line. */
function toLine(message: JSONRPCMessage): string {
  const text = JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `${text}\n`;
}

/** Ends a server; it may exit by itself first, once its stdin is closed. */
async function endChild(child: Child): Promise<void> {
  child.keepAlive(true);
  child.stdin.end();
  await Promise.race([child.ended, delay(QUIET_MS)]);
  await child.end();
}

/** Messages that wait to be written. */
interface LineQueue {
  /** Resolves when the line was written. */
  write(line: string): Promise<void>;
  /** The length of all lines that were not written yet. */
  waiting(): number;
}

/**
 * Lines that may be written together. Linux takes a small write to a socket, which the stdin of a child is, as a whole
 * or not at all. Elsewhere a part of it may have been read when it fails, and the others would count as sent or unsent
 * with it: there each line is written by itself.
 */
const TOGETHER = process.platform === 'linux' ? 16_384 : 0;

/**
 * Writes the lines of a turn of the event loop at its end, in one write if they are short. The next write begins after
 * the last one. A server ignores a message without its newline, so it never processed one whose write failed.
 */
function createLineQueue(stdinOf: () => Writable | undefined): LineQueue {
  let waiting: WaitingLine[] = [];
  let waitingLength = 0;
  let isWriting = false;
  const writeNext = (): void => {
    const stdin = stdinOf();
    const next = stdin?.writable === true ? takeTogether(waiting) : waiting;
    isWriting = next.length > 0;
    if (!isWriting) return;
    waiting = waiting.slice(next.length);
    const settle = (error?: Error | null): void => {
      for (const { line, written } of next) {
        waitingLength -= line.length;
        if (error) written.reject(hasEnded(error));
        else written.resolve();
      }
      writeNext();
    };
    if (stdin?.writable !== true) settle(hasEnded());
    else stdin.write(toBody(next.map(({ line }) => line).join('')), settle);
  };
  return {
    write(line) {
      const written = Promise.withResolvers<void>();
      waiting.push({ line, written });
      waitingLength += line.length;
      if (!isWriting) setImmediate(writeNext);
      isWriting = true;
      return written.promise;
    },
    waiting: () => waitingLength,
  };
}

interface WaitingLine {
  readonly line: string;
  readonly written: PromiseWithResolvers<void>;
}

/** The first lines that one write may have; at least one, if there is one. */
function takeTogether(waiting: readonly WaitingLine[]): readonly WaitingLine[] {
  let bytes = 0;
  const end = waiting.findIndex(({ line }, index) => {
    bytes += line.length > TOGETHER ? line.length : Buffer.byteLength(line);
    return index > 0 && bytes > TOGETHER;
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

/** Waits for the exit status before failing: a write fails before the exit is reported, and `lastWords` needs it. */
async function failedWrite(child: Child | undefined, cause: unknown): Promise<never> {
  await Promise.race([child?.ended, delay(END_KNOWN_MS)]);
  throw cause;
}

function toFailure(cause: unknown): McpFailure {
  return cause instanceof McpFailure ? cause : new McpFailure('lost', 'it exited before it answered', { cause });
}

function hasEnded(cause?: unknown): McpFailure {
  return new McpFailure('unreachable', 'The server has exited.', { cause });
}

/** The output of one run of a server. */
interface Hearing {
  readonly program: Omit<StartingProgram, 'family'>;
  /** Listens to both outputs. */
  follow(child: Child): void;
  /** Records output that is not a message. */
  add(chunk: Buffer): void;
}

/** All output also goes to `output`, which outlives the run. */
function createHearing(command: ServerCommand, output: OutputTail): Hearing {
  const tail = createOutputTail(SAID_BYTES);
  let begun = ''; // the last, unfinished line of stdout
  let tell: (() => void) | undefined;
  const said = () => `${tail.text()}${begun}`;
  return {
    follow({ stdout, stderr }) {
      output.follow(stderr);
      tail.follow(stderr);
      stdout.on('data', (chunk: Buffer) => {
        if (tell === undefined) return; // after the start, stdout carries only messages, which can be long
        begun = `${begun}${chunk.toString('utf8')}`.slice(-SAID_BYTES).replace(/^.*\n/s, '');
        tell();
      });
      stderr.on('data', () => tell?.());
    },
    add(chunk) {
      output.add(chunk);
      tail.add(chunk);
    },
    program: {
      command: command.command,
      onOutput(listener) {
        tell = listener;
        return () => {
          tell = undefined;
          begun = '';
        };
      },
      said,
      networkHint: () => networkHint(command, said()),
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
