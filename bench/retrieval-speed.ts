import { createRetriever } from '../src/retrieval/create-retriever.ts';
import { printTable } from './measure.ts';
import { readSet, setsOf, spread, type ToolRow, toSpecs } from './retrieval-data.ts';
import { loadDense } from './retrieval-dense.ts';
import { type Method, methods } from './retrieval-methods.ts';

/** Other sizes may be named behind `speed`: peers need minutes for the largest. */
const SIZES = (process.argv[3] ?? '1000,10000,100000').split(',').map(Number);
const COMPARED = new Set(['ours', 'lexical only', 'ours (lexical only: no vectors here)', 'MiniSearch', 'Orama']);
const REQUESTS = 200;
/** Peers need many milliseconds a request in a large catalogue. */
const REQUESTS_OF_PEERS = 40;

/** How long 25-word requests take beside other libraries, and what the index costs. */
export async function benchRetrievalSpeed(): Promise<void> {
  const corpus = readCorpus();
  const requests = longRequests();
  const rows: string[][] = [['tools', 'method', 'p50 ms', 'p95 ms', 'build s', 'MB']];
  for (const size of SIZES) {
    const tools = toolsOf(corpus, size);
    for (const method of await methods()) {
      if (COMPARED.has(method.name))
        rows.push([String(size), method.name, ...(await measure(method, tools, requests))]);
    }
  }
  printTable('Speed, requests of 20 to 30 words', rows);
  await benchUpkeep(corpus);
}

async function measure(method: Method, tools: readonly ToolRow[], requests: readonly string[]): Promise<string[]> {
  globalThis.gc?.();
  const before = usedBytes();
  const startedAt = performance.now();
  const rank = await method.build(tools);
  const builtMs = performance.now() - startedAt;
  globalThis.gc?.();
  const bytes = usedBytes() - before;
  const isOurs = /ours|only/.test(method.name);
  const asked = spread(requests, isOurs ? REQUESTS : REQUESTS_OF_PEERS);
  for (const request of asked) await rank(request);
  const times: number[] = [];
  for (const request of asked) {
    const from = performance.now();
    await rank(request);
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(3);
  return [at(0.5), at(0.95), (builtMs / 1000).toFixed(2), (bytes / 1e6).toFixed(0)];
}

function usedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** What one more tool costs, and a start from what was kept. */
async function benchUpkeep(corpus: readonly ToolRow[]): Promise<void> {
  const dense = loadDense();
  const settings = dense === undefined ? {} : { dense };
  const rows: string[][] = [
    ['tools', 'one added, ms', 'one removed, ms', 'snapshot MB', 'start from it and first answer, ms'],
  ];
  for (const size of SIZES) {
    const specs = toSpecs(toolsOf(corpus, size + 50));
    const retriever = createRetriever(settings);
    retriever.add(specs.slice(0, size));
    const added = specs.slice(size);
    const from = performance.now();
    for (const spec of added) retriever.add([spec]);
    const between = performance.now();
    for (const spec of added) retriever.remove([spec.name]);
    const until = performance.now();
    const snapshot = retriever.snapshot();
    const startedAt = performance.now();
    const again = createRetriever({ ...settings, snapshot });
    again.add(specs.slice(0, size));
    await again.rank('send a message to a channel', { limit: 5 });
    const startMs = performance.now() - startedAt;
    const perTool = (ms: number) => (ms / added.length).toFixed(3);
    rows.push([
      String(size),
      perTool(between - from),
      perTool(until - between),
      (snapshot.byteLength / 1e6).toFixed(1),
      startMs.toFixed(1),
    ]);
  }
  printTable('Upkeep', rows);
}

function readCorpus(): readonly ToolRow[] {
  const sets = [
    ...setsOf('train').map((name) => readSet('train', name)),
    ...setsOf('dev').map((name) => readSet('dev', name)),
  ];
  // Weak pairs are no tools as people write them.
  const rows = sets.filter(({ name }) => !/^(openapi|tldr|clinc)/.test(name)).flatMap(({ tools }) => tools);
  return rows
    .map((row, index) => ({ row, key: Math.imul(index, 0x9e3779b1) >>> 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
}

/** So many tools out of the corpus; where it is too small, again with other names and words of their own. */
function toolsOf(corpus: readonly ToolRow[], count: number): readonly ToolRow[] {
  return Array.from({ length: count }, (_, index) => {
    const row = corpus[index % corpus.length] as ToolRow; // within the corpus
    const round = Math.floor(index / corpus.length);
    const name = `${row.name}_${index}`;
    if (round === 0) return { ...row, id: name };
    return { ...row, id: name, name, description: `${row.description} Region${index % 997} edition${round}.` };
  });
}

function longRequests(): readonly string[] {
  const requests = setsOf('dev').flatMap((name) => readSet('dev', name).requests);
  const long = requests
    .map(({ query }) => query)
    .filter((query) => {
      const words = query.split(/\s+/).length;
      return words >= 20 && words <= 30;
    });
  return spread(long, REQUESTS);
}
