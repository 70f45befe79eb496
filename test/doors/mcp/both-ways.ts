import * as sdk from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { createHeldCalls } from '../../../src/doors/mcp/held-calls.ts';
import { createListings } from '../../../src/doors/mcp/listings.ts';
import { createMcpDoor } from '../../../src/doors/mcp/mcp-door.ts';
import { createToolServer } from '../../../src/doors/mcp/tool-server.ts';
import { toWebResponse } from '../../../src/doors/rest/answers.ts';
import type { Crib, ToolInput } from '../../../src/index.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';

/** Tools whose answers are of every kind. */
const TOOLS: readonly ToolInput[] = [
  {
    name: 'echo',
    description: 'Says its arguments',
    input: { type: 'object' },
    run: (input: unknown) => JSON.stringify(input),
  },
  {
    name: 'count',
    description: 'Counts',
    output: { type: 'array', items: { type: 'integer' } },
    run: () => ({ ok: true, status: 'done', content: [], data: [1, 2, 3] }),
  },
  {
    name: 'measure',
    description: 'Measures',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    output: { type: 'object' },
    run: ({ text }: { text: string }) => ({ length: text.length, nothing: null, text }),
  },
  {
    name: 'draw',
    description: 'Draws',
    run: () => ({
      ok: true,
      status: 'done',
      content: [
        { type: 'text', text: 'a picture', annotations: { audience: ['user'] } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png', colour: 'red' },
        { type: 'resource_link', uri: 'file:///x', name: 'x' },
      ],
      meta: { 'example.com/size': 3 },
    }),
  },
  {
    name: 'record',
    description: 'Answers with media alone',
    run: () => ({
      ok: true,
      status: 'done',
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'image', data: 'not base64', mimeType: 'image/png' },
      ],
    }),
  },
  {
    name: 'mislead',
    description: 'Says what the protocol keeps for itself',
    run: () => ({ ok: true, status: 'done', content: [], meta: { progressToken: {} } }),
  },
  {
    name: 'note',
    description: 'Says something besides',
    run: () => ({ ok: true, status: 'done', content: [{ type: 'text', text: '' }], meta: { 'example.com/a': [1] } }),
  },
  {
    name: 'fail',
    description: 'Fails',
    run: () => {
      throw new Error('It failed');
    },
  },
  { name: 'ask', description: 'Asks first', policy: { approval: 'always', approvers: ['caller'] }, run: () => 'done' },
  { name: 'wait', description: 'Asks somebody else first', policy: { approval: 'always' }, run: () => 'done' },
];

/** A request before it is sent. Parts of it may be anything. */
interface Draft {
  readonly headers: Readonly<Record<string, string>>;
  readonly message: Members;
  readonly params: unknown;
  readonly meta: unknown;
}
type Members = Readonly<Record<string, unknown>>;
type Change = (draft: Draft) => Draft;

