import { describe, expect, it } from 'vitest';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

const options = { limit: 5, minScore: 0 };

function officeSnapshot(): Uint8Array {
  const retriever = createRetriever();
  retriever.add(OFFICE);
  return retriever.snapshot();
}

describe('an index that was kept', () => {
  it('answers like the one it was made of, and the same tools are not indexed again', async () => {
    const before = createRetriever();
    before.add(OFFICE);
    const after = createRetriever({ snapshot: before.snapshot() });
    after.add(OFFICE);
    expect(after.changes).toBe(0);
    for (const query of ['read a file', 'calendar of today', 'send_mail', 'curency'])
      expect(await after.rank(query, options)).toEqual(await before.rank(query, options));
  });

  it('only what differs is indexed', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add([...OFFICE.slice(2), specOf('read_file', 'Recite a poem'), specOf('plant_tree', 'Plant an oak')]);
    expect(await retriever.rank('write text to the workspace', options)).toEqual([]);
    expect(namesOf(await retriever.rank('recite poem', options))[0]).toBe('read_file');
    expect(namesOf(await retriever.rank('oak', options))).toEqual(['plant_tree']);
    // read_file replaced, plant_tree new, write_file gone.
    expect(retriever.changes).toBe(4);
  });

  it('a tool of the snapshot that nobody adds is never returned, named or not', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add(OFFICE.slice(0, 1));
    expect(namesOf(await retriever.rank('send_mail: send an email', options))).toEqual([]);
    await expect(createRetriever({ snapshot: officeSnapshot() }).rank('send an email', options)).resolves.toEqual([]);
  });

  it.each([
    ['bytes', (length: number) => new Uint8Array(length)],
    ['a Buffer, whose slices share its memory', (length: number) => Buffer.alloc(length)],
  ])('what came out of a pool, not aligned, is read as well: %s', async (_, pool) => {
    const bytes = officeSnapshot();
    const shifted = pool(bytes.length + 3).subarray(3);
    shifted.set(bytes);
    const retriever = createRetriever({ snapshot: shifted });
    retriever.add(OFFICE);
    expect(retriever.changes).toBe(0);
    expect(namesOf(await retriever.rank('read a file', options))[0]).toBe('read_file');
  });

  it.each([
    ['description', { description: 'Read a file of the workspacf' }],
    ['title', { title: 'Reader' }],
    ['source', { source: 'tess' }],
    ['category', { category: 'files' }],
    ['tags', { tags: ['file'] }],
    ['examples', { examples: [{ request: 'open it' }] }],
    ['name of a parameter', { input: { type: 'object', properties: { place: { description: 'Where' } } } }],
    ['text of a parameter', { input: { type: 'object', properties: { path: { description: 'Whera' } } } }],
    [
      'choices of a parameter',
      { input: { type: 'object', properties: { path: { description: 'Where', enum: ['Here'] } } } },
    ],
    ['fields its words stand in', { description: 'Read a file', title: ' of the workspace' }],
  ])('a tool is indexed anew if it has another %s', (_, change) => {
    const spec = specOf('read_file', 'Read a file of the workspace', {
      input: { type: 'object', properties: { path: { description: 'Where' } } },
    });
    const before = createRetriever();
    before.add([spec]);
    const after = createRetriever({ snapshot: before.snapshot() });
    after.add([spec]);
    expect(after.changes).toBe(0);
    after.add([{ ...spec, ...change }]);
    expect(after.changes).toBe(2);
  });

  it('can be kept again after every change', async () => {
    let snapshot = officeSnapshot();
    for (const round of [1, 2, 3, 4, 5]) {
      const retriever = createRetriever({ snapshot });
      retriever.add([
        ...OFFICE,
        ...Array.from({ length: round }, (_, index) => specOf(`extra_${index}`, `Oak ${index}`)),
      ]);
      snapshot = retriever.snapshot();
    }
    const last = createRetriever({ snapshot });
    last.add(OFFICE);
    expect(namesOf(await last.rank('read a file', options))[0]).toBe('read_file');
    expect(await last.rank('oak', options)).toEqual([]);
  });
});

describe('a damaged snapshot is as good as none', () => {
  const whole = officeSnapshot();
  it.each([
    ['empty', new Uint8Array()],
    ['a few bytes', whole.slice(0, 11)],
    ['cut in the middle', whole.slice(0, whole.length >> 1)],
    ['cut at the end', whole.slice(0, -1)],
    ['longer', Uint8Array.from([...whole, 0])],
    ['text', new TextEncoder().encode('this is no snapshot at all, but a text of some length')],
    ['noughts', new Uint8Array(4096)],
  ])('%s', async (_, snapshot) => {
    const retriever = createRetriever({ snapshot });
    retriever.add(OFFICE);
    expect(retriever.changes).toBe(OFFICE.length);
    expect(namesOf(await retriever.rank('read a file', options))[0]).toBe('read_file');
  });

  it('with any single byte changed', async () => {
    for (let at = 0; at < whole.length; at += 7) {
      const snapshot = whole.slice();
      snapshot[at] = (snapshot[at] ?? 0) ^ 0x55;
      const retriever = createRetriever({ snapshot });
      retriever.add(OFFICE);
      expect(retriever.changes).toBe(OFFICE.length);
    }
  });
});
