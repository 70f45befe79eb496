import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { modules } from '../../src/sources/modules/modules.ts';
import { systemClock } from '../../src/system/clock.ts';
import { createFolder, cribOver, namesIn, nextChange, say, toolModule, toolObject } from './fixtures/modules-folder.ts';

/** Long enough for a module that means well, on a machine that is busy. */
const IMPORT_TIMEOUT_MS = 2_500;

describe('a hostile module', () => {
  it.each([
    ['throws', `throw new Error('no key');`, 'no key (line 1)'],
    ['throws no error', `throw 'just text';`, 'just text'],
    ['cannot be parsed', 'export const a = 1;\nexport const b = ;', '(line 2)'],
    ['imports what is not there', `import './nowhere.mjs';`, 'nowhere.mjs'],
    ['imports a name that is not there', `import { nothing } from './good.mjs';`, '(line 1)'],
    ['calls process.exit', 'process.exit(3);', 'process.exit(3)'],
    ['leaves quietly', 'process.exit();', 'process.exit(0)'],
    ['never stops', 'for (;;);', `${IMPORT_TIMEOUT_MS} ms`],
    ['waits forever', 'await new Promise(() => {});', 'its import never finishes'],
    ['waits too long', 'await new Promise((resolve) => setTimeout(resolve, 1e6));', `${IMPORT_TIMEOUT_MS} ms`],
    ['leaves a rejected promise behind', `Promise.reject(new Error('left alone'));`, 'left alone'],
    ['exits in its factory', 'export default () => process.exit(4);', 'process.exit(4)'],
    ['never stops in its factory', 'export function tools() { for (;;); }', `${IMPORT_TIMEOUT_MS} ms`],
  ])('One that %s fails alone and is reported with its path.', async (_, text, word) => {
    const folder = createFolder();
    folder.write('a.mjs', toolModule('before'));
    const path = folder.write('bad.mjs', `${text}\nexport const tool = ${toolObject('bad')};`);
    folder.write('good.mjs', toolModule('after'));
    const crib = await cribOver(folder, { importTimeoutMs: IMPORT_TIMEOUT_MS });
    await expect.poll(() => namesIn(crib)).toEqual(['before', 'after']); // on a busy machine the crib starts before its source
    expect(await say(crib, 'after')).toBe('after');
    expect(crib.warnings()).toEqual([expect.stringContaining(`plugins: ${path} is left out: `)]);
    expect(crib.warnings()[0]).toContain(word);
  });

  it('TypeScript under node_modules is refused with a sentence.', async () => {
    const folder = createFolder();
    folder.write('node_modules/p/tool.ts', toolModule('typed'));
    const crib = await cribOver(folder, { path: `${folder.path}/node_modules/p` });
    expect(crib.warnings()).toEqual([expect.stringContaining('ship it as JavaScript')]);
  });

  it('Each version is imported twice, in a worker and here, however often the crib is reloaded.', async () => {
    const folder = createFolder();
    const counter = folder.write('count.txt', '');
    folder.write(
      'tool.mjs',
      `import { appendFileSync } from 'node:fs'; appendFileSync('${counter}', 'x'); ${toolModule('tool')}`,
    );
    const crib = await cribOver(folder);
    await crib.reload();
    await crib.reload();
    expect([namesIn(crib), readFileSync(counter, 'utf8')]).toEqual([['tool'], 'xx']);
  });

  it('One that exits is not imported again until its text changes.', async () => {
    const folder = createFolder();
    const counter = folder.write('count.txt', '');
    const text = `import { appendFileSync } from 'node:fs'; appendFileSync('${counter}', 'x'); process.exit(1);`;
    folder.write('bad.mjs', text);
    const crib = await cribOver(folder);
    const tries = readFileSync(counter, 'utf8').length;
    await crib.reload();
    expect(readFileSync(counter, 'utf8')).toHaveLength(tries);
    folder.write('bad.mjs', `${text} // another text`);
    await crib.reload();
    expect(readFileSync(counter, 'utf8').length).toBeGreaterThan(tries);
  });

  it('One that is slow does not delay the others: it is added later, as a change.', async () => {
    const folder = createFolder();
    const gate = `${folder.path}/gate`;
    folder.write(
      'a-slow.mjs',
      `import { existsSync, watch } from 'node:fs';
       await new Promise((go) => {
         const watcher = watch('${folder.path}', () => look());
         const look = () => { if (existsSync('${gate}')) { watcher.close(); go(); } };
         look();
       });
       ${toolModule('slow')}`,
    );
    folder.write('b.mjs', toolModule('quick'));
    const crib = await cribOver(folder, { importTimeoutMs: 600_000 });
    expect([namesIn(crib), crib.warnings()]).toEqual([['quick'], []]);
    expect(crib.sources()).toMatchObject([
      { name: 'code' },
      { state: 'starting', reason: `${folder.path}/a-slow.mjs is still being imported.` },
    ]);
    const chest = await crib.open();
    expect(await chest.call('slow')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    const change = nextChange(crib);
    folder.write('gate', '');
    expect([await change, namesIn(crib)]).toEqual([{ added: ['slow'], removed: [], changed: [] }, ['slow', 'quick']]);
    await crib.server.allListed();
    expect(crib.sources()).toMatchObject([{ name: 'code' }, { state: 'ready' }]);
    expect(await chest.call('none')).toMatchObject({ ok: false, error: { code: 'unknown_tool' } });
  }, 30_000);

  it('Closing the crib ends the worker in which it hangs.', async () => {
    const folder = createFolder();
    const path = folder.write('hang.mjs', 'for (;;);');
    const closing = new AbortController();
    const source = modules({ name: 'plugins', path, importTimeoutMs: 600_000 });
    const starting = source.start({ clock: systemClock, services: {}, signal: closing.signal, warn: () => {} });
    closing.abort();
    expect((await starting).specs()).toEqual([]);
  });
});
