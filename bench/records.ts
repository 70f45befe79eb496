import { createCrib, logging, metrics, trace } from 'toolcrib';
import { compare, printTable } from './measure.ts';

const input = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
} as const;
const tools = [
  { name: 'add', description: 'Add two numbers', input, run: ({ a, b }: { a: number; b: number }) => a + b },
];

/** What it costs to record a call: the same one with nothing on record, and with each record. */
export async function benchRecords(): Promise<void> {
  process.env.TOOLCRIB_BENCH_SECRET = 'a secret of the bench';
  const bare = { extensions: [metrics({ prometheus: false }), trace({ otel: false })] };
  const contenders = [
    { name: 'nothing on record', note: 'validation, timeout, retry', options: bare },
    { name: 'as it comes', note: 'metrics; traces where there is a provider, which there is not; no log', options: {} },
    {
      name: 'and a secret to keep out of errors',
      options: { secrets: { bench: { env: 'TOOLCRIB_BENCH_SECRET' } }, store: { url: 'memory:' }, watch: false },
    },
    { name: 'and a log of failures', note: 'level warn', options: { extensions: [logging({ level: 'warn' })] } },
    {
      name: 'and a log of every call',
      note: 'level info, to nowhere',
      options: { extensions: [logging({ level: 'info', sink: () => {} })] },
    },
    { name: 'and spans that nobody collects', note: 'otel: true', options: { extensions: [trace({ otel: true })] } },
  ];
  const cribs = await Promise.all(contenders.map(({ options }) => createCrib({ tools, ...options })));
  for (const crib of cribs) crib.extensions.remove('audit'); // measured with the store
  const chests = await Promise.all(cribs.map((crib) => crib.open(undefined, { id: 'alice' })));
  const timings = await compare(
    contenders.map(({ name, note = '' }, index) => ({
      name,
      note,
      run: () => chests[index]?.call('add', { a: 1, b: 2 }),
    })),
  );
  printTable('What recording a call costs, median', [
    ['', 'us', ''],
    ...timings.map(({ name, microseconds, note }) => [name, microseconds.toFixed(2), note]),
  ]);
  for (const crib of cribs) await crib.close();
}
