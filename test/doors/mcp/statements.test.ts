import { expect, it } from 'vitest';
import { done, type ToolInput } from '../../../src/index.ts';
import { modernRequest, post, request } from './clients.ts';
import { ERAS } from './eras.ts';
import { startGateway } from './gateway.ts';

it('A view keeps catalog order; an excluded tool is neither listed nor callable: `unknown_tool`, and the executor is not reached; the attempt is recorded.', async () => {
  const reached: string[] = [];
  const tool = (name: string): ToolInput => ({ name, description: name, run: { kind: 'noted' } });
  const { url, crib } = await startGateway({
    tools: ['zeta', 'drop_all', 'alpha', 'beta'].map(tool),
    executors: [
      {
        kind: 'noted',
        runSchema: { type: 'object' },
        execute: async ({ spec }) => {
          reached.push(spec.name);
          return done('ran');
        },
      },
    ],
    profiles: { careful: { exclude: ['drop_*'] } },
    defaultProfile: 'careful',
  });
  for (const connect of Object.values(ERAS)) {
    const client = await connect(url());
    expect((await client.list()).map(({ name }) => name)).toEqual(['zeta', 'alpha', 'beta']);
    const hidden = await client.call('drop_all').catch((error: unknown) => error);
    expect(hidden).toMatchObject({
      code: -32602,
      message: expect.stringContaining('The tool "drop_all" was not found.'),
    });
    const missing = await client.call('never_was').catch((error: unknown) => error);
    const words = (error: unknown) => String(error).replaceAll(/drop_all|never_was/g, 'it');
    expect(words(hidden)).toBe(words(missing));
  }
  expect(reached).toEqual([]);
  const { calls } = { calls: await crib.calls.list({ tool: 'drop_all' }) };
  expect(JSON.stringify(calls)).toContain('unknown_tool');
});

it("No export (OpenAI, Anthropic, Gemini, MCP, REST, console, log, audit) contains how a tool runs (an operator's view may name its kind, nothing else of it) or a resolved secret. Returned objects cannot change the crib.", async () => {
  const secret = 'c0ffee-c0ffee-c0ffee';
  process.env.GATEWAY_TEST_SECRET = secret;
  const yaml = `
secrets: { vault: { env: GATEWAY_TEST_SECRET, hosts: [private.example.com] } }
tools:
  - name: fetch_it
    description: Fetches
    input: { type: object, properties: { id: { type: string } } }
    run: { kind: http, method: GET, url: "https://private.example.com/inside/{id}", headers: { Authorization: "Bearer \${secret:vault}" } }
`;
  const failing: ToolInput = {
    name: 'leaky',
    description: 'Says what it should not',
    run: () => {
      throw new Error(`Could not log in with ${secret}`);
    },
  };
  const { url, warnings } = await startGateway({ files: { 'toolcrib.yaml': yaml }, tools: [failing] });
  delete process.env.GATEWAY_TEST_SECRET;
  const answers = [
    ...(await everyAnswer(url(), 'tools/list', {})),
    ...(await everyAnswer(url(), 'tools/call', { name: 'fetch_it', arguments: { id: 'x' } })),
    ...(await everyAnswer(url(), 'tools/call', { name: 'leaky', arguments: {} })),
    ...(await everyAnswer(url(), 'server/discover', {})),
  ];
  const seen = JSON.stringify([answers, warnings]);
  expect(seen).toContain('fetch_it');
  for (const hidden of [
    secret,
    Buffer.from(secret).toString('base64'),
    'private.example.com',
    'inside',
    'Bearer',
    '"kind"',
    '"run"',
  ])
    expect(seen).not.toContain(hidden);
});

async function everyAnswer(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<readonly unknown[]> {
  const { body, headers } = modernRequest(method, params);
  return [(await post(url, body, headers)).messages, (await post(url, request(method, params))).messages];
}