const PREFIX = 'io.modelcontextprotocol/';
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(undefined, null, '', 0, -1, 1.5, 1e300, [], {}, '2026-07-28', '2025-11-25', 'tools/call'),
);
const names = fc.constantFrom(
  ...TOOLS.map(({ name }) => name),
  'nothing',
  '__proto__',
  'constructor',
  '',
  '=?base64?eA==?=',
);
const given = fc.oneof(
  fc.constant({ text: 'abc' }),
  fc.dictionary(fc.constantFrom('text', 'a', '', 'toString'), fc.jsonValue({ maxDepth: 2 })),
  fc.constantFrom(undefined, null, [], 'text', {}, JSON.parse('{"__proto__":{"a":1},"text":"x"}')),
);
const capabilities = fc.oneof(
  fc.constantFrom<unknown>(
    {},
    { elicitation: {} },
    { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
    { elicitation: { url: {} }, experimental: { x: { y: 1 } }, unknown: 1 },
    { elicitation: 5 },
    { roots: { listChanged: 'yes' } },
    { sampling: [] },
  ),
  anything,
);
const clients = fc.oneof(
  fc.constantFrom<unknown>(
    { name: 'c', version: '1' },
    { name: 'c', version: '1', title: 'C', websiteUrl: 'https://example.com' },
    { name: 'c' },
    { name: 'c', version: 1 },
    undefined,
  ),
  anything,
);

const modern = fc.record({ name: names, given, capabilities: fc.constantFrom({}, { elicitation: {} }) }).map(
  (call): Draft => ({
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': call.name },
    message: { jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: call.name, arguments: call.given },
    meta: {
      [`${PREFIX}protocolVersion`]: '2026-07-28',
      [`${PREFIX}clientInfo`]: { name: 'c', version: '1' },
      [`${PREFIX}clientCapabilities`]: call.capabilities,
    },
  }),
);
const versions = fc.constantFrom(undefined, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05');
const legacy = fc.record({ name: names, given, version: versions }).map(
  ({ name, given: input, version }): Draft => ({
    headers: version === undefined ? {} : { 'mcp-protocol-version': version },
    message: { jsonrpc: '2.0', id: 'a', method: 'tools/call' },
    params: { name, arguments: input },
    meta: undefined,
  }),
);

const withMember = (part: 'message' | 'params' | 'meta', key: fc.Arbitrary<string>, value = anything) =>
  fc.tuple(key, value).map(
    ([name, set]): Change =>
      (draft) => {
        const members = draft[part];
        return typeof members === 'object' || members === undefined
          ? { ...draft, [part]: { ...members, [name]: set } }
          : draft;
      },
  );
const metaKeys = fc.constantFrom(
  ...['progressToken', 'traceparent', 'toolcrib/turn', '__proto__', 'x', `${PREFIX}logLevel`, `${PREFIX}related-task`],
  ...[`${PREFIX}protocolVersion`, `${PREFIX}clientInfo`, `${PREFIX}clientCapabilities`, `${PREFIX}unknown`],
);
const paramsKeys = fc.constantFrom('name', 'arguments', 'task', 'inputResponses', 'requestState', 'x', '__proto__');
const headerKeys = fc.constantFrom('mcp-protocol-version', 'mcp-method', 'mcp-name', 'accept', 'mcp-session-id');
const headerValues = fc.constantFrom(
  ...['2026-07-28', '2025-11-25', '2027-01-01', 'tools/list', 'tools/call', 'echo', ' echo', '=?base64?ZWNobw==?='],
  ...['*/*', 'application/json', 'text/event-stream, application/json;q=0.5', '', 'x'],
);

/** What makes a request less plain, or wrong. */
const change: fc.Arbitrary<Change> = fc.oneof(
  withMember('message', fc.constantFrom('id', 'jsonrpc', 'method', 'result', 'x')),
  withMember('params', paramsKeys),
  withMember('meta', metaKeys),
  withMember('meta', fc.constant(`${PREFIX}clientCapabilities`), capabilities),
  withMember('meta', fc.constant(`${PREFIX}clientInfo`), clients),
  anything.map(
    (params): Change =>
      (draft) => ({ ...draft, params }),
  ),
  anything.map(
    (meta): Change =>
      (draft) => ({ ...draft, meta }),
  ),
  fc.tuple(headerKeys, headerValues).map(
    ([key, value]): Change =>
      (draft) => {
        return { ...draft, headers: { ...draft.headers, [key]: value } };
      },
  ),
  headerKeys.map(
    (key): Change =>
      (draft) => {
        const { [key]: _left, ...headers } = draft.headers;
        return { ...draft, headers };
      },
  ),
);

/** Requests on and beside the beaten track. */
const drafts = fc
  .tuple(fc.oneof(modern, legacy), fc.array(change, { maxLength: 3 }))
  .map(([draft, changes]) => changes.reduce((changed, apply) => apply(changed), draft));

const MODERN_META = {
  [`${PREFIX}protocolVersion`]: '2026-07-28',
  [`${PREFIX}clientInfo`]: { name: 'c', version: '1' },
  [`${PREFIX}clientCapabilities`]: {},
};
const MODERN_ECHO: Draft = {
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
  message: { jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'echo', arguments: {} },
  meta: MODERN_META,
};
const LEGACY_ECHO: Draft = { ...MODERN_ECHO, headers: {}, meta: undefined };

/** What chance might leave out. */
const EDGES: readonly Draft[] = [
  ...[MODERN_ECHO, LEGACY_ECHO].flatMap((echo) => [
    ...[undefined, null, 1.5, 2 ** 60, -1, '', true, {}].map((id) => ({ ...echo, message: { ...echo.message, id } })),
    ...['*/*', 'application/json', 'text/event-stream', ''].map((accept) => {
      return { ...echo, headers: { ...echo.headers, accept } };
    }),
    ...['count', 'Echo', '=?base64?ZWNobw==?=', '=?base64?!?=', 'echo, echo'].map((name) => {
      return { ...echo, headers: { ...echo.headers, 'mcp-name': name } };
    }),
    ...['2025-11-25', '2024-11-05', '2024-01-01', '2027-01-01', 'x', ''].flatMap((version) => [
      { ...echo, headers: { ...echo.headers, 'mcp-protocol-version': version } },
      { ...echo, meta: { ...MODERN_META, [`${PREFIX}protocolVersion`]: version } },
    ]),
    ...['result', 'error', 'x', '__proto__'].map((key) => ({ ...echo, message: { ...echo.message, [key]: {} } })),
    ...['logLevel', 'related-task', 'x'].map((key) => {
      return { ...echo, meta: { ...(echo.meta as object), [`${PREFIX}${key}`]: 'none' } }; // members, or none
    }),
    ...TOOLS.map(({ name }) => ({
      ...echo,
      headers: echo.meta === undefined ? {} : { ...echo.headers, 'mcp-name': name },
      params: { name },
    })),
  ]),
];

function toRequest({ headers, message, params, meta }: Draft): Request {
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
  const all = isObject && meta !== undefined ? { ...params, _meta: meta } : params;
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ ...message, params: all }),
  });
}

