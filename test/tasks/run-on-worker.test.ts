import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startServer } from '../../src/doors/rest/start-server.ts';
import { type Chest, type Crib, createCrib } from '../../src/index.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';

/** The configuration; `hook` is the address that is told about ends of tasks. */
const configOf = (hook: string) => `
store: { url: "sqlite:./crib.db" }
sources:
  bench: { mcp: { command: "${process.execPath}", args: [./bench-server.mjs], env: { OWNER: "\${OWNER:-server}" } }, trust: true, prefix: "", runOn: worker, overrides: { wipe: { policy: { approvers: caller } } } }
  other: { files: ./other.json, prefix: "" }
secrets: { key: { file: ./key } }
tasks: { webhooks: { ci: { url: "${hook}", secret: key } } }
`;
const LIMIT = { timeout: 30_000, interval: 20 };

const shop = createWorkshop({ 'other.json': '{ "tools": [] }', key: 'a key of more than enough characters' });
chmodSync(join(shop.folder, 'key'), 0o600);
const told: { readonly id: string; readonly outcome: string }[] = [];
const hook = createServer(async (request, response) => {
  told.push((await json(request)) as (typeof told)[number]);
  response.end();
}).listen(0, '127.0.0.1');
beforeAll(async () => {
  if (!hook.listening) await once(hook, 'listening');
  const { port } = hook.address() as AddressInfo; // it listens at a port
  shop.write('toolcrib.yaml', configOf(`http://127.0.0.1:${port}/`));
});
copyFileSync(new URL('./processes/bench-server.mjs', import.meta.url), join(shop.folder, 'bench-server.mjs'));
const fileOf = (name: string) => join(shop.folder, name);
const linesOf = (name: string) =>
  existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8').split('\n').filter(Boolean) : [];

it('is refused with a store in memory, which no worker can open', async () => {
  const crib = await createCrib({ configFile: shop.folder, store: 'memory' });
  expect(crib.sources().find(({ name }) => name === 'bench')).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('runOn: worker needs a store that other processes can open'),
  });
  await crib.close();
});

/** A worker in a process of its own, once it runs background calls. */
async function startWorker() {
  const child = shop.start(['worker', '--source', 'bench'], { env: { OWNER: 'worker' } });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const ended = once(child, 'close');
  await vi.waitUntil(() => said.includes('runs background calls') || child.exitCode !== null, LIMIT);
  return { child, ended };
}
type Worker = Awaited<ReturnType<typeof startWorker>>;

async function stop({ child, ended }: Worker, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await ended;
}

