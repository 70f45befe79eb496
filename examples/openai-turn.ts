// One turn with OpenAI, from a recorded message: definitions out, calls in, results back. No network, no key.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createCrib, defineTool } from 'toolcrib';
import { fromOpenAICalls, toOpenAI, toOpenAIResults } from 'toolcrib/formats/openai';
import { z } from 'zod';

const crib = await createCrib({
  tools: [
    defineTool({
      name: 'get_weather',
      description: 'The weather of a city',
      input: z.object({ city: z.string() }),
      run: ({ city }) => ({ city, celsius: city === 'Paris' ? 18 : 27 }),
    }),
  ],
});
const chest = await crib.open(undefined, { id: 'alice' });

// const answer = await openai.chat.completions.create({ model, messages, tools: toOpenAI(chest.list()) });
const tools = toOpenAI(chest.list());
assert.equal(tools[0]?.function.name, 'get_weather');
const message = JSON.parse(readFileSync(new URL('./recorded/openai-message.json', import.meta.url), 'utf8'));

const answers = await chest.callAll(fromOpenAICalls(message));
const replies = toOpenAIResults(answers);

// All calls ran at once, the answers are in order, and the one with broken arguments spoiled nothing.
assert.deepEqual(
  replies.map((reply) => reply.tool_call_id),
  ['call_paris', 'call_cairo', 'call_broken'],
);
assert.match(String(replies[0]?.content), /"celsius":18/);
assert.match(String(replies[2]?.content), /invalid_input/);
console.log(replies);
await crib.close();
