import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib } from '../src/index.ts';
import { type FilesOptions, files } from '../src/sources/files.ts';
import { openStore } from '../src/store/open-store.ts';
import { median, printTable } from './measure.ts';

const COUNT = 100_000;
const ROUNDS = 15;
const EDITS = 25;

/** How long many specs in one file take to be read, beside parsing the same file; and an edit to be seen. */
export async function benchSpecs(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  try {
    const path = join(folder, 'tools.ndjson');
    writeFileSync(path, Array.from({ length: COUNT }, (_, index) => `${JSON.stringify(specOf(index))}\n`).join(''));
    const options = { name: 'bench', path };
    // A crib keeps its own: it has looked at every spec.
    const [url, cribUrl] = [`sqlite:${join(folder, 'source.db')}`, `sqlite:${join(folder, 'crib.db')}`];
    await withIndexes(url, (indexes) => list({ ...options, indexes })); // writes the index
    await withIndexes(cribUrl, (indexes) => listInCrib({ ...options, indexes }));
    const [parsed = 0, listed = 0, crib = 0, indexed = 0, indexedCrib = 0] = await compareInTurns([
      async () => parse(path),
      () => list(options),
      () => listInCrib(options),
      () => withIndexes(url, (indexes) => list({ ...options, indexes })),
      () => withIndexes(cribUrl, (indexes) => listInCrib({ ...options, indexes })),
    ]);
    const edit = await timeEdits(folder);
    const figures = (ms: number) => [`${ms.toFixed(0)} ms`, `${(ms / parsed).toFixed(2)} x`];
    printTable(`${COUNT.toLocaleString('en')} specs in one NDJSON file`, [
      ['JSON.parse of every line', `${parsed.toFixed(0)} ms`, ''],
      ['specs, checked and frozen', ...figures(listed)],
      ['a crib over them', ...figures(crib)],
      ['specs by the index in the store, which is opened for it', ...figures(indexed)],
      ['a crib over them', ...figures(indexedCrib)],
      ['an edit of a small file, until it is in the catalog', `${edit.toFixed(0)} ms`, ''],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parse(path: string): number {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line)).length;
}

async function withIndexes(
  url: string,
  work: (indexes: NonNullable<FilesOptions['indexes']>) => Promise<number>,
): Promise<number> {
  const store = await openStore({ url, env: {} });
  const count = await work(store.indexes);
  await store.close();
  return count;
}

async function list(options: FilesOptions): Promise<number> {
  const live = await files(options).start({
    clock: { now: () => 0, setTimer: () => () => {} },
    services: {},
    signal: new AbortController().signal,
    warn(message) {
      throw new Error(message);
    },
  });
  const count = live.specs().length;
  await live.close();
  return count;
}

async function listInCrib(options: FilesOptions): Promise<number> {
  const crib = await createCrib({ sources: [files(options)] });
  const count = crib.catalog.specs.length;
  await crib.close();
  return count;
}

/** Rounds take turns, so that a noisy moment hits all alike. */
async function compareInTurns(contenders: readonly (() => Promise<number>)[]): Promise<readonly number[]> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  const times: number[][] = contenders.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, run] of contenders.entries()) {
      globalThis.gc();
      const begin = performance.now();
      const count = await run();
      times[index]?.push(performance.now() - begin);
      if (count !== COUNT) throw new Error(`${count} specs`);
    }
  }
  return times.map(median);
}

async function timeEdits(folder: string): Promise<number> {
  const path = join(folder, 'small.yaml');
  const write = (name: string) =>
    writeFileSync(path, `tools:\n- { name: ${name}, run: { kind: http, url: https://example.com } }\n`);
  write('first');
  const crib = await createCrib({ sources: [files({ name: 'edited', path })] });
  const alive = setInterval(() => {}, 1000); // watching keeps no process alive
  const times: number[] = [];
  for (let round = 0; round < EDITS; round++) {
    const seen = Promise.withResolvers<unknown>();
    const stop = crib.onChange(seen.resolve);
    write(`edit_${round}`);
    const begin = performance.now();
    await seen.promise;
    times.push(performance.now() - begin);
    stop();
  }
  clearInterval(alive);
  await crib.close();
  return median(times);
}

function specOf(index: number): object {
  return {
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
    run: { kind: 'http', method: 'GET', url: `https://api.example.com/things/${index}/{path}` },
    effects: { readOnly: index % 2 === 0 },
    policy: { timeoutMs: 1000 * (1 + (index % 10)) },
    tags: ['bench', `group_${index % 100}`],
  };
}
