import { describe, expect, it } from 'vitest';
import type { ToolInput } from '../../../src/index.ts';
import { modernClient, modernRequest, post } from './clients.ts';
import { startGateway } from './gateway.ts';

const HEADED: ToolInput = {
  name: 'headed',
  description: 'Has arguments that stand in headers',
  input: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      nested: { type: 'object', properties: { deep: { type: 'boolean', 'x-mcp-header': 'Deep' } } },
      free: { type: 'string' },
    },
  },
  run: (given: unknown) => JSON.stringify(given),
};

describe('headers that repeat the body of a request of the newest revision', () => {
  it.each([
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another tool', { 'mcp-name': 'other' }],
    ['another revision', { 'mcp-protocol-version': '2025-11-25' }],
    ['a name that is not Base64', { 'mcp-name': '=?base64?!!?=' }],
  ])('%s is refused', async (_what, wrong) => {
    const { url } = await startGateway({ tools: [HEADED] });
    const { body, headers } = modernRequest('tools/call', { name: 'headed', arguments: {} });
    expect(await post(url(), body, { ...headers, ...wrong })).toMatchObject({
      status: 400,
      messages: [{ id: 1, error: { code: -32020 } }],
    });
  });

  it.each(['mcp-method', 'mcp-name', 'mcp-protocol-version'])('without %s it is refused', async (missing) => {
    const { url } = await startGateway({ tools: [HEADED] });
    const { body, headers } = modernRequest('tools/call', { name: 'headed', arguments: {} });
    const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing));
    expect(await post(url(), body, rest)).toMatchObject({ status: 400, messages: [{ error: { code: -32020 } }] });
  });

  it('arguments that the schema requires in headers must be present and equal', async () => {
    const { url } = await startGateway({ tools: [HEADED] });
    const send = (given: unknown, more: Readonly<Record<string, string>>) => {
      const { body, headers } = modernRequest('tools/call', { name: 'headed', arguments: given });
      return post(url(), body, { ...headers, ...more });
    };
    const coded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    for (const [given, headers] of [
      [{ region: 'eu' }, { 'mcp-param-region': 'eu' }],
      [{ region: 'Zürich\n' }, { 'mcp-param-region': coded('Zürich\n') }],
      [{ count: 42 }, { 'mcp-param-count': '42' }],
      [{ count: 42 }, { 'mcp-param-count': '42.0' }],
      [{ nested: { deep: true } }, { 'mcp-param-deep': 'true' }],
      [{ free: 'x' }, {}],
      [{}, { 'mcp-param-region': 'eu' }],
      [{ region: null }, {}],
    ] as const)
      expect((await send(given, headers)).status).toBe(200);
    for (const [given, headers] of [
      [{ region: 'eu' }, {}],
      [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
      [{ region: 'eu' }, { 'mcp-param-region': coded('us') }],
      [{ region: 'eu' }, { 'mcp-param-region': '=?base64?e%?=' }],
      [{ count: 42 }, { 'mcp-param-count': '43' }],
      [{ nested: { deep: false } }, { 'mcp-param-deep': 'true' }],
    ] as const)
      expect(await send(given, headers)).toMatchObject({ status: 400, messages: [{ id: 1, error: { code: -32020 } }] });
  });

  it('the SDK sends them automatically', async () => {
    const { url } = await startGateway({ tools: [HEADED] });
    const client = await modernClient(url());
    await client.listTools();
    const given = { region: 'Zürich', count: 3, nested: { deep: true }, free: 'x' };
    expect(await client.callTool({ name: 'headed', arguments: given })).toMatchObject({
      content: [{ text: JSON.stringify(given) }],
    });
  });

  it('a schema that requires an impossible header requires none', async () => {
    const properties = {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } },
    };
    const { url } = await startGateway({ tools: [{ ...HEADED, input: { type: 'object', properties } } as ToolInput] }); // another schema
    const { body, headers } = modernRequest('tools/call', { name: 'headed', arguments: { region: 'eu' } });
    expect((await post(url(), body, headers)).status).toBe(200);
  });

  it('older clients send none', async () => {
    const { url } = await startGateway({ tools: [HEADED] });
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'headed', arguments: { region: 'eu' } },
    };
    expect(await post(url(), call, { 'mcp-protocol-version': '2025-11-25' })).toMatchObject({ status: 200 });
  });
});

describe('the envelope of a request of the newest revision', () => {
  it('an unknown revision is refused, with the supported ones', async () => {
    const { url } = await startGateway({ tools: [HEADED] });
    const { body } = modernRequest('tools/list', {
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' },
    });
    expect(await post(url(), body, { 'mcp-protocol-version': '2030-01-01', 'mcp-method': 'tools/list' })).toMatchObject(
      {
        status: 400,
        messages: [{ error: { code: -32022, data: { supported: ['2026-07-28'] } } }],
      },
    );
  });

  it('server/discover describes the server', async () => {
    const { url } = await startGateway({ tools: [HEADED] });
    const { body, headers } = modernRequest('server/discover');
    expect((await post(url(), body, headers)).messages[0]?.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'toolcrib', version: '1.2.3' } },
    });
  });
});
