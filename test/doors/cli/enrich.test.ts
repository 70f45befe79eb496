import { afterAll, expect, it } from 'vitest';
import { startModelServer } from '../../kinds/agent/model-server.ts';
import { createWorkshop } from './workshop.ts';

const model = await startModelServer();
const config = {
  tools: [{ name: 'refund', description: 'Refund a charge', run: { kind: 'http', url: 'https://example.com' } }],
  retrieval: { examples: './requests.jsonl', enrich: 'writer' },
  executors: { agent: { models: { writer: { baseUrl: model.url, prices: { input: 1, output: 2 } } } } },
};
const shop = createWorkshop({ 'toolcrib.yaml': JSON.stringify(config) });
afterAll(async () => {
  shop.remove();
  await model.close();
});

it('enrich shows the cost, writes requests and shows them', async () => {
  model.play([JSON.stringify(['give it back', 'money back please', 'it went out twice'])]);
  const dry = await shop.run(['enrich', '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: '' });
  expect(dry.stderr).toMatch(
    /1 tool without requests: 1 call of the model "writer" at 127\.0\.0\.1:\d+, about \d+ tokens of input and 200 of output, which cost about 0\.0/,
  );
  expect(model.asked).toHaveLength(0);
  const ran = await shop.run(['enrich']);
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('money back please') });
  expect(await shop.json(['enrich', '--show'])).toMatchObject({ examples: [{ tool: 'refund', state: 'current' }] });
  expect(await shop.json(['search', 'it went out twice'])).toMatchObject({ results: [{ name: 'refund' }] });
  expect(await shop.json(['enrich', '--prune'])).toEqual({ removed: [] });
  expect(await shop.run(['enrich', '--prune', '--show'])).toMatchObject({ code: 2 });
});
