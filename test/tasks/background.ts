import { onTestFinished } from 'vitest';
import { type Chest, type Crib, type CribOptions, createCrib, defineTool, type ToolResult } from '../../src/index.ts';

/** A crib in memory with tools to call in the background, closed after the test. */
export async function openBackground(options: CribOptions = {}) {
  const counted = { add: 0, pay: 0 };
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tools = [
    defineTool({
      name: 'add',
      description: 'Add two numbers',
      input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      effects: { readOnly: true },
      run: async ({ a, b }) => {
        counted.add++;
        return Number(a) + Number(b);
      },
    }),
    defineTool({
      name: 'pay',
      description: 'Pay an invoice',
      input: { type: 'object', properties: { amount: { type: 'number' } } },
      effects: { destructive: true },
      run: async ({ amount }) => {
        counted.pay++;
        return `paid ${amount}`;
      },
    }),
    defineTool({
      name: 'slow',
      description: 'Wait for the gate',
      input: {},
      run: async (_, call) => {
        call.report({ percent: 50 });
        begun.resolve();
        await Promise.race([gate.promise, new Promise((resolve) => call.signal.addEventListener('abort', resolve))]);
        return 'slow';
      },
    }),
  ];
  const crib = await createCrib({ store: 'memory', tools, ...options });
  onTestFinished(() => {
    gate.resolve();
    return crib.close();
  });
  return { crib, chest: await crib.open(undefined, { id: 'ann' }), counted, gate, begun };
}

/** The id of a submitted task. */
export function idOf(result: ToolResult): string {
  if (result.status !== 'waiting' || result.waiting.for !== 'task')
    throw new Error(`not a task: ${JSON.stringify(result)}`);
  return result.waiting.id;
}

/** Submits a call and waits for its result. */
export async function inBackground(
  { crib, chest }: { readonly crib: Crib; readonly chest: Chest },
  ...submitted: Parameters<Chest['submit']>
): Promise<ToolResult | undefined> {
  return crib.tasks.wait(idOf(await chest.submit(...submitted)));
}
