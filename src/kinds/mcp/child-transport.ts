import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { beginningOf } from '../../core/visible-text.ts';
import { createLineSplitter, type OutputTail } from '../../system/processes/child-output.ts';
import { type Child, type ChildCommand, type ChildEnd, startChild } from '../../system/processes/start-child.ts';
import { McpFailure } from './mcp-failure.ts';
import { isNetworkTrouble } from './server-environment.ts';
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

/** Starts a server with the SDK's `start`; what it says on stderr, and what is no message, goes to `output`. */
export function childTransport(command: ServerCommand, output: OutputTail): ServerTransport {
  let child: Child | undefined;
  let end: ChildEnd | undefined;
  let isClosed = false;
  let waitingBytes = 0;
  let lastSent: Promise<void> = Promise.resolve();
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
      else if (text.trim() !== '') output.add(Buffer.from(`${beginningOf(text, 2000)}\n`));
    },
    onTooLong(head, tail) {
      const id = idOfEnds(head, tail);
      output.add(Buffer.from(`A message of more than ${MAX_MESSAGE_BYTES} bytes was dropped.\n`));
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
    lastWords: () => (end === undefined ? undefined : wordsOf(end, command, output)),
    networkHint: () => hintOf(command, output),
    keepAlive: (isNeeded) => child?.keepAlive(isNeeded),
    async start() {
      if (isClosed) throw new McpFailure('unreachable', 'it was closed');
      child = startChild(command);
      output.follow(child.stderr);
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
      child?.keepAlive(true);
      if (child !== undefined && end === undefined) {
        child.stdin.end();
        await Promise.race([child.ended, delay(QUIET_MS)]);
      }
      await child?.end();
      closed();
    },
  };
  return transport;
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
  await Promise.race([child?.ended, delay(LAST_WORDS_MS)]);
  throw cause;
}

function toFailure(cause: unknown): McpFailure {
  return cause instanceof McpFailure ? cause : new McpFailure('lost', 'it ended before it answered', { cause });
}

function hasEnded(cause?: unknown): McpFailure {
  return new McpFailure('unreachable', 'The server has ended.', { cause });
}

function wordsOf(end: ChildEnd, server: ServerCommand, output: OutputTail): string {
  const { command, cwd } = server;
  // Where its folder is missing the system says that the program is.
  if (end.kind === 'failed' && cwd !== undefined && !existsSync(cwd)) return `its folder "${cwd}" is not there`;
  if (end.kind === 'failed')
    return end.reason === 'ENOENT' ? `there is no program "${command}"` : `"${command}" cannot be run: ${end.reason}`;
  const last = output.text().trimEnd().split('\n').at(-1)?.trim() ?? '';
  const said = last === '' ? '' : `; the last that it said: ${beginningOf(last, 200)}`;
  return `"${command}" ended with ${end.signal ?? `exit code ${end.code}`}${said}${hintOf(server, output)}`;
}

function hintOf({ notGiven = '' }: ServerCommand, output: OutputTail): string {
  return notGiven !== '' && isNetworkTrouble(output.text()) ? `; ${notGiven}` : '';
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