interface Heard {
  readonly status: number;
  readonly messages: unknown;
}

async function hear(answer: Response): Promise<Heard> {
  const text = await answer.text();
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const texts = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : [text];
  // Sealed anew for every answer.
  const read = (one: string) => JSON.parse(one, (key, value) => (key === 'requestState' ? 'sealed' : value));
  return { status: answer.status, messages: texts.filter((one) => one !== '').map(read) };
}

/** Every request gets the same answer from the door as from the protocol's package alone, so often. */
export async function expectSameBothWays(numRuns: number): Promise<void> {
  const crib: Crib = await cribOf(folderWith({}), { tools: TOOLS });
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const door = createMcpDoor(crib, { version: '1.2.3', warn });
  onTestFinished(() => door.close());
  const identity = await crib.identify();
  if (!identity.ok) throw new Error('Nobody is let in.');
  const { caller } = identity;
  const desk = {
    crib,
    sdk,
    listings: createListings(crib.server.traitsOf),
    held: createHeldCalls(),
    version: '1.2.3',
    warn,
  };
  const visit = { caller, profile: undefined, isPublic: true };
  const reference = sdk.createMcpHandler(({ era }) =>
    createToolServer(desk, visit, { era, isToldOfChanges: era === 'modern' }),
  );
  const plain = { modern: 0, legacy: 0 };
  await fc.assert(
    fc.asyncProperty(drafts, async (draft) => {
      const wanted = await hear(await reference.fetch(toRequest(draft)));
      const answer = await door.fetch(toRequest(draft), identity);
      const isPlain = !(answer instanceof Response);
      if (isPlain) plain[draft.headers['mcp-protocol-version'] === '2026-07-28' ? 'modern' : 'legacy']++;
      const heard = await hear(isPlain ? toWebResponse(answer) : answer);
      expect(heard).toEqual(wanted);
    }),
    { numRuns: numRuns + EDGES.length, examples: EDGES.map((draft): [Draft] => [draft]) },
  );
  expect(warnings).toEqual([]);
  for (const count of Object.values(plain)) expect(count).toBeGreaterThan(numRuns / 20); // else nothing was compared
}
