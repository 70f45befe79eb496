import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SourceContext } from '../../src/core/source.ts';
import { RUN } from '../../src/core/tool-spec.ts';
import { files } from '../../src/sources/files.ts';
import type { SpecIndex } from '../../src/specs/spec-index.ts';
import { makeWorkspace, nextChange, openCrib } from './files-workspace.ts';
import { createShelf, type IndexShelf, isByIndex, largeText, lineOf, lookAt, startOver } from './indexed-workspace.ts';

const LINES = [
  lineOf('danger', { policy: { approval: 'always' }, effects: { destructive: true }, tags: ['x'] }),
  lineOf('secret', { policy: { access: { roles: ['admin'] } }, title: 'Secret' }),
  lineOf('plain', { input: { type: 'object', properties: { a: { type: 'string', pattern: '^a' } } } }),
];

const REMOTE = lineOf('remote', { input: { type: 'object', $ref: 'https://example.com/a.json' } });

/** A large file, and a shelf with its index: that of a crib, or of a source without one. */
async function indexedFile(
  by: 'crib' | 'source',
  lines = LINES,
): Promise<{
  readonly path: string;
  readonly indexes: IndexShelf;
  readonly index: SpecIndex;
}> {
  const path = makeWorkspace().write('tools.ndjson', largeText(lines));
  const indexes = createShelf();
  if (by === 'source') await (await startOver(path, { indexes })).live.close();
  else await (await openCrib({ sources: [files({ name: 'large', path, indexes })] })).close();
  return { path, indexes, index: JSON.parse(indexes.kept.get(path)?.text ?? '') };
}

/** Puts something else in the place of an index, under the hash of the very file. */
function forge(indexes: IndexShelf, path: string, forged: unknown): void {
  const text = typeof forged === 'string' ? forged : JSON.stringify(forged);
  indexes.kept.set(path, { hash: indexes.kept.get(path)?.hash ?? '', text });
}

type Forge = (index: SpecIndex) => unknown;
const withHead = (index: SpecIndex, change: (head: SpecIndex['heads'][number]) => unknown) => ({
  ...index,
  heads: index.heads.map((head, place) => (place === 0 ? change(head) : head)),
});

describe('an unusable index', () => {
  const forgeries: Readonly<Record<string, Forge>> = {
    'is not JSON': () => '{"format":1,',
    'is empty': () => '',
    'is null': () => null,
    'is a list': () => [],
    'is of another format': (index) => ({ ...index, format: 2 }),
    'was made by other rules': (index) => ({ ...index, rules: '[]' }),
    'is of no format': ({ format: _, ...index }) => index,
    'lacks a part': ({ others: _, ...index }) => index,
    'has a part of another type': (index) => ({ ...index, names: ['danger'] }),
    'has a name too few': (index) => ({ ...index, names: index.names.slice(0, index.names.lastIndexOf(' ')) }),
    'has a name too many': (index) => ({ ...index, names: `${index.names} more` }),
    'has no names': (index) => ({ ...index, names: '' }),
    'has a name that is none': (index) => ({ ...index, names: index.names.replace('danger', 'dan/ger') }),
    'has no head for a spec': (index) => ({ ...index, headOf: index.headOf.slice(1) }),
    'points at heads that are not there': (index) => ({ ...index, headOf: index.headOf.map(() => 99) }),
    'points at halves of heads': (index) => ({ ...index, headOf: index.headOf.map(() => 0.5) }),
    'points at members of a list': (index) => ({ ...index, headOf: index.headOf.map(() => 'length') }),
    'has no heads': (index) => ({ ...index, heads: [] }),
    'has heads that are nothing': (index) => ({ ...index, heads: index.heads.map(() => null) }),
    'has heads that say nothing': (index) => ({ ...index, heads: index.heads.map(() => ({})) }),
    'has a head without a kind': (index) => withHead(index, (head) => ({ ...head, entry: { run: {} } })),
    'has a head with a bad policy': (index) =>
      withHead(index, (head) => ({ ...head, entry: { ...head.entry, policy: { approval: 'whenever' } } })),
    'has a head with a member that no tool has': (index) =>
      withHead(index, (head) => ({ ...head, entry: { ...head.entry, execute: 'rm' } })),
    'has a head that promises what no tool has': (index) =>
      withHead(index, (head) => ({ ...head, later: ['title', '__proto__'] })),
    'has a head that promises something twice': (index) =>
      withHead(index, (head) => ({ ...head, later: ['title', 'title'] })),
    'leaves out lines that are there': (index) => ({ ...index, others: [1, 2] }),
    'is larger than its file': (index) => ({ ...index, secrets: ['x'.repeat(2_000_000)] }),
  };

  it.each(Object.entries(forgeries))('because it %s is rebuilt from the file', async (_, forgery) => {
    const { path, indexes, index } = await indexedFile('source');
    forge(indexes, path, forgery(index));
    const started = await startOver(path, { indexes });
    expect(lookAt(started)).toEqual(lookAt(await startOver(path)));
    expect(started.live.specs().some(isByIndex)).toBe(false);
    await started.live.close();
    expect(JSON.parse(indexes.kept.get(path)?.text ?? '')).toEqual(index);
  });

  it('because it has other content is rebuilt from the file', async () => {
    const { path, indexes, index } = await indexedFile('source');
    indexes.kept.set(path, { hash: 'sha256:0', text: JSON.stringify(index) });
    const started = await startOver(path, { indexes });
    expect(started.live.specs().some(isByIndex)).toBe(false);
    await started.live.close();
    expect((await startOver(path, { indexes })).live.specs().every(isByIndex)).toBe(true);
  });
});

