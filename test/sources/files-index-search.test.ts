import { describe, expect, it, vi } from 'vitest';
import { UNREAD } from '../../src/core/tool-spec.ts';
import { makeWorkspace, openCrib, type Workspace } from './files-workspace.ts';
import { createShelf, isByIndex, largeText, lineOf, startOver } from './indexed-workspace.ts';

const LINES = Array.from({ length: 1200 }, (_, index) => lineOf(`tool_${index}`, { description: `Task ${index}` }));
const PENGUIN = lineOf('zoo_job', { description: 'Feed the penguin' });

/** Starts anew, as another process would: what the first search finds, and how often JSON was parsed for it. */
async function searchAnew(workspace: Workspace, query: string, settings: object = {}) {
  const crib = await openCrib({
    config: { sources: { large: { files: workspace.at('tools.ndjson'), ...settings } } },
    store: { url: `sqlite:${workspace.at('store.db')}` },
    watch: false,
  });
  const chest = await crib.open();
  const parse = vi.spyOn(JSON, 'parse');
  const hits = await chest.search(query, { limit: 3 });
  const parsed = parse.mock.calls.length;
  parse.mockRestore();
  await crib.close();
  const byWords = hits.filter(({ why }) => why.includes('"')).map(({ name }) => name);
  return { found: hits.map(({ name }) => name), byWords, parsed };
}

describe('a search over a large file that is listed by its index', () => {
  it('parses only the hits, once a search has seen the whole file by its index', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools.ndjson', largeText([...LINES, PENGUIN]));
    const starts = [];
    for (let start = 0; start < 4; start += 1) starts.push(await searchAnew(workspace, 'feed the penguin'));
    for (const { found } of starts) expect(found[0]).toBe('zoo_job');
    expect(starts[1]?.parsed).toBeGreaterThan(1200); // by the index for the first time
    expect(starts[2]?.parsed).toBeLessThan(20);
    expect(starts[3]?.parsed).toBeLessThan(20);
  });

  it('finds the tools that an edit between two starts added, and not those that it removed', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools.ndjson', largeText([...LINES, PENGUIN]));
    for (let start = 0; start < 3; start += 1) await searchAnew(workspace, 'feed the penguin');
    // As long as before, so that everything still stands where it stood.
    workspace.write('tools.ndjson', largeText([...LINES, PENGUIN.replace('Feed the penguin', 'Moor the gondola')]));
    for (let start = 0; start < 3; start += 1) {
      expect((await searchAnew(workspace, 'moor the gondola')).found[0]).toBe('zoo_job');
      const { found, byWords } = await searchAnew(workspace, 'feed the penguin');
      expect([found[0], ...byWords]).not.toContain('zoo_job');
    }
  });

  it('finds tools with later changes of the configuration', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools.ndjson', largeText([...LINES, PENGUIN]));
    for (let start = 0; start < 3; start += 1) await searchAnew(workspace, 'feed the penguin');
    const overrides = { zoo_job: { description: 'Moor the gondola' } };
    expect((await searchAnew(workspace, 'moor the gondola', { overrides })).found[0]).toBe('zoo_job');
    expect((await searchAnew(workspace, 'moor the gondola')).found).not.toContain('zoo_job');
  });
});

describe('the mark of a spec that was not parsed yet', () => {
  const marksOf = async (path: string, options: Parameters<typeof startOver>[1]) => {
    const { live } = await startOver(path, options);
    const marks = live.specs().map((spec) => spec[UNREAD]?.mark);
    expect(isByIndex(live.specs()[0])).toBe(marks[0] !== undefined);
    await live.close();
    return marks;
  };

  it('is a unique whole number, the same at every start', async () => {
    const path = makeWorkspace().write('tools.ndjson', largeText(LINES.slice(0, 5)));
    const indexes = createShelf();
    expect(await marksOf(path, { indexes })).toEqual(Array(6).fill(undefined)); // read in full
    const marks = await marksOf(path, { indexes });
    expect(new Set(marks).size).toBe(6);
    expect(marks.every((mark) => Number.isSafeInteger(mark) && (mark ?? 0) > 0)).toBe(true);
    expect(await marksOf(path, { indexes })).toEqual(marks);
  });

  it('differs in another file, and in another source', async () => {
    const workspace = makeWorkspace();
    const indexes = createShelf();
    const one = workspace.write('one.ndjson', largeText(LINES.slice(0, 5)));
    const other = workspace.write('other.ndjson', largeText(LINES.slice(0, 5).toReversed()));
    const all = [];
    for (const [path, name] of [
      [one, 'large'],
      [other, 'large'],
      [one, 'renamed'],
    ] as const) {
      await marksOf(path, { indexes, name });
      all.push(...(await marksOf(path, { indexes, name })));
    }
    expect(new Set(all).size).toBe(18);
  });

  it('stays the same when the spec is parsed', async () => {
    const path = makeWorkspace().write('tools.ndjson', largeText(LINES.slice(0, 5)));
    const indexes = createShelf();
    await marksOf(path, { indexes });
    const [first] = (await startOver(path, { indexes })).live.specs();
    const before = first?.[UNREAD]?.mark;
    expect(first?.description).toBe('Task 0');
    expect(first?.[UNREAD]?.mark).toBe(before);
  });
});