describe('a source with runOn: worker', () => {
  let crib: Crib;
  let chest: Chest;
  let worker: Worker;
  beforeAll(async () => {
    crib = await createCrib({ configFile: shop.folder });
    chest = await crib.open(undefined, { id: 'ann' });
  });
  afterAll(async () => {
    writeFileSync(fileOf('enough'), '');
    worker?.child.kill('SIGKILL');
    await crib.close();
    hook.close();
    shop.remove();
  });

  it('waits for a worker, names the command, and is not started elsewhere', async () => {
    const [bench] = crib.sources().filter(({ name }) => name === 'bench');
    expect(bench).toEqual({
      name: 'bench',
      state: 'failed',
      reason: 'waits for a worker. Start one: toolcrib worker --source bench',
      toolCount: 0,
      runsOn: 'worker',
    });
    expect(linesOf('started')).toEqual([]);
  });

  it('is listed as soon as a worker has stored its list, and the worker answers its calls', async () => {
    worker = await startWorker();
    await vi.waitUntil(() => chest.get('echo') !== undefined, LIMIT);
    expect(chest.list().map(({ name }) => name)).toEqual(['echo', 'pay', 'wipe']);
    expect(crib.sources().find(({ name }) => name === 'bench')).toMatchObject({ state: 'ready', toolCount: 3 });

    const result = await chest.call('echo', { text: 'hi' }, { id: 'call-1' });
    expect(result).toMatchObject({ ok: true, content: [{ text: 'echo hi by the worker' }] });
    expect(new Set(linesOf('started'))).toEqual(new Set(['worker']));
    const doors = async () => {
      const rows = await crib.calls.list({ tool: 'echo' });
      return rows.filter(({ callId }) => callId === 'call-1').map(({ door, outcome }) => `${door} ${outcome}`);
    };
    await vi.waitFor(async () => expect((await doors()).toSorted()).toEqual(['library done', 'task done']), LIMIT);
  });

  it('refuses wrong arguments and context here, before a task exists', async () => {
    expect(await chest.call('echo', { text: 1 }, { id: 'wrong-1' })).toMatchObject({
      error: { code: 'invalid_input' },
    });
    expect(await chest.call('echo', {}, { id: 'wrong-2', context: { session: {} } })).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining('cannot have "context"') },
    });
    expect(await crib.tasks.get('wrong-1')).toBeUndefined();
    expect(await crib.tasks.get('wrong-2')).toBeUndefined();
  });

  it('asks the approver of the caller, and a yes reaches the worker', async () => {
    const asked: string[] = [];
    const approving = await crib.open(undefined, {
      id: 'ann',
      approve: ({ tool, reason }) => {
        asked.push(`${tool}: ${reason}`);
        return true;
      },
    });
    expect(await approving.call('wipe', { text: 'a' })).toMatchObject({
      content: [{ text: 'wipe a by the worker' }],
    });
    expect(asked).toEqual([expect.stringContaining('wipe: ')]);
    expect(await chest.call('wipe', { text: 'b' })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('no approver is available') },
    });
    expect(linesOf('runs').filter((line) => line.startsWith('wipe'))).toEqual(['wipe a']);
  });

  it.each(['tools.wipe({ text: "s" })', 'tools.delegate({ profile: "all", tool: "wipe", arguments: { text: "s" } })'])(
    'a script is refused %s, which would wait on the worker, and no request is left',
    async (call) => {
      const profiles = { all: {}, writer: { expose: 'script', delegate: { all: 'open' } } } as const;
      const own = await createCrib({ configFile: shop.folder, profiles });
      onTestFinished(() => own.close());
      const writer = await own.open('writer', { id: 'ann' });
      await vi.waitUntil(() => writer.get('wipe') !== undefined, LIMIT);
      const code = `try { return await ${call} } catch (error) { return error.code }`;
      const ended = await writer.call('execute_script', { code }, { park: true });
      expect(ended).toMatchObject({ content: [{ text: 'denied' }] });
      await vi.waitUntil(async () => (await own.approvals.list({ state: 'waiting' })).length === 0, LIMIT);
    },
  );

  it('parks a call that may be parked; the approved call runs on the worker, and its result is returned', async () => {
    const parked = await chest.call('wipe', { text: 'c' }, { park: true, id: 'parked-1' });
    expect(parked).toMatchObject({ status: 'waiting', waiting: { for: 'approval', callId: 'parked-1' } });
    const { id = '' } = parked.status === 'waiting' ? parked.waiting : {};
    expect(await chest.call('wipe', { text: 'other' }, { approvalId: id })).toMatchObject({
      error: { code: 'denied' },
    });
    expect(await chest.call('wipe', { text: 'c' }, { approvalId: id })).toMatchObject({
      status: 'waiting',
      waiting: { for: 'approval', id, callId: 'parked-1' },
    });
    expect(await crib.approvals.answer(id, { decision: 'approve' }, { id: 'bob', operator: true })).toMatchObject({
      ok: true,
    });
    expect(await chest.call('wipe', { text: 'c' }, { approvalId: id })).toMatchObject({
      content: [{ text: 'wipe c by the worker' }],
    });
  });

  it('takes a yes of the client for the request that the client saw, and for none that follows', async () => {
    const call = (more: object) => chest.call('wipe', { text: 'twice' }, more);
    const first = await call({ park: true });
    const { id = '' } = first.status === 'waiting' ? first.waiting : {};
    expect(await call({ park: true })).toMatchObject({ waiting: { id } }); // both wait for one request
    await call({ approvalId: id, answers: { approval: true } });
    const others = async () => (await crib.approvals.list({ state: 'waiting' })).filter((one) => one.tool === 'wipe');
    await vi.waitFor(async () => expect(await others()).toMatchObject([{ arguments: { text: 'twice' } }]), LIMIT);
    expect(linesOf('runs').filter((line) => line === 'wipe twice')).toHaveLength(1);
    expect(await chest.call('wipe', { text: 'said at once' }, { answers: { approval: true } })).toMatchObject({
      content: [{ text: 'wipe said at once by the worker' }],
    });
  });

  it('answers over REST like any other tool', async () => {
    const server = await startServer(crib, { port: 0 });
    onTestFinished(() => server.close());
    const execute = async (tool: string) => {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${await crib.server.operatorToken()}`,
      };
      const body = JSON.stringify({ arguments: { text: 'rest' } });
      const response = await fetch(`${server.url}/api/tools/execute/${tool}`, { method: 'POST', headers, body });
      const answer = (await response.json()) as { callId: string; waiting: { id: string } }; // read where they are there
      return { status: response.status, body: answer };
    };
    expect(await execute('echo')).toMatchObject({
      status: 200,
      body: { content: [{ text: 'echo rest by the worker' }] },
    });
    const { status, body } = await execute('wipe');
    expect({ status, body }).toMatchObject({ status: 202, body: { waiting: { for: 'approval' } } });
    expect(await crib.tasks.get(body.callId)).toMatchObject({ state: 'waiting', approvalId: body.waiting.id });
  });

  it('cancels the task with its call', async () => {
    const stopping = new AbortController();
    const calling = chest.call('pay', { slow: true, text: 'd' }, { id: 'stopped-1', signal: stopping.signal });
    await vi.waitUntil(() => linesOf('runs').includes('pay d'), LIMIT);
    stopping.abort();
    expect(await calling).toMatchObject({ error: { code: 'cancelled' } });
    await vi.waitUntil(async () => (await crib.tasks.get('stopped-1'))?.state === 'done', LIMIT);
  });

  it('is shown with the place where it runs', async () => {
    const [listed, report] = await Promise.all([shop.run(['sources']), shop.json(['check'])]);
    expect(listed.stdout).toMatch(/^NAME +STATE +RUNS ON .*\nbench +ready +workers +3 /);
    expect(report).toMatchObject({ sources: [{ name: 'bench', state: 'ready', runsOn: 'worker' }, { name: 'other' }] });
    expect(linesOf('started')).not.toContain('server');
  });

  it('runs its background calls on workers only', async () => {
    const submitted = await chest.submit('echo', { text: 'later' });
    const { id = '' } = submitted.status === 'waiting' ? submitted.waiting : {};
    expect(await crib.tasks.wait(id)).toMatchObject({ content: [{ text: 'echo later by the worker' }] });
  });

  it('has an unknown outcome if the worker dies during a call that must not be repeated', async () => {
    const calling = chest.call('pay', { slow: true, text: 'e' }, { timeoutMs: 60_000 });
    await chest.submit('pay', { slow: true, text: 'f' }, { id: 'told-1', notify: 'ci' });
    await vi.waitUntil(() => ['pay e', 'pay f'].every((run) => linesOf('runs').includes(run)), LIMIT);
    await stop(worker, 'SIGKILL');
    expect(await calling).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(linesOf('runs').filter((line) => line === 'pay e')).toHaveLength(1);
    await vi.waitUntil(() => told.length > 0, LIMIT);
    expect(told).toEqual([expect.objectContaining({ id: 'told-1', outcome: 'unknown_outcome' })]);
  });

  it('is unavailable without a worker, with the command that starts one; the call does not run later', async () => {
    const result = await chest.call('echo', { text: 'late' }, { timeoutMs: 300, id: 'late-1' });
    expect(result).toMatchObject({
      error: {
        code: 'unavailable',
        message:
          '"echo" runs on workers only (runOn: worker), and no worker began the call within 300 ms. Start a worker: toolcrib worker --source bench',
      },
    });
    expect(await crib.tasks.get('late-1')).toMatchObject({ state: 'done', outcome: 'cancelled' });

    const runner = crib.server.runTasks({ isWorker: true }); // it runs tasks of workers, but does not have the source
    expect(await chest.call('echo', {}, { timeoutMs: 900 })).toMatchObject({
      error: { message: expect.stringContaining('no worker began the call within 900 ms') },
    });
    await runner.stop();
  });
});
