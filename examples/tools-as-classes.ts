// Tools as classes, and tools that were written for OpenAI, LangChain or the AI SDK: a crib takes them as they are.
import assert from 'node:assert/strict';
import { tool as langChainTool } from '@langchain/core/tools';
import { tool as aiSdkTool } from 'ai';
import { createCrib, type ToolCall, textOf } from 'toolcrib';
import { z } from 'zod';

/** What the tools of this program have in common. */
abstract class AITool {
  abstract readonly name: string;
  abstract readonly description: string;
  readonly category: string | null = null;
  readonly tags: readonly string[] = [];
}

class Counter extends AITool {
  readonly name = 'count';
  readonly description = 'Count how often it was called';
  readonly parameters = z.object({ by: z.number().int().default(1) });
  override readonly tags = ['math'];
  #count = 0;

  async execute({ by }: { by: number }, call: ToolCall): Promise<string> {
    this.#count += by;
    return `${call.caller.id} counted to ${this.#count}`;
  }
}

class Greeter extends AITool {
  static create(): Greeter {
    return new Greeter('Good morning');
  }
  readonly name = 'greet';
  readonly description = 'Greet somebody';
  readonly #words: string;
  constructor(words: string) {
    super();
    this.#words = words;
  }
  run(): string {
    return this.#words;
  }
}

// A definition of OpenAI with what runs it beside it.
const definitions = [
  {
    type: 'function',
    function: {
      name: 'add',
      description: 'Add two numbers',
      parameters: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    },
  },
];
const implementations: Record<string, (input: { a: number; b: number }) => number> = { add: ({ a, b }) => a + b };
const openAITools = definitions.map((definition) => ({
  ...definition,
  execute: implementations[definition.function.name] ?? assert.fail(`Nothing runs ${definition.function.name}.`),
}));

const shout = langChainTool(({ text }) => text.toUpperCase(), {
  name: 'shout',
  description: 'Say it loudly',
  schema: z.object({ text: z.string() }),
});

// Tools of the AI SDK have no name: the key is their name, as in generateText({ tools: { now } }).
const now = aiSdkTool({
  description: 'The time',
  inputSchema: z.object({}),
  execute: (_input, { abortSignal }) => (abortSignal?.aborted ? 'too late' : '12:00'),
});

const crib = await createCrib({ tools: [new Counter(), Greeter, ...openAITools, shout, { now }] });
const chest = await crib.open(undefined, { id: 'alice' });
const say = async (name: string, input: object) => textOf(await chest.call(name, input));
assert.equal(await say('count', {}), 'alice counted to 1');
assert.equal(await say('count', { by: 4 }), 'alice counted to 5');
assert.equal(await say('greet', {}), 'Good morning');
assert.equal(await say('add', { a: 1, b: 2 }), '3');
assert.equal(await say('shout', { text: 'hello' }), 'HELLO');
assert.equal(await say('now', {}), '12:00');
assert.match(await say('add', { a: 1 }), /invalid_input/);
assert.deepEqual(
  crib.match({ tags: ['math'] }).map(({ name }) => name),
  ['count'],
);

// What is not a tool is refused in words.
class Idle {
  readonly name = 'idle';
}
const { rejected } = crib.register(Idle as never);
assert.match(
  rejected[0]?.reason ?? '',
  /class Idle is not a tool: an instance has no description and no execute or run/,
);
console.log(crib.catalog.specs.map(({ name, description }) => ({ name, description })));
await crib.close();
