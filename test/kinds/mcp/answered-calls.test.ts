import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { idOf, OPERATOR } from '../../approvals/payments.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';
import { bodyOf } from '../http/http-shop.ts';
import { startHttp } from './http-servers.ts';

/** A server with a session that runs its tool and then answers as if it had not, and a crib that asks a person about the tool. */
async function startDenying(deny: (response: ServerResponse) => unknown, auth: object | undefined) {
  let runs = 0;
  const server = await startHttp(async (request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) {
      const resource = { resource: server.url, authorization_servers: ['https://nowhere.invalid'] };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(resource));
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(String(await bodyOf(request)));
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') {
      runs++;
      return void deny(response);
    }
    const serverInfo = { name: 'denying', version: '1' };
    const answers: Readonly<Record<string, object>> = {
      initialize: { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } },
      'tools/list': { result: { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] } },
    };
    const answer = answers[method] ?? { error: { code: -32_601, message: 'There is no such method.' } };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  const source = { mcp: { url: server.url, ...(auth !== undefined && { auth }) }, ...ASKING };
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ sources: { m: source } }) });
  const crib = await cribOf(folder, { watch: false });
  await vi.waitFor(() => expect(crib.get('m_pay')).toBeDefined());
  return { crib, runs: () => runs };
}

const ASKING = { overrides: { m_pay: { policy: { approval: 'always' } } } };
const credentials = (more: object = {}) => ({
  clientCredentials: { clientId: 'me', clientSecret: 'not-one', ...more },
});
const status = (code: number, headers: Readonly<Record<string, string>> = {}) => {
  return (response: ServerResponse) => void response.writeHead(code, headers).end();
};

describe('a server that has answered has received the request, whatever it answers: one approval, one run', () => {
  it.each<[string, (response: ServerResponse) => unknown, object?]>([
    ['that it does not know the session', status(404)],
    ['that tokens are given out where nothing is', status(401, { 'www-authenticate': 'Bearer' }), credentials()],
  ])('%s', { timeout: 30_000 }, async (_, deny, auth) => {
    await expectOneRun(await startDenying(deny, auth));
  });

  it('also if it asks for another token and none can be fetched', { timeout: 30_000 }, async () => {
    const tokens = await startHttp((_request, response) => {
      const token = { access_token: 'the-first-and-last', token_type: 'Bearer' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
    });
    const deny = async (response: ServerResponse) => {
      await tokens.stop();
      status(401)(response);
    };
    await expectOneRun(await startDenying(deny, credentials({ tokenUrl: tokens.url })));
  });
});

async function expectOneRun({ crib, runs }: Awaited<ReturnType<typeof startDenying>>): Promise<void> {
  const chest = await crib.open(undefined, { id: 'alice' });
  const approvalId = idOf(await chest.call('m_pay', {}, { park: true }));
  await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR);
  await chest.call('m_pay', {}, { approvalId });
  expect(await chest.call('m_pay', {}, { approvalId })).toMatchObject({ status: 'failed' });
  expect(runs()).toBe(1);
  expect(await crib.approvals.get(approvalId)).toMatchObject({ state: 'done' });
}
