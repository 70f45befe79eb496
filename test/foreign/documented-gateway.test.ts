import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { serverOf } from './peers.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const [, DOCUMENTED = ''] = /^```yaml toolcrib.yaml\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];

/** Stands for the server at an address: it lists what the page says of it. */
const ISSUES = `
  const schema = { type: 'object', properties: { repo: { type: 'string' }, title: { type: 'string' } }, required: ['repo'] };
  const tools = ['create_issue', 'merge_pull_request', 'delete_branch'].map((name) => ({ name, inputSchema: schema }));
  const about = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'issues', version: '1' } };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = { initialize: about, 'tools/list': { tools }, ping: {} }[method];
    const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
`;

const SHOP = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example.com' }],
  components: { securitySchemes: { api_key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } },
  security: [{ api_key: [] }],
  paths: {
    '/orders': { get: { operationId: 'list_orders', responses: {} } },
    '/refunds': {
      post: {
        operationId: 'create_refund',
        requestBody: {
          content: { 'application/json': { schema: { type: 'object', properties: { amount: { type: 'number' } } } } },
        },
        responses: {},
      },
    },
  },
};

const office = createWorkshop({
  'documents/a.txt': 'hello',
  'issues.cjs': ISSUES,
  'shop.openapi.yaml': JSON.stringify(SHOP),
  'shop-key': 'the-key-of-the-shop',
});
afterAll(office.remove);

it('the complete file of docs/configuration.md has no problem if its servers answer', async () => {
  const config = parse(DOCUMENTED);
  config.sources.files.mcp = serverOf('server-filesystem', './documents');
  config.sources.github.mcp = { command: process.execPath, args: ['issues.cjs'] };
  config.secrets.shop.file = './shop-key';
  office.write('toolcrib.yaml', JSON.stringify(config));
  const ran = await office.run(['check', '--json'], { env: { GITHUB_TOKEN: 'token', CHAT_WEBHOOK_SECRET: 'secret' } });
  const { problems, conflicts, profiles } = JSON.parse(ran.stdout);
  expect([problems, conflicts]).toEqual([[], []]);
  expect(profiles).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'support', toolCount: 12 }),
      expect.objectContaining({ name: 'engineering' }),
    ]),
  );
});
