import { type Chest, type CribOptions, createCrib, type ToolInput, type ToolResult } from '../../../src/index.ts';

const number = { type: 'number' } as const;

/** The tools of most tests here. */
export const shopTools: readonly ToolInput[] = [
  {
    name: 'add',
    description: 'Add two numbers',
    input: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'], additionalProperties: false },
    output: number,
    run: ({ a, b }: { readonly a: number; readonly b: number }) => a + b,
  },
  { name: 'echo', description: 'Return the arguments', input: { type: 'object' }, run: (input) => input },
  {
    name: 'fail',
    description: 'Always fail',
    input: { type: 'object' },
    run: () => {
      throw new Error('the shop is closed');
    },
  },
];

interface ScriptShop {
  readonly chest: Chest;
  run(code: string, input?: object): Promise<ToolResult>;
  close(): Promise<void>;
}

/** A crib whose caller can run scripts. `limits` are those of `executors.script`. */
export async function openShop(limits: object = {}, options: CribOptions = {}): Promise<ScriptShop> {
  const crib = await createCrib({
    tools: [...shopTools],
    config: { executors: { script: limits } },
    store: 'memory',
    profiles: { agent: { expose: 'script' } },
    ...options,
  });
  const chest = await crib.open('agent', { id: 'alice' });
  return {
    chest,
    run: (code, input) => chest.call('execute_script', { code, ...(input !== undefined && { input }) }),
    close: () => crib.close(),
  };
}
