import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecordedCrib, type RecordedCrib, type Serving } from './recorded-crib.ts';
import { type Asked, ask, type Heard } from './requests.ts';

const execute = (tool: string, args: unknown, more: object = {}): Asked => ({
  path: `/api/tools/execute/${tool}`,
  body: { arguments: args, ...more },
});

/** Requests of a caller without a credential. The key is the name of the recording. */
const LOCAL: Readonly<Record<string, Asked>> = {
  healthz: { path: '/healthz' },
  openapi: { path: '/openapi.json' },
  tools: { path: '/api/tools' },
  'tools-page': { path: '/api/tools?limit=2&tag=read' },
  'tools-bad-query': { path: '/api/tools?limit=many&colour=red' },
  'tools-kind-is-for-operators': { path: '/api/tools?kind=shell' },
  tool: { path: '/api/tools/add' },
  'tool-unknown': { path: '/api/tools/nothing' },
  search: { path: '/api/search?q=add%20numbers&limit=2&expand=true' },
  'search-without-words': { path: '/api/search' },
  bundles: { path: '/api/bundles' },
  profiles: { path: '/api/profiles' },
  'definitions-openai': { path: '/api/profiles/assistant/definitions?format=openai' },
  'definitions-of-no-format': { path: '/api/profiles/assistant/definitions?format=klingon' },
  'definitions-of-another-profile': { path: '/api/profiles/reader/definitions?format=mcp' },
  execute: execute('add', { a: 1, b: 2 }),
  'execute-invalid': execute('add', { a: 'one', c: 2 }),
  'execute-unknown': execute('nothing', {}),
  'execute-failing': execute('fail', {}),
  'execute-too-slow': execute('slow', {}),
  'execute-wrong-answer': execute('wrong_answer', {}),
  'execute-large': execute('long_text', {}),
  'execute-access': execute('staff_only', {}),
  'execute-shell': execute('list_folder', {}),
  'execute-http': execute('town_weather', { town: 'harbour' }),
  'execute-http-gone': execute('gone_server', {}),
  'execute-http-gone-again': execute('gone_server', {}),
  'execute-breaker-open': execute('gone_server', {}),
  'execute-openapi': execute('town_list', {}),
  'execute-python': execute('prime_factors', { number: 12 }),
  'execute-mcp': execute('notes_add', { title: 'milk' }),
  'execute-mcp-failing': execute('notes_find', { title: 'milk' }),
  'execute-once': execute('echo', { text: 'once' }, { idempotencyKey: 'k1' }),
  'execute-once-more': execute('echo', { text: 'once' }, { idempotencyKey: 'k1' }),
  'execute-once-otherwise': execute('echo', { text: 'other' }, { idempotencyKey: 'k1' }),
  'execute-bad-body': { path: '/api/tools/execute/add', body: '{oops' },
  'execute-unknown-field': { path: '/api/tools/execute/add', body: { argumints: {} } },
  'execute-list-body': { path: '/api/tools/execute/add', body: [] },
  'execute-other-profile': execute('add', { a: 1, b: 2 }, { profile: 'strict' }),
  'no-route': { path: '/api/nothing' },
  'no-method': { path: '/api/tools', method: 'DELETE' },
  'operator-only': { path: '/api/sources' },
  'credential-only': { path: '/api/approvals' },
  'wrong-credential': { path: '/api/tools', headers: { authorization: 'Bearer tco_wrong' } },
  'wrong-host': { path: '/api/tools', headers: { origin: 'https://evil.example.com' } },
  'start-page': { path: '/' },
};

/** Requests with the operator token, in this order: some read what others wrote. */
const OPERATOR: Readonly<Record<string, Asked>> = {
  sources: { path: '/api/sources' },
  'source-output': { path: '/api/sources/notes/output' },
  'source-unknown': { path: '/api/sources/nothing/output' },
  'source-reload': { path: '/api/sources/desk/reload', method: 'POST' },
  'tools-of-a-kind': { path: '/api/tools?kind=python' },
  'tool-for-operators': { path: '/api/tools/notes_add' },
  explain: { path: '/api/tools/wipe/explain?profile=reader&caller=ann&role=dev' },
  'execute-strict-rule': execute('add', { a: 11, b: 1 }, { profile: 'strict' }),
  'execute-strict-size': execute('long_text', {}, { profile: 'strict' }),
  'execute-strict-rate': execute('add', { a: 1, b: 1 }, { profile: 'strict' }),
  'execute-extension': execute('echo', { text: 'midnight' }),
  'execute-call-tool': execute('call_tool', { name: 'add', arguments: { a: 1, b: 2 } }, { profile: 'seeker' }),
  'execute-search-tools': execute('search_tools', { query: 'add numbers' }, { profile: 'seeker' }),
  'execute-list-bundles': execute('list_bundles', {}, { profile: 'seeker' }),
  'definitions-seeker': { path: '/api/profiles/seeker/definitions?format=anthropic' },
  'active-set': { path: '/api/profiles/reader/active', method: 'PUT', body: { active: ['reading'] } },
  'active-unknown': { path: '/api/profiles/reader/active', method: 'PUT', body: { active: ['nothing'] } },
  'specs-put': {
    path: '/api/specs',
    body: { tools: [{ name: 'kept', description: 'Kept', run: { kind: 'http', url: 'https://x.test' } }] },
  },
  'specs-bad': { path: '/api/specs', body: { tools: [{ name: 'kept' }, { name: 'x', run: { kind: 'teleport' } }] } },
  specs: { path: '/api/specs' },
  'specs-delete': { path: '/api/specs/kept', method: 'DELETE' },
  'specs-delete-again': { path: '/api/specs/kept', method: 'DELETE' },
  'keys-create': { path: '/api/keys', body: { name: 'ci', roles: ['dev'], expiresAt: '2999-01-01T00:00:00Z' } },
  'keys-create-bad': { path: '/api/keys', body: { roles: 'dev' } },
  keys: { path: '/api/keys' },
  'calls-of-fail': { path: '/api/calls?tool=fail' },
  'call-unknown': { path: '/api/calls/nothing' },
  'result-unknown': { path: '/api/results/nothing' },
  'audit-verify': { path: '/api/audit/verify' },
  later: { path: '/api/pins' },
};

