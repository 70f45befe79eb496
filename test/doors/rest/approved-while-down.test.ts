import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { done, type Executor, type Extension, failed, type ToolInput, toolError } from '../../../src/index.ts';
import { OPERATOR } from '../../approvals/payments.ts';
import { folderWith } from '../../crib/workshop.ts';
import { type HttpServer, startHttp, startModern } from '../../kinds/mcp/http-servers.ts';
import { execute, type Heard, type Served, type ServeOptions, serve } from './served.ts';

/** What docs/reliability.md promises, three times. */
const WITHIN = { timeout: 3 * 7000, interval: 100 };

async function running(options: ServeOptions = {}): Promise<Served> {
  const served = await serve(options);
  onTestFinished(served.crib.runParked());
  return served;
}

const approve = ({ crib }: Served, { json }: Heard) =>
  crib.approvals.answer(json.waiting.id, { decision: 'approve' }, OPERATOR);

/** Resolves once the runner has tried the call and given the yes back. */
const tried = ({ crib }: Served, { json }: Heard) =>
  vi.waitFor(async () => {
    const approval = await crib.approvals.get(json.waiting.id);
    expect(approval).toMatchObject({ state: 'approved', claim: { callId: json.callId } });
  }, WITHIN);

const resultOf = ({ ask }: Served, { json }: Heard) =>
  vi.waitFor(async () => {
    const heard = await ask(`/api/calls/${json.callId}`);
    expect(heard.json.state).toBe('ended');
    return heard.json.result;
  }, WITHIN);

/** The rows of a call. */
const kinds = async ({ crib }: Served, callId: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const row of crib.audit.export()) if (row.callId === callId) found.push(`${row.kind} ${row.outcome}`);
  return found;
};

/** A tool whose other end can be taken away, and how often that end has run it. */
interface Reached {
  readonly tool: string;
  readonly options: ServeOptions;
  readonly server: HttpServer;
  runs(): number;
}

async function overHttp(status = 200): Promise<Reached> {
  const server = await startHttp((_, response) => void response.writeHead(status).end('done'));
  const folder = folderWith({ 'toolcrib.yaml': `executors: { http: { allowPrivate: ["${server.host}"] } }\n` });
  const run = { kind: 'http', method: 'POST', url: server.url };
  const tool = { name: 'far', description: 'x', effects: { destructive: true }, run } as ToolInput; // its arguments may be anything
  return { tool: 'far', options: { folder, crib: { tools: [tool] } }, server, runs: () => server.requests.length };
}

const sourceOf = ({ url }: HttpServer) =>
  `sources: { m: { mcp: { url: "${url}" }, overrides: { m_echo: { policy: { approval: always } } } } }\n`;

async function overMcp(): Promise<Reached> {
  const server = await startModern();
  const folder = folderWith({ 'toolcrib.yaml': sourceOf(server) });
  const runs = () => server.requests.filter(({ headers }) => headers['mcp-method'] === 'tools/call').length;
  return { tool: 'm_echo', options: { folder }, server, runs };
}

describe('a call that is approved while its upstream is down', () => {
  it.each<[string, () => Promise<Reached>]>([
    ['http', overHttp],
    ['mcp', overMcp],
  ])('over %s runs once, automatically, when the upstream is back', { timeout: 90_000 }, async (_, reach) => {
    const { tool, options, server, runs } = await reach();
    const served = await running(options);
    const calls = await Promise.all(
      Array.from({ length: 10 }, (_item, count) => execute(served.ask, tool, { text: String(count) })),
    );
    await server.stop();
    for (const heard of calls) await approve(served, heard);
    for (const heard of calls) await tried(served, heard);
    expect(runs()).toBe(0);
    await server.start();
    for (const heard of calls) expect(await resultOf(served, heard)).toMatchObject({ ok: true });
    expect(runs()).toBe(10);
  });

  it.each([429, 503, 404, 500])('a server that answers %i was called: the approval is used', async (status) => {
    const { options, runs } = await overHttp(status);
    const served = await running(options);
    const heard = await execute(served.ask, 'far', {});
    await approve(served, heard);
    expect(await resultOf(served, heard)).toMatchObject({ ok: false });
    expect(await served.crib.approvals.get(heard.json.waiting.id)).toMatchObject({ state: 'done' });
    expect(runs()).toBe(1);
  });

  it('sent again by its caller, it answers with the reason without waiting, and runs later', async () => {
    const { options, server, runs } = await overHttp();
    const served = await running(options);
    const heard = await execute(served.ask, 'far', {});
    await server.stop();
    await approve(served, heard);
    await tried(served, heard);
    expect(await execute(served.ask, 'far', {})).toMatchObject({ status: 503 });
    await server.start();
    await vi.waitFor(async () => expect((await execute(served.ask, 'far', {})).status).toBe(200), WITHIN);
    expect(runs()).toBe(1);
  });

  it('whose tool is not listed while a source is down runs when it is listed again', { timeout: 60_000 }, async () => {
    const server = await startModern();
    const folder = folderWith({ 'toolcrib.yaml': sourceOf(server) });
    const url = `sqlite:${join(folder, 'crib.db')}`;
    const before = await serve({ folder, url });
    const heard = await execute(before.ask, 'm_echo', { text: 'x' });
    await approve(before, heard);
    await before.crib.close();
    new DatabaseSync(join(folder, 'crib.db')).exec('DELETE FROM toolcrib_lists'); // its list was never kept
    await server.stop();
    const after = await running({ folder, url });
    expect(after.crib.get('m_echo')).toBeUndefined();
    await vi.waitFor(async () => {
      const outcomes = (await kinds(after, heard.json.callId)).filter((kind) => kind !== 'call waiting');
      expect(outcomes.length).toBeGreaterThan(1); // it was tried, more than once
    }, WITHIN);
    expect(await after.crib.approvals.get(heard.json.waiting.id)).toMatchObject({ state: 'approved' });
    await server.start();
    await vi.waitFor(() => after.crib.reload().then(() => expect(after.crib.get('m_echo')).toBeDefined()), WITHIN);
    expect(await resultOf(after, heard)).toMatchObject({ ok: true });
  });
});

