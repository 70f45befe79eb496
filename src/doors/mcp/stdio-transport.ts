import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../core/tool-error.ts';
import { parseMessage } from './parse-message.ts';

const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** While as much waits for the client to read, no further messages of it are read. */
const MAX_WAITING_BYTES = 50_000_000;
const LINE_END = 10;

/** The transport of the MCP SDK, which reads integers without rounding them. */
export async function openStdio(stdin: Readable, stdout: Writable): Promise<StdioServerTransport> {
  const [{ StdioServerTransport: Transport }, { parseJSONRPCMessage }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('@modelcontextprotocol/server'),
  ]);
  const transport = new Transport(stdin, stdout);
  const refuse = (id: unknown, message: string) => {
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    const answer = { jsonrpc: '2.0', id: known, error: { code: -32_600, message } };
    void transport.send(answer as JSONRPCMessage).catch(() => undefined); // the client is gone
  };
  const take = (line: string) => {
    const read = parseMessage(line);
    if (!read.ok) return read.isJson ? refuse(read.id, read.message) : undefined; // noise of a program is skipped
    transport.onmessage?.(parseJSONRPCMessage(read.body));
  };
  const fail = (cause: unknown) => transport.onerror?.(cause instanceof Error ? cause : new Error(messageOf(cause)));
  const lines = createLines();
  transport._ondata = (chunk) => {
    const found = lines(chunk);
    if (found === undefined) {
      const message = `A message is larger than the limit of ${MAX_LINE_BYTES} bytes.`;
      refuse(undefined, message);
      fail(new Error(message));
      void transport.close().catch(() => undefined);
      stdin.destroy(); // tells the command that the connection is over
    }
    for (const line of found ?? []) {
      try {
        take(line);
      } catch (cause) {
        fail(cause);
      }
    }
    if (stdout.writableLength <= MAX_WAITING_BYTES) return;
    stdin.pause();
    stdout.once('drain', () => stdin.resume());
  };
  return transport;
}

/** Splits chunks into lines; undefined if a line is too long. */
function createLines(): (chunk: Buffer) => readonly string[] | undefined {
  let pending: Buffer[] = [];
  let length = 0;
  return (chunk) => {
    const found: string[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, begin)) {
      found.push(Buffer.concat([...pending, chunk.subarray(begin, end)]).toString());
      [pending, length, begin] = [[], 0, end + 1];
    }
    pending.push(chunk.subarray(begin));
    length += chunk.length - begin;
    return length > MAX_LINE_BYTES ? undefined : found;
  };
}
