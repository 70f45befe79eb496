import type { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { beginningOf } from '../../core/visible-text.ts';
import { createLineSplitter, createOutputTail, type OutputTail } from '../../system/processes/child-output.ts';
import { type Child, type ChildCommand, type ChildEnd, startChild } from '../../system/processes/start-child.ts';
import { describeEnd, networkHint } from './last-words.ts';
import { McpFailure } from './mcp-failure.ts';
import type { StartingProgram } from './start-watch.ts';
import { idOfEnds, MAX_MESSAGE_BYTES, readMessage, type ServerTransport, TOO_LARGE } from './wire-requests.ts';

/** A server to start. */
export interface ServerCommand extends ChildCommand {
  /** What it was not given, for one that cannot reach the network. */
  readonly notGiven?: string;
}

/** The stdin and stdout of a server that runs as our child. */
interface ChildTransport extends ServerTransport {
  readonly pid: null;
}

/** What may wait to be read by the server; more would only fill our own memory. */
const MAX_WAITING_BYTES = 50_000_000;
/** How long a server may take to end by itself once its input has ended. */
const QUIET_MS = 400;
/** How long what it said last may be on its way when it has ended. */
const LAST_WORDS_MS = 250;
/** How long it may take to learn how a server ended that takes nothing any more. */
const END_KNOWN_MS = 5000;
/** How much is kept of what one run of it printed. */
const SAID_BYTES = 8192;

/** Starts a server with the SDK's `start`; what it says on stderr, and what is no message, goes to `output`. */
export function childTransport(command: ServerCommand, output: OutputTail): ServerTransport {
  let child: Child | undefined;
  let end: ChildEnd | undefined;
  let isClosed = false;
  let waitingBytes = 0;
  let lastSent: Promise<void> = Promise.resolve();
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
        transport.onmessage?.(message as JSONRPCMessage); // whoever asked looks at the rest
      else if (text.trim() !== '') hearing.add(Buffer.from(`${beginningOf(text, 2000)}\n`));
    },
    onTooLong(head, tail) {
      const id = idOfEnds(head, tail);
      hearing.add(Buffer.from(`A message of more than ${MAX_MESSAGE_BYTES} bytes was dropped.\n`));
      const error = { code: TOO_LARGE, message: `it answered with more than ${MAX_MESSAGE_BYTES} bytes` };
      // An answer to nobody in particular: all who wait would wait for ever.
      if (id === undefined) void transport.close();
      else transport.onmessage?.({ jsonrpc: '2.0', id, error });
    },
  });

  const transport: ChildTransport = {
    pid: null,
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
      if (waitingBytes > MAX_WAITING_BYTES) throw new McpFailure('busy', 'it does not read what it is sent');
      const line = `${JSON.stringify(message)}\n`;
      waitingBytes += line.length;
      const sent = lastSent.then(() => writeLine(stdin, line));
      lastSent = sent
        .catch(() => {}) // told to who sent it
        .finally(() => {
          waitingBytes -= line.length;
        });
      await sent.catch((cause: unknown) => failedWrite(child, cause));
    },
    async close() {
      if (child !== undefined) await endChild(child);
      closed();
    },
  };
  return transport;
}

/** Ends a server: by itself if it does so once its input has ended. */
async function endChild(child: Child): Promise<void> {
  child.keepAlive(true);
  child.stdin.end();
  await Promise.race([child.ended, delay(QUIET_MS)]);
  await child.end();
}

/**
 * Writes one message, and nothing else before it is written: several that are written together fail together, also those
 * that the server has read. Without its newline no server takes a message for one, so one that failed was never seen.
 */
function writeLine(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!stdin.writable) return reject(hasEnded());
    stdin.write(line, (error) => (error ? reject(hasEnded(error)) : resolve()));
  });
}

/** A write fails before we are told how the server ended, which `lastWords` is to know by then. */
async function failedWrite(child: Child | undefined, cause: unknown): Promise<never> {
  await Promise.race([child?.ended, delay(END_KNOWN_MS)]);
  throw cause;
}

function toFailure(cause: unknown): McpFailure {
  return cause instanceof McpFailure ? cause : new McpFailure('lost', 'it ended before it answered', { cause });
}

function hasEnded(cause?: unknown): McpFailure {
  return new McpFailure('unreachable', 'The server has ended.', { cause });
}

/** What one run of a server prints. */
interface Hearing {
  readonly program: Omit<StartingProgram, 'family'>;
  /** Listens to both outputs. */
  follow(child: Child): void;
  /** Takes down what is no message. */
  add(chunk: Buffer): void;
}

/** Everything goes to `output`, which outlives the run, too. */
function createHearing(command: ServerCommand, output: OutputTail): Hearing {
  const tail = createOutputTail(SAID_BYTES);
  let begun = ''; // the last line of stdout, as long as it has not ended
  let tell: (() => void) | undefined;
  const said = () => `${tail.text()}${begun}`;
  return {
    follow({ stdout, stderr }) {
      output.follow(stderr);
      tail.follow(stderr);
      stdout.on('data', (chunk: Buffer) => {
        if (tell === undefined) return; // messages of a server that has started can be long
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
