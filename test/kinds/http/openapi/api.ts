import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ToolResult } from '../../../../src/core/tool-result.ts';
import { RUN, type Run } from '../../../../src/core/tool-spec.ts';
import type { Crib, ToolSpec } from '../../../../src/index.ts';
import { cribOf, folderWith } from '../../../crib/workshop.ts';
import { startServer, type TestServer } from '../../../sources/http-server.ts';

/** Any object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** A description of these paths. */
export function api(paths: Fields, more: Fields = {}): Fields {
  return {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: 'https://pets.test/v1' }],
    paths,
    ...more,
  };
}

/** A description of one operation. */
export function operation(fields: Fields, { method = 'get', path = '/x', ...more }: Fields = {}): Fields {
  return api({ [String(path)]: { [String(method)]: { operationId: 'x', ...fields } } }, more);
}

/** A crib of a description in a file; `entry` stands beside it, `more` beside `sources`. */
export async function describedBy(description: unknown, entry: Fields = {}, more: Fields = {}): Promise<Crib> {
  const text = typeof description === 'string' ? description : JSON.stringify(description);
  const sources = { pets: { openapi: './api.json', ...entry } };
  const executors = { http: { allowPrivate: ['127.0.0.1'] } };
  const folder = folderWith({ 'api.json': text, 'toolcrib.yaml': JSON.stringify({ sources, executors, ...more }) });
  return cribOf(folder);
}

/** The tool of `operation`. */
export async function toolOf(description: unknown, entry: Fields = {}): Promise<ToolSpec> {
  const crib = await describedBy(description, entry);
  return toolIn(crib, 'pets_x');
}

/** A tool that has to be there; where it is not, the reasons are shown. */
export function toolIn(crib: Crib, name: string): ToolSpec {
  const spec = crib.get(name);
  if (spec === undefined) throw new Error(`There is no ${name}: ${crib.warnings().join(' ')}`);
  return spec;
}

/** How a tool runs. */
export function runOf(spec: ToolSpec): Run {
  return { ...spec[RUN] };
}

/** What a server was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that answers with what it was asked. */
export async function echoServer(): Promise<TestServer & { readonly base: string }> {
  const server = await startServer((request, response) => void echo(request, response));
  return { ...server, base: `http://${server.host}` };
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method, url, headers } = request;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }));
}

/** Calls a tool as an allowed caller, and returns the request that the server got. */
export async function call(crib: Crib, name: string, input: Fields = {}): Promise<Asked> {
  const result = await tryCall(crib, name, input);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.data as unknown as Asked; // what `echo` sends
}

/** Calls a tool as an allowed caller. */
export async function tryCall(crib: Crib, name: string, input: Fields = {}): Promise<ToolResult> {
  const chest = await crib.open(undefined, { id: 'alice', approve: async () => true });
  return chest.call(name, input);
}
