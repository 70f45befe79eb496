import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import {
  type Crib,
  type CribOptions,
  createCrib,
  defineTool,
  type Effects,
  type Extension,
  failed,
  type ToolCall,
  type ToolResult,
  toolError,
} from '../../src/index.ts';

type Wrap = NonNullable<Extension['wrap']>;

const REFUSED = failed(toolError('denied', 'no'));

/** Gates that answer while what is further in still waits. */
const EARLY: readonly (readonly [string, Wrap])[] = [
  [
    'throws',
    (call, next) => {
      void next(call);
      throw new Error('broken');
    },
  ],
  [
    'answers itself',
    (call, next) => {
      void next(call);
      return REFUSED;
    },
  ],
  ['stops waiting', (call, next) => Promise.race([next(call), Promise.resolve(REFUSED)])],
];
const PLACES = [{ priority: 'normal' }, { priority: 990, unsafeOrder: true }] as const;
const EFFECTS: readonly Effects[] = [{}, { readOnly: true }];
const TABLE = EARLY.flatMap(([how, wrap]) =>
  PLACES.flatMap((place) => EFFECTS.map((effects) => [how, place.priority, effects, { ...place, wrap }] as const)),
);

async function cribWith(options: CribOptions): Promise<Crib> {
  const crib = await createCrib(options);
  onTestFinished(() => crib.close());
  return crib;
}

it.each(TABLE)('the tool of a call does not begin after a gate that %s (%s) has answered it: %j', async (...row) => {
  const [, , effects, parts] = row;
  const goOn = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<ToolResult>();
  const outer: Extension = { name: 'outer', ...parts };
  const inner: Extension = {
    name: 'inner',
    priority: 310,
    wrap: async (call, next) => {
      await goOn.promise;
      const result = await next(call);
      inside.resolve(result);
      return result;
    },
  };
  let runs = 0;
  const run = () => `${++runs}`;
  const tools = [defineTool({ name: 'pay', description: 'Pays', input: { type: 'object' }, effects, run })];
  const crib = await cribWith({ tools, extensions: [outer, inner] });
  expect(await (await crib.open()).call('pay', {})).toMatchObject({ status: 'failed' });
  goOn.resolve();
  expect(await inside.promise).toMatchObject({ error: { code: 'cancelled' } });
  expect(runs).toBe(0);
  expect(crib.server.running.list()).toEqual([]);
});

/** A tool that goes on after its call, and one that waits until it is cancelled. */
async function leaving(leave: (call: ToolCall) => unknown) {
  const { promise: left, resolve } = Promise.withResolvers<unknown>();
  const later = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<AbortSignal>();
  const leaves = defineTool({
    name: 'leaves',
    description: 'Leaves work behind',
    input: { type: 'object' },
    run: (_input, call) => {
      void later.promise.then(() => resolve(leave(call)));
      return 'done';
    },
  });
  const wait = defineTool({
    name: 'wait',
    description: 'Waits',
    input: { type: 'object' },
    run: (_input, { signal }) => {
      waits.resolve(signal);
      return once(signal, 'abort').then(() => 'ended');
    },
  });
  const add = defineTool({ name: 'add', description: 'Adds', input: { type: 'object' }, run: async () => '3' });
  const crib = await cribWith({ tools: [leaves, wait, add] });
  expect(await (await crib.open()).call('leaves', {})).toMatchObject({ status: 'done' });
  later.resolve();
  return { crib, left, waits: waits.promise };
}

it.each<readonly [string, (call: ToolCall) => unknown]>([
  ['reads its signal', (call) => call.signal],
  ['calls another tool', (call) => call.tools.call('add', {})],
])('a tool that %s after its call is not listed as running, and its call is forgotten', async (_what, leave) => {
  const { crib, left } = await leaving(leave);
  await left;
  expect(crib.server.running.list()).toEqual([]);
});

it('a call that a tool leaves behind is listed until it ends, and can be cancelled', async () => {
  const { crib, left, waits } = await leaving((call) => call.tools.call('wait', {}));
  const signal = await waits;
  expect(crib.server.running.list().map(({ tool }) => tool)).toContain('wait');
  crib.server.running.cancel(({ tool }) => tool === 'wait', 'the operator');
  expect(signal.aborted).toBe(true);
  await left;
  expect(crib.server.running.list()).toEqual([]);
});

it('a call that a tool makes and does not wait for is listed until it ends, and can be cancelled', async () => {
  const { promise: waits, resolve } = Promise.withResolvers<AbortSignal>();
  const wait = defineTool({
    name: 'wait',
    description: 'Waits',
    input: { type: 'object' },
    run: (_input, { signal }) => {
      resolve(signal);
      return once(signal, 'abort').then(() => 'ended');
    },
  });
  const leaves = defineTool({
    name: 'leaves',
    description: 'Does not wait',
    input: { type: 'object' },
    run: async (_input, call) => {
      void call.tools.call('wait', {});
      await waits;
      return 'done';
    },
  });
  const crib = await cribWith({ tools: [leaves, wait] });
  expect(await (await crib.open()).call('leaves', {})).toMatchObject({ status: 'done' });
  expect(crib.server.running.list().map(({ tool }) => tool)).toContain('wait');
  crib.server.running.cancel(({ tool }) => tool === 'wait', 'the operator');
  expect((await waits).aborted).toBe(true);
  await expect.poll(() => crib.server.running.list()).toEqual([]);
});
