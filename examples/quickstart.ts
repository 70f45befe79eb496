// One tool, one profile, one call: the shortest way through the whole path.
import assert from 'node:assert/strict';
import { createCrib, defineTool } from 'toolcrib';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Add two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  effects: { readOnly: true },
  run: ({ a, b }) => a + b,
});

const crib = await createCrib({ tools: [add], profiles: { assistant: { include: ['add'] } } });
const chest = await crib.open('assistant', { id: 'alice' });

const sum = await chest.call('add', { a: 1, b: 2 });
assert.deepEqual(sum, { ok: true, status: 'done', content: [{ type: 'text', text: '3' }], data: 3 });

// Arguments come from a model, so they are checked; what is wrong is said so that the model can mend it.
const wrong = await chest.call('add', { a: 1 });
assert(wrong.status === 'failed');
assert.equal(wrong.error.code, 'invalid_input');
assert.equal(wrong.error.issues?.[0]?.path, '/b');

console.log('1 + 2 =', sum.ok && sum.data);
console.log('add({ a: 1 }) ->', wrong.error.code, wrong.error.issues);
await crib.close();
