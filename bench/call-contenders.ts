import assert from 'node:assert/strict';
import { type Caller, type Chest, createCrib, defineTool } from 'toolcrib';
import { z } from 'zod';
import type { Contender } from './measure.ts';

interface Numbers {
  readonly a: number;
  readonly b: number;
}

/** Opens what one contender calls. Only its own library is loaded, so that a cold start is its own. */
type Opening = Omit<Contender, 'run'> & { open(): Promise<Contender['run']> };

const zodInput = z.object({ a: z.number(), b: z.number() });
const jsonSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
} as const;
const description = 'Add two numbers';
/** As most tools are written: they wait for something. */
const add = async ({ a, b }: Numbers): Promise<number> => a + b;
const addAtOnce = ({ a, b }: Numbers): number => a + b;
const numbers = () => ({ a: 1, b: 2 });

const CALLER: Caller = { id: 'alice', roles: ['dev'] };
const POLICY = {
  access: { roles: ['dev'] },
  rates: [{ scope: 'caller', amount: 1e12, perMs: 1000 }],
  concurrency: [{ scope: 'tool', amount: 100 }],
  timeoutMs: 5000,
  retries: 2,
} as const;
const PROFILE = { access: { users: ['alice'] }, rates: [{ scope: 'profile', amount: 1e12, perMs: 1000 }] } as const;

/** The crib of the bench with one tool, under all its guards. */
export async function openGuarded(run: (given: Numbers) => unknown = add): Promise<Chest> {
  const effects = { readOnly: true };
  const tool = defineTool({ name: 'add', description, input: jsonSchema, effects, policy: POLICY, run });
  const crib = await createCrib({ tools: [tool], profiles: { assistant: { policy: PROFILE } } });
  return crib.open('assistant', CALLER);
}

async function openUsual(input: typeof jsonSchema | typeof zodInput, without: readonly string[]): Promise<Chest> {
  const crib = await createCrib({ tools: [defineTool({ name: 'add', description, input, run: add })] });
  for (const name of without) crib.extensions.remove(name);
  return crib.open(undefined, CALLER);
}

const callOf = (chest: Chest) => () => chest.call('add', numbers());
const GUARDS = 'validation, access clauses, 2 rates, concurrency, timeout, retry';

/** The call of `add`, beside the bare function and the peers. */
export const OPENINGS: readonly Opening[] = [
  { name: 'direct function', open: async () => () => add(numbers()) },
  {
    name: 'toolcrib, validation alone',
    note: 'JSON Schema',
    open: async () => callOf(await openUsual(jsonSchema, ['timeout', 'retry'])),
  },
  {
    name: 'toolcrib, validation alone, zod',
    open: async () => callOf(await openUsual(zodInput, ['timeout', 'retry'])),
  },
  {
    name: 'toolcrib, as it comes',
    note: 'validation, timeout, retry, emergency stops',
    open: async () => callOf(await openUsual(jsonSchema, [])),
  },
  { name: 'toolcrib, all guards', note: GUARDS, open: async () => callOf(await openGuarded()) },
  {
    name: 'toolcrib, all guards, synchronous tool',
    note: 'the same guards',
    open: async () => callOf(await openGuarded(addAtOnce)),
  },
  {
    name: 'Mastra createTool().execute',
    note: 'validation only',
    async open() {
      const { createTool } = await import('@mastra/core/tools');
      const execute = async (given: unknown) => add(given as Numbers); // validated before
      const tool = createTool({ id: 'add', description, inputSchema: zodInput, execute });
      return () => tool.execute?.(numbers(), {} as never);
    },
  },
  {
    name: 'OpenAI Agents tool.invoke',
    note: 'validation only',
    async open() {
      const { tool, RunContext } = await import('@openai/agents-core');
      const adding = tool({ name: 'add', description, parameters: zodInput, execute: add });
      const context = new RunContext();
      assert.equal(await adding.invoke(context, '{"a":1,"b":2}'), 3);
      return () => adding.invoke(context, '{"a":1,"b":2}');
    },
  },
  {
    name: 'LangChain tool().invoke',
    note: 'validation only',
    async open() {
      const { tool } = await import('@langchain/core/tools');
      const adding = tool(add, { name: 'add', description, schema: zodInput });
      assert.equal(await adding.invoke(numbers()), 3);
      return () => adding.invoke(numbers());
    },
  },
];
