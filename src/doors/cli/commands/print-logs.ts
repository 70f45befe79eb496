import { once } from 'node:events';
import { isRecord } from '../../../core/json.ts';
import { didYouMean } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { visibleJson } from '../../../core/visible-text.ts';
import { openOneSource } from '../../../crib/create-crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import { parseJson } from '../../../system/parse-json.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig } from '../flags.ts';
import { cancelOnInterrupt, note, print, toLine, toLines } from '../output.ts';

/** The parsed request. */
interface Asked {
  readonly source: string;
  readonly config: string;
  readonly follows: boolean;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  print(lines: readonly string[]): void;
}

/** `toolcrib logs SOURCE`: prints the output of the program of a source, from the running server of this configuration or by starting the source. */
export async function printLogs({ words, flags }: Invocation): Promise<ExitCode> {
  const [source = ''] = words;
  const found = flags.config ?? findConfig(process.cwd());
  if (found === undefined) note('No toolcrib.yaml found in this folder. "toolcrib init" writes one.');
  const config = found ?? process.cwd();
  const { signal } = cancelOnInterrupt();
  const asked = { source, config, follows: flags.follow === true, signal, print: createPrinting(source, flags) };
  const url = await findServer(config);
  return url === undefined ? logsOfOwnStart(asked) : logsOfServer(url, asked);
}

/** Maximum output buffered for a slow reader of stdout. */
const MAX_WAITING_BYTES = 16_000_000;

/** Prints lines without control characters. Drops and counts lines if the reader is too slow. */
function createPrinting(source: string, { json }: Flags): Asked['print'] {
  let dropped = 0;
  return (lines) => {
    if (process.stdout.writableLength > MAX_WAITING_BYTES) {
      dropped += lines.length;
      return;
    }
    if (dropped > 0) note(`${dropped} lines were dropped because the reader is too slow.`);
    dropped = 0;
    for (const line of lines)
      print(json === true ? visibleJson(JSON.stringify({ source, line })) : toLines(line).trimEnd());
  };
}

/** Starts only this source and prints its output until it has started or failed; with --follow until Ctrl-C. */
async function logsOfOwnStart(asked: Asked): Promise<ExitCode> {
  const { source, config, follows, signal } = asked;
  const { crib, names } = await openOneSource(config, source);
  const report = () => crib.sources().find(({ name }) => name === source);
  const held = setInterval(() => {}, LONG_MS); // a child that waits for calls does not keep the process alive
  let stop = () => {};
  try {
    if (report() === undefined) throw unknownSource(source, names);
    note(`No server is running with this configuration. Starting "${source}" to read its output.`);
    stop = crib.server.followOutput(source, asked.print);
    const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
    // A cached list does not start the program; a reload does.
    await Promise.race([crib.server.reloadSource(source), interrupted]);
    const output = crib.sourceOutput(source);
    noteState({ source, output, ...report() });
    if (follows && output !== undefined) await interrupted;
  } finally {
    await crib.close();
    stop();
    clearInterval(held);
  }
  return 0;
}

const LONG_MS = 3_600_000;
const ANSWER_WITHIN_MS = 5000;

/** Prints the recent output from the server; with --follow new output until Ctrl-C or the end of the server. */
async function logsOfServer(url: string, asked: Asked): Promise<ExitCode> {
  const { source, config, follows, signal } = asked;
  const { crib } = await openOneSource(config); // only to read the operator token
  const authorization = `Bearer ${await crib.server.operatorToken().finally(() => crib.close())}`;
  const ask = async (path: string, until: AbortSignal): Promise<Response> => {
    const response = await fetch(`${url}${path}`, { headers: { authorization }, signal: until, redirect: 'error' });
    if (!response.ok) throw new ToolcribError('failed', await refusalOf(response, url));
    return response;
  };
  const answer = async (path: string) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const value: unknown = await (await ask(path, until)).json();
    return isRecord(value) ? value : {};
  };
  const path = `/api/sources/${encodeURIComponent(source)}/output`;
  try {
    const { sources } = await answer('/api/sources');
    const reports = Array.isArray(sources) ? sources.filter(isRecord) : [];
    const names = reports.map(({ name }) => String(name));
    if (!names.includes(source)) throw unknownSource(source, names);
    const { output = '', hasProgram } = await answer(path);
    const printed = String(output).trimEnd();
    if (!follows && printed !== '') asked.print(printed.split(/\r?\n/));
    noteState({ ...reports[names.indexOf(source)], source, output: hasProgram === true ? printed : undefined });
    if (!follows || hasProgram !== true) return 0;
    await printEvents(await ask(`${path}?follow=true`, signal), asked.print).catch(requireCut);
    if (!signal.aborted) note('The server has stopped.');
  } catch (cause) {
    if (!signal.aborted) throw toFailure(cause, url);
  }
  return 0;
}

/** Ignores a broken stream: a killed server ends like this. */
function requireCut(cause: unknown): void {
  if (!(cause instanceof TypeError)) throw cause;
}

/** The state of a source, to explain missing output. */
interface State {
  readonly source: string;
  /** The printed output; undefined if the source has no program. */
  readonly output: string | undefined;
  readonly state?: unknown;
  readonly reason?: unknown;
}

function noteState({ source, output, state, reason }: State): void {
  const isWell = state === 'ready' || state === 'stale' || typeof reason !== 'string';
  if (!isWell) note(`"${source}" ${state === 'failed' ? 'has failed' : `is ${state}`}: ${toLine(reason)}`);
  if (output === '' && isWell) note(`"${source}" has not printed anything yet.`);
  if (output === undefined && isWell)
    note(
      `"${source}" has no output: it does not run a program on this machine. Only MCP servers with a command and Python files do.`,
    );
}

/** Prints the lines of server-sent events until the stream ends. */
async function printEvents({ body }: Response, printLines: Asked['print']): Promise<void> {
  let unread = '';
  for await (const piece of (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    const events = `${unread}${piece}`.split('\n\n');
    unread = events.pop() ?? '';
    for (const event of events) {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      const value = parseJson(data);
      if (name === 'output' && isRecord(value) && Array.isArray(value.lines)) printLines(value.lines.map(String));
      else if (name === 'lost' && isRecord(value))
        note(`${value.count} events were dropped because the reader is too slow.`);
    }
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain'); // meanwhile the server buffers or drops the rest
  }
}

function unknownSource(source: string, names: readonly string[]): ToolcribError {
  return new ToolcribError('failed', `The source "${source}" was not found.${didYouMean(source, names)}`);
}

/** The reason why a running server refused the request. */
async function refusalOf(response: Response, url: string): Promise<string> {
  if (response.status === 401 || response.status === 403)
    return `The server at ${url} does not accept the operator token of this configuration. Set TOOLCRIB_OPERATOR_TOKEN to the token of that server.`;
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: { readonly message?: unknown } }; // read as unknown
  return typeof error?.message === 'string'
    ? error.message
    : `The server at ${url} answered with status ${response.status}.`;
}

function toFailure(cause: unknown, url: string): unknown {
  if (cause instanceof ToolcribError) return cause;
  return new ToolcribError('failed', `The server at ${url} does not answer: ${messageOf(cause)}`, { cause });
}
