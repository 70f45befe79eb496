import { ApiError, askForSignIn, OWN_HEADER } from '../../api/client.ts';
import { parseJson } from '../../json/json-text.ts';
import { childOf, printJson } from '../../json/json-value.ts';
import { type CallRequest, toBody } from './call-request.ts';

/** News of a running call. */
export interface CallNews {
  onStarted(callId: string): void;
  onProgress(progress: Progress): void;
}

/** How far a call is, as the tool says it. */
export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** Runs a tool and returns the body of the answer. Aborting the signal closes the connection, which cancels the call. */
export async function runCall(request: CallRequest, news: CallNews, signal: AbortSignal): Promise<string> {
  let response = await post(request, signal);
  // The server refused it before anything ran, so it may be sent again after the sign-in.
  if (response.status === 401 && (await askForSignIn())) response = await post(request, signal);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  if (response.body === null) throw new ApiError(response.status, {});
  for await (const { event, data } of readEvents(response.body)) {
    if (event === 'started') news.onStarted((JSON.parse(data) as { callId: string }).callId);
    if (event === 'progress') news.onProgress(progressOf(data));
    if (event === 'result') return bodyOf(data);
  }
  throw new Error('The connection ended before the result came.');
}

function post(request: CallRequest, signal: AbortSignal): Promise<Response> {
  return fetch(`/api/tools/execute/${encodeURIComponent(request.tool)}`, {
    method: 'POST',
    headers: {
      ...OWN_HEADER,
      'content-type': 'application/json',
      accept: request.mode === 'run' ? 'text/event-stream' : 'application/json',
    },
    body: toBody(request),
    signal,
  });
}

function progressOf(data: string): Progress {
  const { progress } = JSON.parse(data) as { readonly progress: Progress | number | undefined };
  return typeof progress === 'number' ? { progress } : (progress ?? {});
}

/** The body inside the last event, with all digits. */
function bodyOf(data: string): string {
  const start = data.indexOf('"body":');
  // The usual form is cut out without parsing, which matters for megabytes.
  if (/^\{"httpStatus":\d+,"body":/.test(data) && data.endsWith('}')) return data.slice(start + 7, -1);
  const parsed = parseJson(data);
  const body = 'node' in parsed ? childOf(parsed.node, 'body') : undefined;
  return body === undefined ? data : printJson(body);
}

interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events from the body of a response. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let chunks: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    chunks.push(value);
    if (!value.includes('\n')) continue;
    const blocks = chunks.join('').split('\n\n');
    chunks = [blocks.pop() ?? ''];
    for (const block of blocks) yield toEvent(block);
  }
}

function toEvent(block: string): ServerEvent {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  return { event, data: data.join('\n') };
}