const APPROVALS = '/api/approvals';

let crib: RecordedCrib;
let server: Serving;
beforeAll(async () => {
  crib = await openRecordedCrib();
  await crib.run(['list']); // the lists of servers are kept before anything is recorded
  server = await crib.serve();
  await asOperator({ path: '/readyz' });
});
afterAll(async () => {
  await server.stop();
  await crib.close();
});

const asOperator = (asked: Asked) =>
  ask(server.url, { ...asked, headers: { authorization: `Bearer ${server.token}`, ...asked.headers } });

async function keep(name: string, { recording }: Heard): Promise<void> {
  await expect(crib.mask(recording)).toMatchFileSnapshot(`recordings/rest/${name}.txt`);
}

describe('REST answers as it was recorded', () => {
  it.each(Object.entries(LOCAL))('to a local caller: %s', async (name, asked) => {
    await keep(`local-${name}`, await ask(server.url, asked));
  });

  it.each(Object.entries(OPERATOR))('to the operator: %s', async (name, asked) => {
    await keep(`operator-${name}`, await asOperator(asked));
  });

  it('from a call that waits for approval to its result', async () => {
    const parked = await ask(server.url, execute('wipe', { what: 'all' }));
    await keep('approval-1-parked', parked);
    const path = `${APPROVALS}/${parked.json.waiting.id}`;
    await keep('approval-2-listed', await asOperator({ path: `${APPROVALS}?state=waiting` }));
    await keep('approval-3-shown', await asOperator({ path }));
    await keep('approval-4-call-waits', await ask(server.url, { path: `/api/calls/${parked.json.callId}` }));
    await keep('approval-5-bad-decision', await asOperator({ path, body: { decision: 'perhaps' } }));
    await keep('approval-6-approved', await asOperator({ path, body: { decision: 'approve', note: 'fine' } }));
    const again = execute('wipe', { what: 'all' }, { approvalId: parked.json.waiting.id });
    await keep('approval-7-result', await ask(server.url, again));
    await keep(
      'approval-8-other-arguments',
      await ask(server.url, execute('wipe', { what: 'x' }, { approvalId: parked.json.waiting.id })),
    );
    await keep('approval-9-denied-too-late', await asOperator({ path, body: { decision: 'deny' } }));
    await keep(
      'approval-10-unknown',
      await asOperator({ path: `${APPROVALS}/aaaa-bbbb-cccc`, body: { decision: 'deny' } }),
    );
  });

  it('from a background call to its end', async () => {
    const stored = await ask(server.url, execute('add', { a: 1, b: 2 }, { async: true, delayMs: 3_600_000 }));
    await keep('task-1-stored', stored);
    const path = `/api/tasks/${stored.json.callId}`;
    await keep('task-2-listed', await ask(server.url, { path: '/api/tasks?state=queued' }));
    await keep('task-3-shown', await ask(server.url, { path }));
    await keep('task-4-resent-too-early', await ask(server.url, { path: `${path}/resend`, method: 'POST' }));
    await keep('task-5-cancelled', await asOperator({ path, method: 'DELETE' }));
    await keep('task-6-cancelled-again', await asOperator({ path, method: 'DELETE' }));
    await keep('task-7-its-result', await ask(server.url, { path }));
    await keep('task-8-unknown', await ask(server.url, { path: '/api/tasks/nothing' }));
    await keep('task-9-without-async', await ask(server.url, execute('add', { a: 1, b: 2 }, { delayMs: 1 })));
  });

  it('to callers with and without a key, with access', async () => {
    const guarded = await crib.serve('--config', 'access.yaml');
    try {
      const operator = { authorization: `Bearer ${guarded.token}` };
      const asked: Asked = { path: '/api/keys', body: { name: 'ci', roles: ['dev'] }, headers: operator };
      const { json } = await ask(guarded.url, asked);
      const key = { authorization: `Bearer ${json.key}` };
      await keep('access-no-key', await ask(guarded.url, { path: '/api/tools' }));
      await keep('access-key', await ask(guarded.url, { path: '/api/tools', headers: key }));
      await keep('access-not-operator', await ask(guarded.url, { path: '/api/sources', headers: key }));
      await keep('access-other-profile', await ask(guarded.url, { path: '/api/tools?profile=other', headers: key }));
      await keep(
        'access-mcp',
        await ask(guarded.url, { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
      );
    } finally {
      await guarded.stop();
    }
  });
});
