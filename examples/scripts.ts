// A model writes one script instead of five calls; the script has exactly the tools of its caller.
import assert from 'node:assert/strict';
import { createCrib, defineTool } from 'toolcrib';
import { z } from 'zod';

const stock: Record<string, number> = { chair: 4, table: 0, lamp: 9 };
const count = defineTool({
  name: 'stock_count',
  description: 'Count an article in stock',
  input: z.object({ article: z.string() }),
  output: z.number(),
  effects: { readOnly: true },
  run: ({ article }) => stock[article] ?? 0,
});
const order = defineTool({
  name: 'stock_order',
  description: 'Order an article',
  input: z.object({ article: z.string(), amount: z.number().int().positive() }),
  policy: { approval: 'always' },
  run: ({ article, amount }) => {
    stock[article] = (stock[article] ?? 0) + amount;
    return { ordered: `${amount} ${article}` };
  },
});

const crib = await createCrib({
  tools: [count, order],
  profiles: { agent: { expose: 'script' } },
});
const asked: string[] = [];
const chest = await crib.open('agent', {
  id: 'alice',
  approve: ({ tool, arguments: given }) => {
    asked.push(`${tool} ${JSON.stringify(given)}`);
    return true;
  },
});
const shown = chest.list().map(({ name }) => name);
assert.deepEqual(shown, ['search_tools', 'execute_script']);

// What a model would send: the description of execute_script has the declarations of both tools.
const code = `
const articles: string[] = ['chair', 'table', 'lamp'];
const counts = await Promise.all(articles.map((article) => tools.stock_count({ article })));
const missing = articles.filter((_, n) => counts[n] === 0);
console.log('missing:', missing.join(', '));
const results = [];
for (const article of missing) results.push(await tools.stock_order({ article, amount: 6 }));
try {
  await tools.stock_order({ article: 'chair', amount: -1 });
} catch (error) {
  results.push(error.code);
}
return results;
`;
const result = await chest.call('execute_script', { code }, { onProgress: (line) => console.log(line) });
assert.deepEqual(result.ok && result.data, [{ ordered: '6 table' }, 'invalid_input']);
assert.deepEqual(asked, ['stock_order {"article":"table","amount":6}']);
assert.equal(stock.table, 6);

// A script that never ends is ended; the crib goes on.
const endless = await chest.call('execute_script', { code: 'for (;;);' }, { timeoutMs: 500 });
assert.equal(!endless.ok && endless.status === 'failed' && endless.error.code, 'timeout');
console.log(JSON.stringify(result));
await crib.close();
