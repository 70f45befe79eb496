import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ModelServer, startModelServer } from '../../kinds/agent/model-server.ts';
import { createWorkshop, type Workshop } from '../cli/workshop.ts';
import { type Ask, askThrough, execute } from './served.ts';

const TOKEN = 'a-token-of-our-own-choice';
const ID = '$' + '{secret:model}';

const TOOLS = `
const tool = (name, more = {}) => ({ name, description: name, input: { type: 'object' }, execute: () => name + ' ran', ...more });
export const read_book = tool('read_book', { effects: { readOnly: true } });
export const wipe = tool('wipe', { effects: { destructive: true } });
`;

const config = (model: ModelServer) => `
defaultProfile: desk
sources: { tools: { modules: ./tools } }
secrets: { model: { env: MODEL_KEY, hosts: ["127.0.0.1"] } }
executors:
  http: { allowPrivate: [127.0.0.1, localhost] }
  agent: { retries: 0, models: { local: { baseUrl: "${model.url}", key: "${ID}" } } }
tools:
  - name: researcher
    description: Answers a question with the books of the library
    input: { type: object, properties: { question: { type: string } }, required: [question], additionalProperties: false }
    run: { kind: agent, profile: library, model: local, instructions: Answer in one sentence. }
    policy: { timeoutMs: 60000 }
  - name: post_page
    description: Sends a request to a page
    input: { type: object, properties: { port: { type: string }, path: { type: string }, body: { type: object } } }
    run: { kind: http, method: POST, url: "http://127.0.0.1:PORT/{path}", body: "{body}" }
  - name: itself
    description: An agent whose model is the crib itself
    input: { type: object }
    run: { kind: agent, model: own }
profiles:
  desk: { include: [researcher, wipe], delegate: { library: open } }
  library: { include: [read_book, wipe, post_page] }
store: { url: "sqlite:.toolcrib/crib.db" }
`;

let model: ModelServer;
let shop: Workshop;
let url: string;
let ask: Ask;
let ended: Promise<unknown>;
let stop: () => void;

beforeAll(async () => {
  model = await startModelServer();
  shop = createWorkshop({ 'tools/tools.mjs': TOOLS });
  // The port must be known to the tool that tries to reach the server.
  const port = await freePort();
  shop.write(
    'toolcrib.yaml',
    config(model)
      .replace('PORT', String(port))
      .replace('models: {', `models: { own: { baseUrl: "http://127.0.0.1:${port}/v1" },`),
  );
  const child = shop.start(['serve', '--port', String(port)], {
    env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN, MODEL_KEY: 'sk-of-the-test' },
  });
  ended = once(child, 'close');
  stop = () => void child.kill('SIGTERM');
  let stderr = '';
  url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      const [, found] = /listens on (\S+)/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  ask = askThrough((request) => fetch(request), url);
}, 60_000);

afterAll(async () => {
  stop();
  await ended;
  shop.remove();
  await model.close();
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const QUESTION = { question: 'What is in Emma?' };

it('an agent delegated over REST answers through a local model server, with its calls on record', async () => {
  model.play([{ calls: [{ name: 'read_book' }] }, 'It is about Emma.']);
  const { status, json } = await execute(ask, 'researcher', QUESTION);
  expect([status, json]).toMatchObject([200, { ok: true, content: [{ text: 'It is about Emma.' }] }]);
  expect(model.asked[0]?.headers.authorization).toBe('Bearer sk-of-the-test');
  expect(model.asked[1]?.results).toEqual(['read_book ran']);
  const { json: calls } = await ask('/api/calls', { token: TOKEN });
  const inner = calls.calls.find((row: { tool: string }) => row.tool === 'read_book');
  expect(inner).toMatchObject({ parentId: json.callId, profile: 'library', caller: 'local' });
});

it('runs as a task with async, and on the command line for the operator', async () => {
  model.play(['In the background.']);
  const { status, json } = await execute(ask, 'researcher', QUESTION, { async: true });
  expect(status).toBe(202);
  const task = await vi.waitUntil(
    async () => {
      const { json: found } = await ask(`/api/tasks/${json.waiting.id}`);
      return JSON.stringify(found).includes('"done"') && found;
    },
    { timeout: 30_000, interval: 50 },
  );
  expect(JSON.stringify(task)).toContain('In the background.');
  model.play([{ calls: [{ name: 'read_book' }] }, 'For the operator.']);
  const { code, stdout } = await shop.run(['call', 'researcher', 'question=Who?'], {
    env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN, MODEL_KEY: 'sk-of-the-test' },
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining('For the operator.')]);
});

it('a model cannot approve a call, neither its own nor a waiting one, by any tool it has', async () => {
  const parked = await execute(ask, 'wipe', {});
  expect(parked.status).toBe(202);
  const { id } = parked.json.waiting;
  const approve = { path: `api/approvals/${id}`, body: { decision: 'approve' } };
  model.play([
    {
      calls: [
        { name: 'post_page', input: approve },
        { name: 'wipe', input: { approvalId: id } },
        { name: 'approve', input: { id } },
      ],
    },
    'I tried.',
  ]);
  expect((await execute(ask, 'researcher', QUESTION)).json).toMatchObject({ ok: true });
  const [posted, wiped, unknown] = model.asked[1]?.results ?? [];
  expect(posted).toContain('denied');
  expect(wiped).toMatch(/denied.*no approver is present/);
  expect(unknown).toContain('unknown_tool');
  const { json } = await ask(`/api/approvals/${id}`, { token: TOKEN });
  expect(json).toMatchObject({ approval: { state: 'waiting' } });
});

it('the crib itself is not a model', async () => {
  const { json } = await execute(ask, 'itself', {}, {}, TOKEN);
  expect(json).toMatchObject({ error: { code: 'denied', message: expect.stringContaining('not allowed') } });
});

it('check names an agent whose model is not configured', async () => {
  const other = createWorkshop({
    'toolcrib.yaml':
      'tools: [{ name: a, description: a, run: { kind: agent, model: nowhere } }]\nexecutors: { agent: { models: { nowhere2: {} } } }\n',
  });
  const { stdout, stderr } = await other.run(['check']);
  other.remove();
  expect(stdout + stderr).toContain('executors.agent.models has no "nowhere". Did you mean "nowhere2"?');
});
