import fc from 'fast-check';
import { expect } from 'vitest';
import type { ToolInput } from '../../../src/index.ts';
import { post, request } from './clients.ts';
import { startGateway } from './gateway.ts';

/** Words that mean something to the protocol, beside anything else. */
const word = fc.oneof(
  fc.constantFrom(
    'tools/call',
    'tools/list',
    'initialize',
    'ping',
    'server/discover',
    'subscriptions/listen',
    'notifications/cancelled',
    'notifications/initialized',
    'tasks/get',
    '__proto__',
    'constructor',
    'add',
    'secret_tool',
    '2026-07-28',
    '2025-11-25',
    '',
  ),
  fc.string({ maxLength: 30 }),
);

const key = fc.constantFrom(
  'name',
  'arguments',
  '_meta',
  'cursor',
  'requestState',
  'inputResponses',
  'protocolVersion',
  'capabilities',
  'clientInfo',
  'progressToken',
  'requestId',
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/clientInfo',
  'toolcrib/conversation',
  'traceparent',
  'notifications',
  '__proto__',
  'a',
);

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.integer(),
    fc.double(),
    fc.constantFrom(null, true, false),
    tie('object'),
    tie('list'),
  ),
  object: fc.dictionary(key, tie('any'), { maxKeys: 6 }),
  list: fc.array(tie('any'), { maxLength: 4 }),
}));

const message = fc.oneof(
  fc.record(
    { jsonrpc: fc.oneof(fc.constant('2.0'), word), id: value.any, method: word, params: value.any },
    { requiredKeys: ['method'] },
  ),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.oneof(fc.integer(), word), method: word, params: value.object }),
  value.any,
);

/** Bodies of requests: messages and lists of them, well-formed or not, and texts that are not JSON. */
const bodies: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: message.map((sent) => JSON.stringify(sent)) },
  { weight: 2, arbitrary: fc.array(message, { maxLength: 5 }).map((sent) => JSON.stringify(sent)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: message.map((sent) => JSON.stringify(sent).slice(0, -1)) },
);

/** Headers that contradict or complete a body. */
const headers: fc.Arbitrary<Readonly<Record<string, string>>> = fc.dictionary(
  fc.constantFrom(
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'mcp-session-id',
    'accept',
    'mcp-param-a',
    'traceparent',
  ),
  fc.oneof(
    fc.constantFrom('2026-07-28', '2025-11-25', 'tools/call', 'tools/list', 'add', '*/*', '=?base64?!!?='),
    fc.stringMatching(/^[\x21-\x7e]{0,20}$/),
  ),
  { maxKeys: 4 },
);

/** A tool with a secret behind it. */
const SECRET = 's3cr3t-value-of-the-owner';
const FUZZED: readonly ToolInput[] = [
  { name: 'add', description: 'Adds', input: { type: 'object', properties: { a: { type: 'number' } } }, run: () => 1 },
  {
    name: 'secret_tool',
    description: 'Fails with what it knows',
    run: () => {
      throw Object.assign(new Error('It failed'), { detail: SECRET, stack: `Error: ${SECRET}\n    at ${SECRET}:1:1` });
    },
  },
];

/** True of every answer, whatever was sent: it is in the protocol's words, and tells nothing of what is inside. */
function expectDecent(status: number, text: string): void {
  expect([200, 202, 400, 404, 405, 406, 413, 415]).toContain(status);
  expect(text).not.toMatch(/node_modules|\.ts:\d|\.mjs:\d|\.js:\d|at Object\.|node:internal/);
  expect(text).not.toContain(SECRET);
  if (status === 202) return;
  const shown =
    text.startsWith('event:') || text.startsWith(':')
      ? text.split('\n').filter((line) => line.startsWith('data: '))
      : [text];
  for (const line of shown) {
    for (const sent of [JSON.parse(line.replace(/^data: /, ''))].flat()) expect(sent).toMatchObject({ jsonrpc: '2.0' });
  }
}

/** Sends a gateway whatever there is, so often; each answer must be decent, and the one after that, too. */
export async function fuzzGateway(numRuns: number): Promise<void> {
  const { url, warnings } = await startGateway({ tools: FUZZED });
  const send = async (body: string, more: Readonly<Record<string, string>>): Promise<void> => {
    const controller = new AbortController();
    const response = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
      body,
      signal: controller.signal,
    });
    const isStream = body.includes('subscriptions/listen'); // it may stay open
    if (isStream) controller.abort();
    else expectDecent(response.status, await response.text());
  };
  await fc.assert(fc.asyncProperty(bodies, headers, send), { numRuns });
  expect(warnings).toEqual([]);
  expect((await post(url(), request('tools/call', { name: 'add', arguments: { a: 1 } }))).status).toBe(200);
}
