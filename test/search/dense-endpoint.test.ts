import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { DenseIndex } from '../../src/core/retriever.ts';
import { createDenseIndex } from '../../src/search/dense/dense-index.ts';
import { type EndpointOptions, endpointEmbedder, memoryVectorCache } from '../../src/search/dense/endpoint-embedder.ts';
import { guardedFetch } from '../../src/system/fetch/guarded-fetch.ts';

interface Asked {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
}

type Answer = (asked: Asked, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A real endpoint; what it answers can be changed. */
async function serveEndpoint(first: Answer = answerWell) {
  const asked: Asked[] = [];
  const endpoint = { url: '', asked, answer: first };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { model, input } = JSON.parse(await text(request)) as { model: string; input: string[] };
    asked.push({ path: request.url, authorization: request.headers.authorization, model, input });
    endpoint.answer(asked.at(-1) ?? expect.unreachable(), response);
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`; // it listens on a port
  return endpoint;
}

/** Keeps its first answer back until it is told to give it. */
async function serveSlowEndpoint() {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  let answerLate: () => void = expect.unreachable;
  const endpoint = await serveEndpoint((asked, response) => {
    answerLate = () => answerWell(asked, response);
    resolve();
  });
  return { endpoint, arrived, answerLate: () => answerLate() };
}

/** A vector by the letters of a text: texts with the same letters are alike. */
function lettersOf(value: string): readonly number[] {
  return Array.from('abcdefghijklmnop', (letter) => value.split(letter).length - 1);
}

function answerWell({ input }: Asked, response: ServerResponse): void {
  const data = input.map((value, index) => ({ index, embedding: lettersOf(value) }));
  response.end(JSON.stringify({ object: 'list', data: data.toReversed() }));
}

function start(url: string, options: Partial<EndpointOptions> = {}) {
  const time = { nowMs: 0, timers: [] as (() => void)[] };
  const clock = {
    now: () => time.nowMs,
    setTimer(_: number, task: () => void) {
      time.timers.push(task);
      return () => undefined;
    },
  };
  const warnings: string[] = [];
  const fetch: EndpointOptions['fetch'] = (address, request) =>
    guardedFetch(address, { ...request, allowPrivate: 'first' });
  const embedder = endpointEmbedder({ url, model: 'letters', fetch, clock, ...options });
  const index = createDenseIndex({ embedder, clock, warn: (message) => warnings.push(message) });
  return { index, warnings, time, embedder };
}

async function idsFor(index: DenseIndex, query: string): Promise<readonly number[] | undefined> {
  const vectors = await index.prepare(query);
  return vectors === undefined ? undefined : index.rank(vectors, 10).map(({ id }) => id);
}

describe('embedding by an endpoint', () => {
  it('sends texts in batches, with model and key, and matches the vectors by their numbers', async () => {
    const endpoint = await serveEndpoint();
    const { index } = start(endpoint.url, { key: () => 'k-123' });
    index.add(
      Array.from({ length: 100 }, (_, id) => ({ id, texts: [`${'abcdefghij'[id % 10]}${'klmnop'.repeat(id)}`] })),
    );
    index.add([{ id: 100, texts: ['aab'] }]);
    expect((await idsFor(index, 'aab.'))?.[0]).toBe(100);
    expect(endpoint.asked.map(({ input }) => input.length)).toEqual([64, 37, 1]);
    expect(
      new Set(endpoint.asked.map(({ path, authorization, model }) => `${path} ${authorization} ${model}`)),
    ).toEqual(new Set(['/v1/embeddings Bearer k-123 letters']));
  });

  it('never requests the same text twice', async () => {
    const endpoint = await serveEndpoint();
    const cache = memoryVectorCache();
    const { index } = start(`${endpoint.url}/`, { cache });
    index.add([0, 1].map((id) => ({ id, texts: ['ab', 'cd'] })));
    await idsFor(index, 'ab');
    await idsFor(index, 'ab');
    const again = start(`${endpoint.url}/`, { cache });
    again.index.add([{ id: 0, texts: ['cd', 'ef'] }]);
    expect(await idsFor(again.index, 'cd')).toEqual([0]);
    expect(endpoint.asked.map(({ input }) => input)).toEqual([['ab', 'cd'], ['ef']]);
  });

  const FAILURES: Readonly<Record<string, Answer>> = {
    'refuses the key': (_, response) => response.writeHead(401).end('{"error":"bad key k-123"}'),
    'is overloaded': (_, response) => response.writeHead(503).end(),
    'sends it elsewhere': (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    'hangs up': (_, response) => response.destroy(),
    'answers with a page': (_, response) => response.end('<html>'),
    'answers null': (_, response) => response.end('null'),
    'answers with too few vectors': (_, response) => response.end('{"data":[]}'),
    'answers with a vector of words': ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ embedding: ['1', '2'] })) })),
    'answers with an empty vector': ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ embedding: [] })) })),
    'answers with a huge number': ({ input }, response) =>
      response.end(`{"data":[${input.map(() => '{"embedding":[1e999,1]}').join()}]}`),
    'gives two vectors one number': ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ index: 0, embedding: [1] })) })),
    'numbers them wildly': ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ index: -1, embedding: [1] })) })),
    'answers with vectors of several lengths': ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map((_, index) => ({ embedding: Array(index + 1).fill(1) })) })),
    'answers with far too much': (_, response) => response.end(`"${'x'.repeat(11_000_000)}"`),
  };

  it.each(Object.entries(FAILURES))(
    'continues with words, and says so once without the key, if it %s',
    async (_, answer) => {
      const endpoint = await serveEndpoint(answer);
      const { index, warnings } = start(endpoint.url, { key: () => 'k-123' });
      index.add([
        { id: 0, texts: ['ab'] },
        { id: 1, texts: ['cd'] },
      ]);
      expect(await index.prepare('ab')).toBeUndefined();
      expect(await index.prepare('ab')).toBeUndefined();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(
        /^Search uses words only, without vectors: 127\.0\.0\.1:\d+ cannot embed with "letters": /,
      );
      expect(warnings[0]).not.toContain('k-123');
    },
  );

  it('the query of its address is sent after the path, and never shown', async () => {
    const endpoint = await serveEndpoint();
    const { index, warnings, embedder } = start(`${endpoint.url}?api-key=k-123`);
    index.add([{ id: 0, texts: ['ab'] }]);
    expect(await idsFor(index, 'ab')).toEqual([0]);
    expect(endpoint.asked[0]?.path).toBe('/v1/embeddings?api-key=k-123');
    endpoint.answer = ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ embedding: [1, 2, 3] })) }));
    await idsFor(index, 'another');
    endpoint.answer = (_, response) => response.writeHead(500).end();
    await idsFor(index, 'yet another');
    expect(warnings.join('\n')).toMatch(/another length/);
    expect(`${warnings.join('\n')} ${embedder.model}`).not.toMatch(/k-123|\.\./);
    expect(start(`${endpoint.url}?api-key=k-124`).embedder.model).not.toBe(embedder.model);
  });

  it('pauses after a failure, then tries again', async () => {
    const endpoint = await serveEndpoint((_, response) => response.writeHead(500).end());
    const { index, warnings, time } = start(endpoint.url);
    index.add([{ id: 0, texts: ['ab'] }]);
    for (let search = 0; search < 5; search++) expect(await idsFor(index, 'ab')).toBeUndefined();
    expect(endpoint.asked).toHaveLength(1);
    endpoint.answer = answerWell;
    time.nowMs = 31_000;
    expect(await idsFor(index, 'ab')).toEqual([0]);
    endpoint.answer = (_, response) => response.writeHead(500).end();
    expect(await idsFor(index, 'another')).toBeUndefined();
    expect(warnings).toHaveLength(2);
  });

  it('a model that changes the length of its vectors is not used', async () => {
    const endpoint = await serveEndpoint();
    const { index, warnings } = start(endpoint.url);
    index.add([{ id: 0, texts: ['ab'] }]);
    expect(await idsFor(index, 'ab')).toEqual([0]);
    endpoint.answer = ({ input }, response) =>
      response.end(JSON.stringify({ data: input.map(() => ({ embedding: [1, 2, 3] })) }));
    expect(await idsFor(index, 'cd')).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/another length than before/)]);
    index.add([{ id: 1, texts: ['ef'] }]);
    expect(await idsFor(index, 'gh')).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it('a search has a limited wait for the vectors of tools', async () => {
    const { endpoint, arrived, answerLate } = await serveSlowEndpoint();
    const { index, time, warnings } = start(endpoint.url);
    index.add([{ id: 0, texts: ['ab'] }]);
    const search = idsFor(index, 'ab.');
    await arrived;
    time.timers.at(-1)?.();
    expect(await search).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/not ready yet/)]);
    endpoint.answer = answerWell;
    answerLate();
    expect(await idsFor(index, 'ab.')).toEqual([0]);
  });

  it('a tool that is removed or replaced while its vector is made is absent, or is the new one', async () => {
    const { endpoint, arrived, answerLate } = await serveSlowEndpoint();
    const { index } = start(endpoint.url);
    index.add([0, 1, 2].map((id) => ({ id, texts: [`${'abc'[id]}`] })));
    const search = idsFor(index, 'a.');
    await arrived;
    index.remove([0]);
    index.add([{ id: 1, texts: ['aaa'] }]);
    endpoint.answer = answerWell;
    answerLate();
    expect(await search).toEqual([1, 2]);
    expect(index.has(0)).toBe(false);
  });

  it('a cache that fails or has invalid data only makes search slower', async () => {
    const endpoint = await serveEndpoint();
    const broken = start(endpoint.url, {
      cache: { get: () => Promise.reject(new Error('gone')), set: () => Promise.reject(new Error('gone')) },
    });
    broken.index.add([{ id: 0, texts: ['ab'] }]);
    expect(await idsFor(broken.index, 'ab')).toEqual([0]);
    const odd = start(endpoint.url, { cache: { get: () => Buffer.from('abc'), set: () => undefined } });
    odd.index.add([{ id: 0, texts: ['ab'] }]);
    expect(await idsFor(odd.index, 'ab')).toEqual([0]);
  });

  it('odd texts are sent as they are, cut where they are enormous', async () => {
    const endpoint = await serveEndpoint();
    const { embedder } = start(endpoint.url);
    await embedder.embed(['', '🎉', '查询', 'x'.repeat(1_000_000)]);
    expect(endpoint.asked[0]?.input.map(({ length }) => length)).toEqual([1, 2, 2, 8192]);
    expect(await embedder.embed([])).toEqual([]);
    expect(endpoint.asked).toHaveLength(1);
  });
});
