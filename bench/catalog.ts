import { createCrib, defineTool, type ToolSpec } from 'toolcrib';
import { median, printTable } from './measure.ts';

/** How long many tools take to be registered and listed, and what they weigh. */
export async function benchCatalog(): Promise<void> {
  const defined = await timed(() => toolsOf(10_000));
  const tools = toolsOf(10_000);
  const listed = await timed(async () => {
    const crib = await createCrib({ tools });
    const chest = await crib.open();
    if (chest.list().length !== 10_000) throw new Error('not all tools are listed');
  });
  const one = await createCrib({ tools: toolsOf(10_000) });
  const registered = await timed(() => {
    if (!one.register(toolOf(10_001)).ok) throw new Error('not registered');
    if (one.catalog.specs.length !== 10_001) throw new Error('not in the catalog');
    one.unregister('tool_10001');
  });
  const bytes = await weigh(async () => createCrib({ tools: toolsOf(100_000) }));
  printTable('Many tools, CPU time of the thread', [
    ['10,000 tools defined', `${defined.toFixed(1)} ms`],
    ['those registered and listed', `${listed.toFixed(1)} ms`],
    ['one tool more, seen in the catalog of 10,000', `${registered.toFixed(2)} ms`],
    ['100,000 specs in a crib', `${(bytes / 1e6).toFixed(0)} MB`],
  ]);
}

function toolsOf(count: number): readonly ToolSpec[] {
  return Array.from({ length: count }, (_, index) => toolOf(index));
}

function toolOf(index: number): ToolSpec {
  return defineTool({
    name: `tool_${index}`,
    description: `Does the thing number ${index} and says how it went`,
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: `Where ${index} is` },
        depth: { type: 'integer', minimum: 0 },
        force: { type: 'boolean' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    tags: ['bench', `group_${index % 100}`],
    run: () => index,
  });
}

const ROUNDS = 15;

/** Median CPU time of this thread in milliseconds. */
async function timed(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1000);
  }
  return median(times);
}

async function weigh(make: () => Promise<unknown>): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const kept = await make();
  globalThis.gc();
  const after = process.memoryUsage().heapUsed;
  return kept === undefined ? 0 : after - before;
}
