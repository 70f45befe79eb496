// Agents of the AI SDK, Mastra and LangChain run tools through a chest. The models are fake: no network, no key.
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { AIMessage, createAgent, fakeModel, ToolMessage } from 'langchain';
import { createCrib, defineTool } from 'toolcrib';
import { toAiSdk } from 'toolcrib/formats/ai-sdk';
import { toLangChain } from 'toolcrib/formats/langchain';
import { z } from 'zod';

const crib = await createCrib({
  tools: [
    defineTool({
      name: 'get_weather',
      description: 'The weather of a city',
      input: z.object({ city: z.string() }),
      run: ({ city }) => {
        if (city === 'Atlantis') throw new Error('No station there.');
        return { city, celsius: 21 };
      },
    }),
  ],
});
const chest = await crib.open(undefined, { id: 'alice' });

// The second argument is the chest: it makes tools that run, with all guards of the crib. Without it they are definitions.
assert.equal(toAiSdk(chest.list()).get_weather?.execute, undefined);

// The AI SDK: a record of tools by name. A failure is told to the model as an error.
const model = askingForTwoCities();
const { text } = await generateText({
  model,
  prompt: '?',
  tools: toAiSdk(chest.list(), chest),
  stopWhen: isStepCount(2),
});
assert.equal(text, 'Warm in Rome.');
assert.match(
  JSON.stringify(model.doGenerateCalls[1]?.prompt),
  /celsius.*"error-text","value":"tool_error: No station there."/,
);

// Mastra takes the same record.
const mastraModel = askingForTwoCities();
const agent = new Agent({
  id: 'weather',
  name: 'weather',
  instructions: 'Answer in one sentence.',
  model: mastraModel as MastraModelConfig,
  tools: toAiSdk(chest.list(), chest),
});
assert.equal((await agent.generate('How warm is it?')).text, 'Warm in Rome.');
assert.match(
  JSON.stringify(mastraModel.doGenerateCalls[1]?.prompt),
  /"error-text","value":"tool_error: No station there."/,
);

// LangChain: a list of tools. A failed call is a ToolMessage of status "error"; its artifact is the whole result.
const langChainModel = fakeModel()
  .respondWithTools([
    { name: 'get_weather', args: { city: 'Rome' }, id: 'call_1' },
    { name: 'get_weather', args: { city: 'Atlantis' }, id: 'call_2' },
  ])
  .respond(new AIMessage('Warm in Rome.'));
const reactAgent = createAgent({ model: langChainModel, tools: toLangChain(chest.list(), chest) });
const { messages } = await reactAgent.invoke({ messages: [{ role: 'user', content: 'How warm is it?' }] });
const answers = messages.filter((message) => ToolMessage.isInstance(message));
assert.equal(answers[0]?.content, '{"city":"Rome","celsius":21}');
assert.deepEqual([answers[1]?.status, answers[1]?.content], ['error', 'tool_error: No station there.']);
console.log(answers.map(({ name, status, content }) => ({ name, status, content })));
await crib.close();

/** A model that asks for the weather of two cities, then answers. */
function askingForTwoCities(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: undefined, reasoning: undefined },
  };
  const calls = ['Rome', 'Atlantis'].map((city, index) => ({
    type: 'tool-call' as const,
    toolCallId: `call_${index}`,
    toolName: 'get_weather',
    input: JSON.stringify({ city }),
  }));
  return new MockLanguageModelV4({
    doGenerate: [
      { content: calls, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: 'text', text: 'Warm in Rome.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}
