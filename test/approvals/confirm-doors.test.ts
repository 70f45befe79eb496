import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCrib, defineTool, type ToolInput } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { execute, serve } from '../doors/rest/served.ts';
import { startProcess } from '../store/start-process.ts';

const OLGA = { id: 'olga', operator: true };
const send: ToolInput = defineTool({
  name: 'send',
  description: 'Sends money',
  input: { type: 'object' },
  run: async (_, call) => ({ sent: await call.confirm('Send 500 to Bob?') }),
});

describe('a question of a call that came over REST', () => {
  it('is listed, announced and answered over REST, and the call continues', async () => {
    const { ask, token } = await serve({ crib: { tools: [send] } });
    const result = execute(ask, 'send', {});
    const request = await vi.waitFor(async () => {
      const { json } = await ask('/api/approvals?state=waiting', { token });
      expect(json.approvals).toHaveLength(1);
      return json.approvals[0];
    });
    expect(request).toMatchObject({ tool: 'send', question: 'Send 500 to Bob?', door: 'rest', isParked: false });
    expect((await ask(`/api/approvals/${request.id}`, { body: { decision: 'approve' } })).status).not.toBe(200); // the caller has no token
    const answered = await ask(`/api/approvals/${request.id}`, { token, body: { decision: 'approve' } });
    expect(answered.status).toBe(200);
    expect(await result).toMatchObject({ status: 200, json: { ok: true, data: { sent: true } } });
  });

  it('a REST caller cannot send context', async () => {
    const { ask } = await serve();
    expect(await execute(ask, 'add', { a: 1, b: 2 }, { context: { db: 1 } })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_input' } },
      text: expect.stringContaining('context'),
    });
  });
});

describe('a question of a call on the command line', () => {
  const TOOLS = `
export const send = {
  name: 'send', description: 'Sends money', input: { type: 'object' },
  execute: async (input, call) => ({ sent: await call.confirm('Send 500 to Bob?') }),
};
`;

  it('is listed and answered by another process', async () => {
    const desk = createWorkshop({
      'toolcrib.yaml': 'sources: { mine: { modules: ./tools } }',
      'tools/send.mjs': TOOLS,
    });
    onTestFinished(desk.remove);
    const result = desk.run(['call', 'send', '--json']);
    const [request] = await vi.waitFor(
      async () => {
        const { approvals } = (await desk.json(['approvals'])) as { approvals: { id: string; question: string }[] };
        expect(approvals).toHaveLength(1);
        return approvals;
      },
      { timeout: 20_000 },
    );
    expect(request?.question).toBe('Send 500 to Bob?');
    expect((await desk.run(['approvals'])).stdout).toContain('it asks: Send 500 to Bob?');
    expect(await desk.run(['approvals', 'approve', request?.id ?? ''])).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await result;
    expect([code, JSON.parse(stdout).data]).toEqual([0, { sent: true }]);
    expect(stderr).toContain(`To approve it: toolcrib approvals approve ${request?.id}`);
  });

  it('is answered by --yes', async () => {
    const desk = createWorkshop({
      'toolcrib.yaml': 'sources: { mine: { modules: ./tools } }',
      'tools/send.mjs': TOOLS,
    });
    onTestFinished(desk.remove);
    const { stdout, stderr } = await desk.run(['call', 'send', '--yes', '--json']);
    expect([JSON.parse(stdout).data, stderr]).toEqual([{ sent: true }, '']);
  });
});

describe('a question whose process has died', () => {
  it.each(['no approver', 'an approver'])('ends as expired, also if %s answers it afterwards', async (who) => {
    const url = `sqlite:${join(folderWith({}), 'crib.db')}`;
    const other = startProcess(new URL('./processes/ask-and-hang.ts', import.meta.url), [url]);
    await other.said(1);
    const crib = await createCrib({ store: { url }, tools: [send] });
    onTestFinished(() => crib.close());
    const states = async () => (await crib.approvals.list()).map(({ state }) => state);
    await vi.waitFor(async () => expect(await states()).toEqual(['waiting']), { timeout: 10_000 });
    other.child.kill('SIGKILL');
    await other.ended;
    const [request] = await crib.approvals.list();
    if (who === 'an approver') await crib.approvals.answer(request?.id ?? '', { decision: 'approve' }, OLGA);
    await vi.waitFor(async () => expect(await states()).toEqual(['expired']), { timeout: 15_000 });
    expect(
      await (await crib.open(undefined, { id: 'alice' })).call('send', {}, { approvalId: request?.id ?? '' }),
    ).toMatchObject({
      error: { code: 'denied' },
    });
  });
});