describe('a forged index', () => {
  const lies: Readonly<Record<string, readonly [tool: string, Forge]>> = {
    'about a name': ['danger', (index) => ({ ...index, names: 'secret danger plain padding' })],
    'about limits': ['danger', (index) => ({ ...index, headOf: index.headOf.map(() => 2) })],
    'about an effect': [
      'danger',
      (index) => withHead(index, (head) => ({ ...head, entry: { ...head.entry, effects: { readOnly: true } } })),
    ],
    'about the kind': [
      'danger',
      (index) => withHead(index, (head) => ({ ...head, entry: { ...head.entry, run: { kind: 'shell' } } })),
    ],
    'about members': ['danger', (index) => withHead(index, (head) => ({ ...head, later: ['meta'] }))],
    'about being good': [
      'remote',
      (index) => ({ ...index, names: 'danger secret plain remote padding', headOf: [0, 1, 2, 2, 2], others: [] }),
    ],
  };

  it.each(Object.entries(lies))('%s runs nothing, and the file is read again', async (_, [tool, forgery]) => {
    const { path, indexes, index } = await indexedFile('crib', [...LINES, REMOTE]);
    forge(indexes, path, forgery(index));
    const crib = await openCrib({ sources: [files({ name: 'large', path, indexes, kinds: ['http', 'shell'] })] });
    const changed = nextChange(crib);
    const chest = await crib.openAll({ approve: () => true });
    const lying = crib.get(tool);
    expect(await chest.call(tool, {})).toMatchObject({
      ok: false,
      error: { code: 'unavailable' },
    });
    expect(lying).toMatchObject({
      description: expect.stringContaining('Not available'),
      [RUN]: { kind: 'unreadable' },
    });
    expect(Object.isFrozen(lying)).toBe(true);
    await changed;
    const { live } = await startOver(path);
    expect(crib.catalog.specs).toEqual(live.specs().filter((spec) => spec.name !== 'remote'));
    const code = tool === 'remote' ? 'unknown_tool' : 'unavailable';
    expect(await chest.call(tool, {})).toMatchObject({ error: { code } });
    expect(crib.get(tool)?.[RUN].kind).not.toBe('unreadable');
    await crib.close();
    expect(JSON.parse(indexes.kept.get(path)?.text ?? '')).toEqual(index);
  });

  it('of a source without a crib is checked against the rules of the crib that lists it', async () => {
    const { path, indexes } = await indexedFile('source', [...LINES, REMOTE]);
    const inner = files({ name: 'large', path, indexes });
    const start = ({ admission: _, ...context }: SourceContext) => inner.start(context);
    const crib = await openCrib({ sources: [{ ...inner, start }] });
    expect(crib.catalog.specs.map((spec) => [spec.name, isByIndex(spec)])).toEqual(
      ['danger', 'secret', 'plain', 'padding'].map((name) => [name, true]),
    );
    expect(crib.warnings()).toEqual([expect.stringContaining('Tool "remote" of large: $ref')]);
  });

  it('about existing lines leaves out none', async () => {
    const { path, indexes, index } = await indexedFile('source');
    forge(indexes, path, { ...index, names: 'padding', headOf: [2], others: [3, 2, 1, 1, 99] });
    expect(lookAt(await startOver(path, { indexes }))).toEqual(lookAt(await startOver(path)));
  });

  it('is doubted once, however many of its specs are wrong', async () => {
    const { path, indexes, index } = await indexedFile('source');
    forge(indexes, path, { ...index, names: 'secret danger plain padding' });
    const { live } = await startOver(path, { indexes });
    const lying = live.specs();
    const shown = new Promise<void>((resolve) => void live.onChange(resolve));
    expect(lying[0]?.description).toContain('Not available');
    await shown;
    const right = live.specs();
    expect(lying[1]?.description).toContain('Not available');
    await live.refresh?.();
    expect(live.specs()).toBe(right);
  });
});

describe('a file with a correct index', () => {
  it('that is no longer text fails as it does without one', async () => {
    const workspace = makeWorkspace();
    const bytes = Buffer.from(largeText(LINES));
    bytes[bytes.length - 100] = 0xff;
    const path = workspace.write('tools.ndjson', bytes);
    const indexes = createShelf();
    const started = await startOver(path, { indexes });
    expect(started.live.status()).toMatchObject({ state: 'failed', reason: expect.stringContaining('not text') });
    await started.live.close();
    expect(indexes.log).toEqual(['get']);
    const { index } = await indexedFile('source');
    indexes.kept.set(path, { hash: `sha256:${hash('sha256', bytes)}`, text: JSON.stringify(index) });
    expect((await startOver(path, { indexes })).live.status()).toEqual(started.live.status());
  });

  it('may contain what an index of this format says about it', async () => {
    const { index } = await indexedFile('source');
    // If this changes, indexes that lie in stores are wrong: raise INDEX_FORMAT.
    expect(index).toEqual({
      format: 1,
      rules: 'none',
      names: 'danger secret plain padding',
      headOf: [0, 1, 2, 2],
      heads: [
        {
          entry: {
            run: { kind: 'http' },
            effects: { destructive: true },
            policy: { approval: 'always' },
            tags: ['x'],
          },
          later: [],
        },
        {
          entry: { run: { kind: 'http' }, effects: {}, policy: { access: [{ roles: ['admin'] }] }, tags: [] },
          later: ['title'],
        },
        { entry: { run: { kind: 'http' }, effects: {}, tags: [] }, later: [] },
      ],
      others: [],
      secrets: [],
    });
  });
});
