import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Chest, createCrib, type ToolResult, textOf } from '../../src/index.ts';
import { unhandledDuring, wrong } from './wrong.ts';

const CODES = [
  'unknown_tool',
  'invalid_input',
  'invalid_output',
  'unauthenticated',
  'denied',
  'conflict',
  'rate_limited',
  'timeout',
  'cancelled',
  'unavailable',
  'upstream',
  'tool_error',
  'too_large',
  'unknown_outcome',
  'internal',
];

async function open(): Promise<Chest> {
  const echo = (input: unknown) => input;
  const crib = await createCrib({
    tools: [
      { name: 'echo', description: '', run: echo },
      {
        name: 'strict',
        description: '',
        input: { type: 'object', properties: { a: { type: 'string', default: 'x' } }, additionalProperties: false },
        run: echo,
      },
      {
        name: 'careful',
        description: '',
        policy: { approval: 'always', rates: [{ scope: 'caller', amount: 1000, perMs: 1 }] },
        run: echo,
      },
    ],
  });
  return crib.open(undefined, { approve: () => true });
}

/** Everything a call must be able to rely on. */
function expectResult(result: ToolResult): void {
  if (result.status === 'done') expect(result).toMatchObject({ ok: true, content: expect.any(Array) });
  else
    expect(result).toMatchObject({
      ok: false,
      status: 'failed',
      error: { code: expect.any(String), message: expect.any(String), retryable: expect.any(Boolean) },
    });
  if (result.status === 'failed') expect(CODES).toContain(result.error.code);
  expect(typeof textOf(result)).toBe('string');
  expect(() => JSON.stringify(result)).not.toThrow();
}

const everything = {
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withTypedArray: true,
  withSparseArray: true,
  withBoxedValues: true,
  withUnicodeString: true,
} as const;
const anything = fc.oneof(
  fc.anything(everything),
  fc.constantFrom<unknown>(Symbol('x'), () => 1, 5n, Number.NaN, new Proxy({}, {}), Object.create(null)),
);
const names = fc.oneof(fc.constantFrom<unknown>('echo', 'strict', 'careful', 'constructor', '__proto__'), anything);
const optionKeys = [
  'signal',
  'timeoutMs',
  'retries',
  'conversation',
  'turn',
  'timeZone',
  'id',
  'door',
  'answers',
  'onProgress',
] as const;
const options = fc.oneof(
  anything,
  fc.record(
    Object.fromEntries(optionKeys.map((key) => [key, anything])) as Record<
      (typeof optionKeys)[number],
      fc.Arbitrary<unknown>
    >,
    { requiredKeys: [] },
  ), // one arbitrary per key
);

describe('chest.call(anything, anything, anything)', () => {
  it('always resolves to a ToolResult, never rejects and never throws', async () => {
    const chest = await open();
    const unhandled = await unhandledDuring(() =>
      fc.assert(
        fc.asyncProperty(names, anything, options, async (name, input, given) => {
          expectResult(await chest.call(wrong(name), input, wrong(given)));
        }),
        { numRuns: 1000 },
      ),
    );
    expect(unhandled).toEqual([]);
  });
});

describe('chest.callAll(a list of anything)', () => {
  it('always resolves to one answer for each entry', async () => {
    const chest = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(anything, fc.record({ id: anything, name: names, input: anything })), { maxLength: 8 }),
        async (calls) => {
          const answers = await chest.callAll(wrong(calls));
          expect(answers).toHaveLength(calls.length);
          for (const { id, name, result } of answers) {
            expect([typeof id, typeof name]).toEqual(['string', 'string']);
            expectResult(result);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('wrong values from a gate, an executor or a tool', () => {
  it('a gate may return anything: the answer is still a ToolResult', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const crib = await createCrib({
          tools: [{ name: 'echo', description: '', run: () => 1 }],
          extensions: [{ name: 'gate', priority: 500, wrap: () => wrong(value) }],
        });
        expectResult(await (await crib.open()).call('echo'));
      }),
      { numRuns: 100 },
    );
  });

  it('an approver may answer anything: the tool runs only after a yes', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (answer) => {
        let ran = false;
        const run = () => {
          ran = true;
        };
        const crib = await createCrib({
          tools: [{ name: 'pay', description: '', policy: { approval: 'always' }, run }],
        });
        expectResult(await (await crib.open(undefined, { approve: () => wrong(answer) })).call('pay'));
        const isYes =
          answer === true ||
          (typeof answer === 'object' && answer !== null && 'approved' in answer && answer.approved === true);
        expect(ran).toBe(isYes);
      }),
      { numRuns: 200 },
    );
  });
});

describe('createCrib(anything)', () => {
  it('creates a crib or rejects with an error in words', async () => {
    const keys = [
      'tools',
      'bundles',
      'profiles',
      'defaultProfile',
      'sources',
      'extensions',
      'executors',
      'services',
      'options',
      'retriever',
    ];
    const given = fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom(...keys), fc.oneof(anything, fc.array(anything, { maxLength: 3 }))),
    );
    await fc.assert(
      fc.asyncProperty(given, async (value) => {
        const outcome = await createCrib(wrong(value)).then(
          () => 'made',
          (error: unknown) => (error as Error).name,
        );
        expect(['made', 'ToolcribError']).toContain(outcome);
      }),
      { numRuns: 500 },
    );
  });
});