describe('many approved calls', () => {
  it('newer ones do not delay older ones, nor the other way round', { timeout: 60_000 }, async () => {
    const ran: number[] = [];
    const isDown = new Set(Array.from({ length: 150 }, (_, count) => count));
    const gate: Extension = {
      name: 'gate',
      priority: 400,
      wrap: (call, next) =>
        isDown.has(Number(call.input.n)) ? failed(toolError('unavailable', 'not now')) : next(call),
    };
    const bank: Executor = {
      kind: 'bank',
      runSchema: { type: 'object' },
      execute: ({ input }) => {
        ran.push(Number(input.n));
        return done('paid');
      },
    };
    const tool = { name: 'pay', description: 'x', policy: { approval: 'always' }, run: { kind: 'bank' } } as ToolInput; // its arguments may be anything
    const config = 'extensions: { approval: { maxPerCaller: 1000 } }\n';
    const served = await serve({ config, crib: { tools: [tool], executors: [bank], extensions: [gate] } });
    const calls: Heard[] = [];
    for (let n = 0; n < 302; n++) calls.push(await execute(served.ask, 'pay', { n }));
    for (const heard of calls) await approve(served, heard);
    onTestFinished(served.crib.runParked());
    await vi.waitFor(() => expect(ran).toHaveLength(152), WITHIN);
    expect(Math.max(...ran.slice(0, 50))).toBeLessThan(250); // the older ones came first
    isDown.clear();
    await vi.waitFor(() => expect(ran).toHaveLength(302), WITHIN);
    expect(new Set(ran).size).toBe(302);
  });

  it('hundreds that are refused before their approval is used delay no other call', { timeout: 60_000 }, async () => {
    const ran: number[] = [];
    const others = 600; // more than are tried within the longest pause
    const gate: Extension = {
      name: 'gate',
      priority: 960,
      unsafeOrder: true,
      wrap: (call, next) =>
        call.approvalId === undefined || call.input.n === others
          ? next(call)
          : failed(toolError('rate_limited', 'not now', { retryable: true, retryAfterMs: 1 })),
    };
    const bank: Executor = {
      kind: 'bank',
      runSchema: { type: 'object' },
      execute: ({ input }) => {
        ran.push(Number(input.n));
        return done('paid');
      },
    };
    const tool = { name: 'pay', description: 'x', policy: { approval: 'always' }, run: { kind: 'bank' } } as ToolInput; // its arguments may be anything
    const config = 'extensions: { approval: { maxPerCaller: 1000 } }\n';
    const served = await serve({ config, crib: { tools: [tool], executors: [bank], extensions: [gate] } });
    const calls: Heard[] = [];
    for (let n = 0; n <= others; n++) calls.push(await execute(served.ask, 'pay', { n }));
    for (const heard of calls) await approve(served, heard);
    onTestFinished(served.crib.runParked());
    await vi.waitFor(() => expect(ran).toEqual([others]), { timeout: 30_000, interval: 100 });
  });
});

describe('an approved call gets an intent row before it runs', () => {
  it('and does not run, and keeps its approval, while the row cannot be written', { timeout: 60_000 }, async () => {
    const folder = folderWith({ 'toolcrib.yaml': '' });
    const served = await running({ folder, url: `sqlite:${join(folder, 'crib.db')}` });
    const { ask, deeds } = served;
    const database = new DatabaseSync(join(folder, 'crib.db'));
    onTestFinished(() => database.close());
    const heard = await execute(ask, 'wipe', { what: 'all' });
    await served.crib.audit.verify(); // everything so far is written
    database.exec('ALTER TABLE toolcrib_audit RENAME TO away');
    await approve(served, heard);
    await tried(served, heard);
    expect(await execute(ask, 'wipe', { what: 'all' })).toMatchObject({
      status: 503,
      json: { error: { message: expect.stringContaining('was not run because the audit log cannot be written') } },
    });
    expect(deeds.wiped).toEqual([]);
    database.exec('ALTER TABLE away RENAME TO toolcrib_audit');
    expect(await resultOf(served, heard)).toMatchObject({ ok: true });
    expect(deeds.wiped).toHaveLength(1);
    await vi.waitFor(async () => {
      const found = await kinds(served, heard.json.callId);
      expect(found.slice(-2)).toEqual(['intent intent', 'call done']);
      expect(found.filter((kind) => kind === 'call done')).toHaveLength(1);
    }, WITHIN);
    expect(await served.crib.audit.verify()).toMatchObject({ ok: true });
  });

  it('also under a remembered answer; not if nothing is recorded', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'extensions: { audit: false }\n' });
    for (const config of [undefined, folder]) {
      const served = await serve(config === undefined ? {} : { folder: config });
      const heard = await execute(served.ask, 'wipe', { what: 'all' });
      const decision = { decision: 'approve', remember: 'arguments' } as const;
      await served.crib.approvals.answer(heard.json.waiting.id, decision, OPERATOR);
      const [first, second] = [
        await execute(served.ask, 'wipe', { what: 'all' }),
        await execute(served.ask, 'wipe', { what: 'all' }),
      ];
      expect([first.status, second.status]).toEqual([200, 200]);
      const announced = config === undefined ? ['intent intent', 'call done'] : [];
      for (const { json } of [first, second])
        await vi.waitFor(async () => expect(await kinds(served, json.callId)).toEqual(announced));
    }
  });
});
