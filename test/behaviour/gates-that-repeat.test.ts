import { describe, expect, it } from 'vitest';
import {
  createCrib,
  defineTool,
  type Effects,
  type Extension,
  type Next,
  type ToolCall,
  type ToolResult,
} from '../../src/index.ts';
import { startServer } from '../sources/http-server.ts';

/** Ways in which a gate goes on more than once; each answers with all results. */
const WAYS: readonly (readonly [string, (call: ToolCall, next: Next) => Promise<readonly ToolResult[]>])[] = [
  ['one after the other', async (call, next) => [await next(call), await next(call)]],
  ['at once', (call, next) => Promise.all([next(call), next(call), next(call)])],
  ['without naming the call', async (_, next) => [await next(), await next()]],
  ['with a copy of the call', async (call, next) => [await next(call.with({ a: 1 })), await next(call.with({ a: 2 }))]],
];

/** Places of a gate: among the owner's, inside retries, and outside of all guards. */
const PLACES = [
  ['a gate', { priority: 'normal' }],
  ['a gate inside the retries', { priority: 170, unsafeOrder: true }],
  ['a gate outside of the guards', { priority: 990, unsafeOrder: true }],
] as const;

const ONCE: readonly Effects[] = [
  {},
  { destructive: true },
  { idempotent: false },
  { readOnly: false },
  { idempotent: false, readOnly: false },
  { openWorld: true, destructive: false },
];
const REPEATED: readonly Effects[] = [{ idempotent: true }, { readOnly: true }];

const ENDS: readonly (readonly [string, () => unknown])[] = [
  ['answers', () => 'done'],
  ['answers later', async () => 'done'],
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
];

/** Calls a tool of these effects through a gate that goes on as it likes. */
async function through(effects: Effects, extensions: readonly Extension[], work: () => unknown = () => 'done') {
  let runs = 0;
  const run = () => {
    runs++;
    return work() as string; // whatever it is
  };
  const policy = { approval: 'never' } as const;
  const crib = await createCrib({
    tools: [defineTool({ name: 'pay', description: '', input: { type: 'object' }, effects, policy, run })],
    extensions,
  });
  const result = await (await crib.open()).call('pay');
  await crib.close();
  return { result, runs };
}

/** A gate, and what it was answered. */
function repeating(way: (typeof WAYS)[number][1], place: object = {}) {
  const heard: ToolResult[] = [];
  const wrap: NonNullable<Extension['wrap']> = async (call, next) => {
    const results = await way(call, next);
    heard.push(...results);
    return results[0] as ToolResult; // each way goes on at least once
  };
  const extension: Extension = { name: 'repeats', priority: 'normal', ...place, wrap };
  return { extension, heard };
}

const TABLE = PLACES.flatMap(([where, place]) => WAYS.map(([how, way]) => [where, how, place, way] as const));

describe('a tool that is neither idempotent nor read-only runs once per call, and the gate gets an error', () => {
  it.each(TABLE)('if %s calls next %s', async (_where, _how, place, way) => {
    for (const effects of ONCE)
      for (const [, work] of ENDS) {
        const { extension, heard } = repeating(way, place);
        const { runs } = await through(effects, [extension], work);
        expect(runs, JSON.stringify(effects)).toBe(1);
        expect(heard.length).toBeGreaterThan(1);
        for (const result of heard.slice(1))
          expect(result).toMatchObject({
            ok: false,
            error: {
              code: 'conflict',
              retryable: false,
              message: '"pay" has already run and cannot run again: it is neither idempotent nor read-only.',
            },
          });
      }
  });

  it('if two gates call next twice each', async () => {
    const [outer, inner] = WAYS.map(([, way]) => repeating(way).extension);
    const extensions = [
      { ...outer, name: 'outer', priority: 600 },
      { ...inner, name: 'inner', priority: 500 },
    ] as Extension[]; // both are there
    expect(await through({}, extensions)).toMatchObject({ runs: 1, result: { ok: true } });
  });

  it('also if its executor itself says when it begins', async () => {
    const server = await startServer((_, response) => void response.end('paid'));
    const run = { kind: 'http', method: 'POST', url: `http://${server.host}/` };
    for (const [, way] of WAYS) {
      const { extension, heard } = repeating(way);
      const crib = await createCrib({
        tools: [{ name: 'pay', description: '', policy: { approval: 'never' }, run } as never], // a spec with a run of its own
        extensions: [extension],
        config: { executors: { http: { allowPrivate: ['127.0.0.1'] } } },
      });
      const before = server.requests.length;
      expect(await (await crib.open()).call('pay')).toMatchObject({ ok: true });
      expect(server.requests.length - before).toBe(1);
      expect(heard.slice(1).every(({ ok }) => !ok)).toBe(true);
      await crib.close();
    }
  });
});

describe('a tool that may be repeated runs each time a gate calls next', () => {
  it.each(TABLE)('if %s calls next %s', async (_where, _how, place, way) => {
    for (const effects of REPEATED) {
      const { extension, heard } = repeating(way, place);
      const { runs } = await through(effects, [extension]);
      expect(runs).toBe(heard.length);
      expect(heard.every(({ ok }) => ok)).toBe(true);
    }
  });
});
