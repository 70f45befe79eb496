import { DynamicTool, tool as langChainTool, StructuredTool } from '@langchain/core/tools';
import { tool as aiSdkTool, dynamicTool, jsonSchema, type ToolSet } from 'ai';
import type OpenAI from 'openai';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { type AnyTool, type Crib, type CribOptions, createCrib, type ToolCall } from '../../src/index.ts';

abstract class AITool {
  abstract readonly name: string;
  abstract readonly description: string;
  readonly category: string | null = null;
  readonly tags: string[] = [];
  get_ai_prompt_instructions(): string {
    return '';
  }
}

class Weather extends AITool {
  static create(): Weather {
    return new Weather();
  }
  readonly name = 'weather';
  readonly description = 'The weather';
  readonly parameters_schema = { type: 'object', properties: { city: { type: 'string' } } };
  readonly #key = 'x';
  async execute({ city }: { city: string }, call: ToolCall): Promise<string> {
    return `${city} ${call.id} ${this.#key}`;
  }
}

class Optional {
  readonly name = 'optional';
  readonly description = '';
  readonly input = z.object({ a: z.number() });
  readonly options: { readonly key: string } | undefined;
  constructor(options?: { readonly key: string }) {
    this.options = options;
  }
  run(input: { a: number }) {
    return input.a;
  }
}

class Required {
  readonly name = 'required';
  readonly description = '';
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
  run() {}
}

// `npm run typecheck` is what fails here; nothing of it is run.
const typed = (_what: (crib: Crib) => unknown): void => {};

describe('types of tools in other shapes', () => {
  it('classes and instances are tools', () => {
    typed(() => createCrib({ tools: [new Weather(), Weather, Optional, new Optional(), new Required('key')] }));
    typed((crib) => [crib.register(Weather), crib.register(new Weather()), crib.register([Weather, new Optional()])]);
    // @ts-expect-error: the crib has no arguments for its constructor
    typed((crib) => crib.register(Required));
    // @ts-expect-error: its instances cannot run
    typed((crib) => crib.register(class Idle {}));
  });

  it('definitions of OpenAI with a function are tools', () => {
    const chat = { type: 'function', function: { name: 'a', parameters: { type: 'object' } } };
    const responses = { type: 'function', name: 'a', parameters: null, strict: true };
    const execute = (input: { a: string }) => input.a;
    typed((crib) =>
      crib.register([
        { ...chat, execute },
        { ...responses, execute },
      ]),
    );
    const theirs: OpenAI.ChatCompletionFunctionTool = { type: 'function', function: { name: 'a' } };
    const newer: OpenAI.Responses.FunctionTool = { type: 'function', name: 'a', parameters: {}, strict: true };
    typed((crib) =>
      crib.register([
        { ...theirs, execute },
        { ...newer, execute },
      ]),
    );
  });

  it('tools of LangChain are tools', () => {
    class Structured extends StructuredTool<z.ZodObject> {
      readonly name = 'x';
      readonly description = 'x';
      readonly schema = z.object({});
      _call = async () => 'x';
    }
    const made = langChainTool(({ a }) => a, { name: 'x', description: 'x', schema: z.object({ a: z.string() }) });
    const text = new DynamicTool({ name: 'x', description: 'x', func: async (input) => input });
    typed(() => createCrib({ tools: [made, text, new Structured(), Structured] }));
  });

  it('tools of the AI SDK are tools by name', () => {
    const execute = async () => 'x';
    const made = aiSdkTool({ description: 'x', inputSchema: z.object({ a: z.string() }), execute });
    const json = aiSdkTool({ inputSchema: jsonSchema<{ a: string }>({ type: 'object' }), execute });
    const dynamic = dynamicTool({ inputSchema: z.object({}), execute });
    typed(() => createCrib({ tools: { made, json, dynamic } }));
    typed((crib) =>
      crib.register([
        { made, json },
        { name: 'x', ...dynamic },
      ]),
    );
    typed((set: unknown) => createCrib({ tools: set as ToolSet }));
    // @ts-expect-error: it has no name
    typed((crib) => crib.register([made]));
  });

  it('a mistake in a plain tool is still an error', () => {
    const run = () => 1;
    typed((crib) => crib.register({ name: 'x', description: '', policy: { timeoutMs: 5 }, run }));
    // @ts-expect-error: a misspelt member
    typed((crib) => crib.register({ name: 'x', description: '', polcy: {}, run }));
    // @ts-expect-error: a policy is not a number
    typed((crib) => crib.register({ name: 'x', description: '', policy: 7, run }));
    // @ts-expect-error: no name
    typed((crib) => crib.register({ description: '', run }));
    expectTypeOf<AnyTool>().toExtend<object>();
    expectTypeOf<NonNullable<CribOptions['tools']>>().not.toBeAny();
  });
});
