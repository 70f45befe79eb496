import { expect, it, onTestFinished } from 'vitest';
import { createCrib, defineTool, type ToolResult } from '../../../src/index.ts';

const OBJECT = { type: 'object' } as const;

/** A crib whose tools note what they were called with. */
async function open(store = 'memory') {
  const made: string[] = [];
  const note = (name: string, effects: object) =>
    defineTool({
      name,
      description: `Notes ${name}`,
      input: OBJECT,
      effects,
      run: (input: unknown) => {
        made.push(`${name} ${JSON.stringify(input)}`);
        return { name, input: input as object };
      },
    });
  const tools = [note('read', { readOnly: true }), note('write', { destructive: true }), note('send', {})];
  const crib = await createCrib({ tools, store, profiles: { agent: { expose: 'script' } } });
  onTestFinished(() => crib.close());
  const chest = await crib.open('agent', { id: 'alice' });
  const run = (code: string, more: object = {}) => chest.call('execute_script', { code }, { park: true, ...more });
  return { crib, chest, made, run };
}

const OPERATOR = { id: 'boss', operator: true } as const;

function waitingOf(result: ToolResult) {
  if (result.status !== 'waiting') throw new Error(`not waiting: ${JSON.stringify(result)}`);
  return result.waiting;
}

function dataOf(result: ToolResult | undefined): unknown {
  if (result?.ok !== true) throw new Error(`failed: ${JSON.stringify(result)}`);
  return result.data;
}

const CODE = `
  const begun = [Date.now(), Math.random()];
  const read = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.read({ n })));
  console.log('read', read.length);
  const found = await search('notes');
  const written = await tools.write({ sum: read.length, begun });
  await tools.send({ to: 'all' });
  return { written: written.input, found: found.length, begun };`;

it('a script that waits for approval goes on after it, and makes each call once', async () => {
  const { crib, made, run } = await open();
  const lines: unknown[] = [];
  const { id, callId = '' } = waitingOf(await run(CODE, { onProgress: (line: unknown) => lines.push(line) }));
  expect(made).toEqual([1, 2, 3, 4, 5].map((n) => `read {"n":${n}}`));
  expect(await crib.approvals.list({ state: 'waiting' })).toMatchObject([
    { id, tool: 'write', inside: ['execute_script'] },
  ]);
  expect(await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR)).toMatchObject({ ok: true });
  const result = await crib.tasks.wait(callId);
  expect(result).toMatchObject({ ok: true, data: { found: 3 } });
  const { written, begun } = dataOf(result) as { written: { begun: unknown }; begun: unknown };
  expect(written.begun).toEqual(begun);
  expect(made).toHaveLength(7);
  expect(made.at(-1)).toBe('send {"to":"all"}');
  expect(lines).toEqual(['read 5']);
});
