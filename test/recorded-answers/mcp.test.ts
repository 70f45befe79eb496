import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecordedCrib, type RecordedCrib, type Serving } from './recorded-crib.ts';
import { type Asked, ask, type Heard } from './requests.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };

function legacy(method: string, params: object = {}, path = '/mcp'): Asked {
  return { path, headers: ACCEPT, body: { jsonrpc: '2.0', id: 1, method, params } };
}

function modern(method: string, params: Readonly<Record<string, unknown>> = {}, path = '/mcp'): Asked {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  return {
    path,
    headers: { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  };
}

const initialize = (protocolVersion: string) =>
  legacy('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'hand', version: '1' } });
const call = (name: string, args: object) => ({ name, arguments: args });

/** One request each. The key is the name of the recording. */
const REQUESTS: Readonly<Record<string, Asked>> = {
  'initialize-2025-11-25': initialize('2025-11-25'),
  'initialize-2025-03-26': initialize('2025-03-26'),
  'initialize-unknown-revision': initialize('1999-01-01'),
  ping: legacy('ping'),
  'tools-list': legacy('tools/list'),
  'tools-list-reader': legacy('tools/list', {}, '/mcp/reader'),
  'tools-list-seeker': legacy('tools/list', {}, '/mcp/seeker'),
  'tools-list-unknown-profile': legacy('tools/list', {}, '/mcp/nobody'),
  'tools-list-bad-cursor': legacy('tools/list', { cursor: 'nowhere' }),
  'call-function': legacy('tools/call', call('add', { a: 1, b: 2 })),
  'call-object': legacy('tools/call', call('echo', { text: 'hello' })),
  'call-invalid': legacy('tools/call', call('add', { a: 'one' })),
  'call-unknown': legacy('tools/call', call('nothing', {})),
  'call-failing': legacy('tools/call', call('fail', {})),
  'call-too-slow': legacy('tools/call', call('slow', {})),
  'call-extension': legacy('tools/call', call('echo', { text: 'midnight' })),
  'call-large': legacy('tools/call', call('long_text', {})),
  'call-shell': legacy('tools/call', call('list_folder', {})),
  'call-shell-exit-code': legacy('tools/call', call('exit_three', {})),
  'call-http': legacy('tools/call', call('town_weather', { town: 'harbour' })),
  'call-http-404': legacy('tools/call', call('town_weather', { town: 'nowhere' })),
  'call-openapi': legacy('tools/call', call('town_list', {})),
  'call-python': legacy('tools/call', call('prime_factors', { number: 12 })),
  'call-mcp': legacy('tools/call', call('notes_add', { title: 'milk' })),
  'call-mcp-failing': legacy('tools/call', call('notes_find', { title: 'milk' })),
  'call-waiting': legacy('tools/call', call('wipe', { what: 'all' })),
  'call-without-a-name': legacy('tools/call', { arguments: {} }),
  'resources-list': legacy('resources/list'),
  'no-method': legacy('nothing/at-all'),
  'not-json': { path: '/mcp', headers: ACCEPT, body: '{oops' },
  'not-json-rpc': { path: '/mcp', headers: ACCEPT, body: { hello: 1 } },
  notification: { path: '/mcp', headers: ACCEPT, body: { jsonrpc: '2.0', method: 'notifications/initialized' } },
  get: { path: '/mcp', headers: ACCEPT },
  'modern-discover': modern('server/discover'),
  'modern-tools-list': modern('tools/list', {}, '/mcp/reader'),
  'modern-tools-list-seeker': modern('tools/list', {}, '/mcp/seeker'),
  'modern-call': modern('tools/call', call('add', { a: 1, b: 2 })),
  'modern-call-invalid': modern('tools/call', call('add', { a: 'one' })),
  'modern-call-unknown': modern('tools/call', call('nothing', {})),
  'modern-call-waiting': modern('tools/call', call('wipe', { what: 'all' })),
  'modern-search': modern('tools/call', call('search_tools', { query: 'add numbers' }), '/mcp/seeker'),
  'modern-call-tool': modern('tools/call', call('call_tool', call('add', { a: 1, b: 2 })), '/mcp/seeker'),
  'modern-no-method': modern('nothing/at-all'),
  'modern-other-header': { ...modern('tools/list'), headers: { ...modern('ping').headers } },
};

let crib: RecordedCrib;
let server: Serving;
beforeAll(async () => {
  crib = await openRecordedCrib();
  await crib.run(['list']); // the lists of servers are kept before anything is recorded
  server = await crib.serve();
  // Programs that start take long: past a second a call is answered as an event. Recorded is the answer of one that runs.
  for (const [name, asked] of Object.entries(REQUESTS))
    if (['call-python', 'call-mcp', 'call-large'].includes(name)) await ask(server.url, asked);
});
afterAll(async () => {
  await server.stop();
  await crib.close();
});

async function keep(name: string, { recording }: Heard): Promise<void> {
  await expect(crib.mask(recording)).toMatchFileSnapshot(`recordings/mcp/${name}.txt`);
}

describe('MCP answers as it was recorded', () => {
  it.each(Object.entries(REQUESTS))('over HTTP: %s', async (name, asked) => {
    await keep(name, await ask(server.url, asked));
  });

  it('over HTTP, from a call that waits for approval to its result', async () => {
    const asked = legacy('tools/call', call('remove_file', { path: 'letter.txt' }));
    const parked = await ask(server.url, asked);
    await keep('approval-1-waiting', parked);
    const id = /[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}(?=\))/.exec(parked.recording)?.[0];
    const headers = { authorization: `Bearer ${server.token}` };
    await ask(server.url, { path: `/api/approvals/${id}`, body: { decision: 'approve' }, headers });
    await keep('approval-2-result', await ask(server.url, asked));
  });

  it('over stdin and stdout', async () => {
    const answers = await crib.converse([
      { id: 1, ...bodyOf(initialize('2025-06-18')) },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list', params: {} },
      { id: 3, method: 'tools/call', params: call('add', { a: 1, b: 2 }) },
      { id: 4, method: 'tools/call', params: call('nothing', {}) },
      { id: 5, method: 'nothing/at-all', params: {} },
    ]);
    const recording = answers.map((answer) => `${JSON.stringify(answer, null, 2)}\n`).join('');
    await keep('stdio', { recording, status: 0, json: undefined });
  });
});

function bodyOf({ body }: Asked): object {
  return typeof body === 'object' && body !== null ? body : {};
}
