import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { modernRequest, post } from '../doors/mcp/clients.ts';
import { type Ask, askThrough, execute, type Heard } from '../doors/rest/served.ts';

/** Tools that note each run; `send` ends when a file appears. */
const TOOLS = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
const folder = join(import.meta.dirname, '..');
const note = (name, effects, isSlow) => ({
  name, description: 'Note: ' + name, input: { type: 'object' }, effects,
  execute: async ({ n = 0 }) => {
    appendFileSync(join(folder, 'runs'), name + ' ' + n + '\\n');
    while (isSlow && !existsSync(join(folder, 'enough'))) await setTimeout(10);
    return { name, n };
  },
});
export const read = note('read', { readOnly: true });
export const write = note('write', { destructive: true });
export const send = note('send', { destructive: false }, true);
`;

/** Reads five things, asks for the approval of one write, then sends something. */
const CODE = `
const read = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.read({ n })));
const written = await tools.write({ n: read.reduce((sum, { n }) => sum + n, 0) });
try {
  await tools.send({ n: written.n });
  return { written: written.n, sent: 'yes' };
} catch (error) {
  return { written: written.n, sent: error.code };
}`;

const READS = [1, 2, 3, 4, 5].map((n) => `read ${n}`);
const TOKEN = 'an-operator-token-of-this-test-0123456789';
const WITHIN = { timeout: 60_000, interval: 20 };

/** A folder with a server that can be killed and started again. */
export function killableServer(store: string) {
  const config = `store: { url: "${store}" }\nsources: { own: { modules: ./tools } }\nprofiles: { default: { expose: script } }\n`;
  const shop = createWorkshop({ 'toolcrib.yaml': config, 'tools/t.mjs': TOOLS });
  onTestFinished(shop.remove);
  return {
    runs: () =>
      existsSync(join(shop.folder, 'runs')) ? readFileSync(join(shop.folder, 'runs'), 'utf8').trim().split('\n') : [],
    letSend: () => writeFileSync(join(shop.folder, 'enough'), ''),
    async start() {
      const child = shop.start(['serve', '--port', '0'], { env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN } });
      const ended = once(child, 'close');
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
      const url = await vi.waitUntil(() => /listens on (\S+)/.exec(said)?.[1], WITHIN);
      return {
        url,
        ask: askThrough((request) => fetch(request), url),
        async kill() {
          child.kill('SIGKILL');
          await ended;
        },
      };
    },
    /** Lets the heartbeats of dead processes count as old. */
    async forgetHeartbeats() {
      const { engine } = await openEngine({ url: store.replace('sqlite:', `sqlite:${shop.folder}/`), env: {} });
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      await engine.close();
    },
  };
}

type Killable = ReturnType<typeof killableServer>;

const approve = (ask: Ask, id: string) =>
  ask(`/api/approvals/${id}`, { body: { decision: 'approve' }, token: TOKEN }).then(({ status }) =>
    expect(status).toBe(200),
  );

const endOf = (ask: Ask, path: string): Promise<Heard['json']> =>
  vi.waitFor(async () => {
    const { json } = await ask(path, { token: TOKEN });
    const { result } = json.task ?? json;
    expect(result).toBeDefined();
    return result;
  }, WITHIN);

/** Begins the script as a direct call or as a background call, and resolves when it waits: the id of the approval, and where its result will be. */
async function begin(ask: Ask, isAsync: boolean): Promise<{ readonly id: string; readonly path: string }> {
  const { status, json } = await execute(ask, 'execute_script', { code: CODE }, isAsync ? { async: true } : {});
  expect(status).toBe(202);
  if (!isAsync) return { id: json.waiting.id, path: `/api/calls/${json.callId}` };
  const path = `/api/tasks/${json.callId}`;
  const id = await vi.waitUntil(async () => (await ask(path, { token: TOKEN })).json.task.approvalId, WITHIN);
  return { id, path };
}

/** The server is killed while the script waits. */
export async function killWhileWaiting(server: Killable, isAsync: boolean): Promise<void> {
  server.letSend();
  const first = await server.start();
  const { id, path } = await begin(first.ask, isAsync);
  expect(server.runs().toSorted()).toEqual(READS);
  await first.kill();
  const second = await server.start();
  const listed = await second.ask('/api/approvals', { token: TOKEN });
  expect(listed.json.approvals).toMatchObject([{ id, tool: 'write', arguments: { n: 15 }, state: 'waiting' }]);
  await approve(second.ask, id);
  expect(await endOf(second.ask, path)).toMatchObject({ ok: true, data: { written: 15, sent: 'yes' } });
  expect(server.runs().toSorted()).toEqual([...READS, 'send 15', 'write 15']);
  await second.kill();
}

/** Each request stands alone: the server keeps nothing of a connection. */
async function callOverMcp(url: string) {
  const { body, headers } = modernRequest('tools/call', { name: 'execute_script', arguments: { code: CODE } });
  const { messages } = await post(`${url}/mcp`, body, headers);
  return messages.at(-1)?.result;
}

/** The server is killed while a script waits that came over MCP. */
export async function killWhileWaitingOverMcp(server: Killable): Promise<void> {
  server.letSend();
  const first = await server.start();
  const asked = await callOverMcp(first.url);
  expect(asked).toMatchObject({ isError: true, _meta: { 'toolcrib/waiting': { id: expect.any(String) } } });
  await first.kill();
  const second = await server.start();
  const again = await callOverMcp(second.url);
  expect(again?._meta).toEqual(asked?._meta);
  const [{ id }] = (await second.ask('/api/approvals', { token: TOKEN })).json.approvals;
  await approve(second.ask, id);
  expect(await callOverMcp(second.url)).toMatchObject({ structuredContent: { written: 15, sent: 'yes' } });
  expect(server.runs().toSorted()).toEqual([...READS, 'send 15', 'write 15']);
  await second.kill();
}

/** The server is killed after the approved call, while the next one runs. */
export async function killAfterApproval(server: Killable, isAsync: boolean): Promise<void> {
  const first = await server.start();
  const { id, path } = await begin(first.ask, isAsync);
  await approve(first.ask, id);
  await vi.waitUntil(() => server.runs().includes('send 15'), WITHIN);
  await first.kill();
  await server.forgetHeartbeats();
  const second = await server.start();
  expect(await endOf(second.ask, path)).toMatchObject({ ok: true, data: { written: 15, sent: 'unknown_outcome' } });
  expect(server.runs().toSorted()).toEqual([...READS, 'send 15', 'write 15']);
  await second.kill();
}
