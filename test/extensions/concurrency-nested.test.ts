import { describe, expect, it } from 'vitest';
import {
  concurrency,
  createCrib,
  type Slots,
  type ToolCall,
  type ToolInput,
  type ToolResult,
} from '../../src/index.ts';

const settled = () => new Promise(setImmediate);
const ONE_OF_TOOL = [{ scope: 'tool', amount: 1 }] as const;

describe('concurrency: nested calls', () => {
  const nesting = (
    name: string,
    inner: string,
    slots: readonly Slots[],
    wait: Promise<void> = Promise.resolve(),
  ): ToolInput => ({
    name,
    description: '',
    policy: { concurrency: slots },
    run: async (_: unknown, call: ToolCall) => {
      await wait;
      return call.tools.call(inner, {});
    },
  });

  it('a nested call that would wait for itself is refused', async () => {
    const chest = await (await createCrib({ tools: [nesting('a', 'a', ONE_OF_TOOL)] })).open();
    expect(await chest.call('a')).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('holds the slot') },
    });
  });

  it('a nested call that would wait for a call further out is refused', async () => {
    const tools = [nesting('a', 'b', ONE_OF_TOOL), nesting('b', 'a', ONE_OF_TOOL)];
    expect(await (await (await createCrib({ tools })).open()).call('a')).toMatchObject({
      error: { code: 'unavailable' },
    });
  });

  it('a nested call that finds a slot runs', async () => {
    const tools = [nesting('a', 'b', ONE_OF_TOOL), { name: 'b', description: '', run: () => 'inside' }];
    const extensions = [concurrency({ slots: [{ scope: 'all', amount: 2 }] })];
    expect(await (await (await createCrib({ tools, extensions })).open()).call('a')).toMatchObject({
      content: [{ text: 'inside' }],
    });
  });

  it('a nested call does not queue behind a call that waits for its outer call', async () => {
    const waitingToo = Promise.withResolvers<void>();
    const tools = [
      nesting('a', 'b', ONE_OF_TOOL, waitingToo.promise),
      { name: 'b', description: '', run: () => 'inside' },
    ];
    const extensions = [concurrency({ slots: [{ scope: 'all', amount: 2 }] })];
    const chest = await (await createCrib({ tools, extensions })).open();
    const answers: ToolResult[] = [];
    chest.call('a').then((result) => answers.push(result));
    chest.call('a').then((result) => answers.push(result));
    await settled();
    waitingToo.resolve();
    await settled();
    await settled();
    expect(answers).toHaveLength(2);
  });
});
