import { describe, expect, it } from 'vitest';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

const options = { limit: 5, minScore: 0 };

function officeSnapshot(): Uint8Array {
  const retriever = createRetriever();
  retriever.add(OFFICE);
  return retriever.snapshot();
}

describe('a stored index', () => {
  it('gives the same answers as the original, and the same tools are not indexed again', async () => {
    const before = createRetriever();
    before.add(OFFICE);
    const after = createRetriever({ snapshot: before.snapshot() });
    after.add(OFFICE);
    expect(after.changes).toBe(0);
    for (const query of ['read a file', 'calendar of today', 'send_mail', 'curency'])
      expect(await after.rank(query, options)).toEqual(await before.rank(query, options));
  });

  it('only changed tools are indexed', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add([...OFFICE.slice(2), specOf('read_file', 'Recite a poem'), specOf('plant_tree', 'Plant an oak')]);
    expect(await retriever.rank('text', options)).toEqual([]);
    expect(namesOf(await retriever.rank('recite poem', options))[0]).toBe('read_file');
    expect(namesOf(await retriever.rank('oak', options))).toEqual(['plant_tree']);
    // read_file replaced, plant_tree new, write_file gone.
    expect(retriever.changes).toBe(4);
  });

  it('a tool that changed between two starts is found by its new words and not by its old ones', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add(
      OFFICE.map((spec) => (spec.name === 'send_mail' ? { ...spec, description: 'Feed the penguin' } : spec)),
    );
    expect(retriever.changes).toBe(2);
    expect(namesOf(await retriever.rank('feed the penguin', options))).toEqual(['send_mail']);
    const rebuilt = createRetriever();
    rebuilt.add(
      OFFICE.map((spec) => (spec.name === 'send_mail' ? { ...spec, description: 'Feed the penguin' } : spec)),
    );
    for (const query of ['send an email to somebody', 'email', 'read a file'])
      expect(await retriever.rank(query, options)).toEqual(await rebuilt.rank(query, options));
  });

  it('tools in another order, one by one or twice are recognized', async () => {
    const wanted = createRetriever();
    wanted.add(OFFICE);
    for (const specs of [OFFICE.toReversed(), [...OFFICE, ...OFFICE], [...OFFICE.slice(3), ...OFFICE.slice(0, 3)]]) {
      const retriever = createRetriever({ snapshot: officeSnapshot() });
      for (const spec of specs) retriever.add([spec]);
      expect(retriever.changes).toBe(0);
      expect(await retriever.rank('read a file', options)).toEqual(await wanted.rank('read a file', options));
    }
  });

  it('a tool that is removed and added again after a start is found again', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add(OFFICE);
    retriever.remove(['read_file']);
    expect(namesOf(await retriever.rank('read_file', options))).not.toContain('read_file');
    retriever.add(OFFICE.slice(0, 1));
    expect(namesOf(await retriever.rank('read_file', options))[0]).toBe('read_file');
  });

  it('serves several retrievers: changes in one do not affect the others', async () => {
    const snapshot = officeSnapshot();
    const whole = snapshot.slice();
    const [first, second] = [createRetriever({ snapshot }), createRetriever({ snapshot })];
    second.add(OFFICE);
    const wanted = await second.rank('read a file', options);
    first.add(OFFICE.slice(3).map((spec) => ({ ...spec, description: 'Recite a poem' })));
    await first.rank('poem', options);
    expect(snapshot).toEqual(whole);
    expect(await second.rank('read a file', options)).toEqual(wanted);
  });

  it('stored again without a change, it is the same', () => {
    const snapshot = officeSnapshot();
    const retriever = createRetriever({ snapshot });
    retriever.add(OFFICE);
    expect(retriever.snapshot()).toEqual(snapshot);
  });

  it('a tool is indexed again if it is in another bundle', () => {
    const before = createRetriever({ bundlesOf: () => ['office'] });
    before.add(OFFICE);
    const after = createRetriever({
      snapshot: before.snapshot(),
      bundlesOf: (name) => (name === 'read_file' ? [] : ['office']),
    });
    after.add(OFFICE);
    expect(after.changes).toBe(2);
  });

  it('texts beyond the searched length are recognized, however long they are', () => {
    const property = { description: 'x'.repeat(30_000), enum: ['y'.repeat(30_000), 'z'] };
    const properties = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, property]));
    const spec = specOf('long', 'd'.repeat(30_000), {
      input: { type: 'object', properties },
      tags: ['t'.repeat(30_000), 'u'],
    });
    const before = createRetriever();
    before.add([spec]);
    const after = createRetriever({ snapshot: before.snapshot() });
    const input = { type: 'object', properties: { ...properties, p150: { description: 'and more' } } };
    after.add([spec, { ...spec, description: `${'d'.repeat(30_000)} and more`, input }]);
    expect(after.changes).toBe(0);
  });

  it('a tool of the snapshot that is not added is never returned, named or not', async () => {
    const retriever = createRetriever({ snapshot: officeSnapshot() });
    retriever.add(OFFICE.slice(0, 1));
    expect(namesOf(await retriever.rank('send_mail: send an email', options))).toEqual([]);
    await expect(createRetriever({ snapshot: officeSnapshot() }).rank('send an email', options)).resolves.toEqual([]);
  });

  it.each([
    ['bytes', (length: number) => new Uint8Array(length)],
    ['a Buffer, whose slices share its memory', (length: number) => Buffer.alloc(length)],
  ])('an unaligned buffer of a pool is read as well: %s', async (_, pool) => {
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
    ['text that was a parameter', { input: { type: 'object', properties: { path: {}, Where: {} } } }],
    ['source that was a category', { source: '', category: 'test' }],
    ['fields its words stand in', { description: 'Read a file', title: ' of the workspace' }],
  ])('a tool is indexed again if it has another %s', (_, change) => {
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

  it('can be stored again after every change', async () => {
    let snapshot = officeSnapshot();
    for (const round of [1, 2, 3, 4, 5]) {
      const retriever = createRetriever({ snapshot });
      retriever.add([
        ...OFFICE,
        ...Array.from({ length: round }, (_, index) => specOf(`extra_${index}`, `Oak ${index}`)),
      ]);
      expect(retriever.changes).toBe(1); // the others were kept
      snapshot = retriever.snapshot();
    }
    const last = createRetriever({ snapshot });
    last.add(OFFICE);
    expect(namesOf(await last.rank('read a file', options))[0]).toBe('read_file');
    expect(await last.rank('oak', options)).toEqual([]);
    expect(last.changes).toBe(5);
  });
});

describe('a damaged snapshot is ignored', () => {
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
