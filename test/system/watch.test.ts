import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createFolderWatch, type FolderWatch } from '../../src/system/watch.ts';

const open: FolderWatch[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const watch of open.splice(0)) watch.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-watch-'));
  folders.push(folder);
  let told = Promise.withResolvers<void>();
  let count = 0;
  const warnings: string[] = [];
  const watch = createFolderWatch({
    onChange() {
      count += 1;
      told.resolve();
      told = Promise.withResolvers();
    },
    warn: (message) => warnings.push(message),
  });
  open.push(watch);
  return { folder, watch, warnings, count: () => count, next: () => told.promise };
}

describe('a watched folder', () => {
  it('reports that a file was written, replaced by renaming, and removed', async () => {
    const { folder, watch, next } = setup();
    const file = join(folder, 'a.yaml');
    watch.listen(folder);
    for (const change of [
      () => writeFileSync(file, 'one'),
      () => {
        writeFileSync(`${file}.new`, 'two');
        renameSync(`${file}.new`, file);
      },
      () => rmSync(file),
    ]) {
      const told = next();
      change();
      await told;
    }
  });

  it('reports a burst of changes once', async () => {
    const { folder, watch, next, count } = setup();
    watch.listen(folder);
    const told = next();
    for (let index = 0; index < 50; index++) writeFileSync(join(folder, `${index}.yaml`), 'x');
    await told;
    expect(count()).toBe(1);
  });

  it('reports an endless stream of changes before it ends', async () => {
    const { folder, watch, next } = setup();
    watch.listen(folder);
    const told = next();
    let isTold = false;
    void told.then(() => {
      isTold = true;
    });
    while (!isTold) {
      writeFileSync(join(folder, 'a.yaml'), String(performance.now()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('is watched again when another replaces it', async () => {
    const { folder, watch, next } = setup();
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    watch.listen(folder);
    watch.listen(inner);
    const replaced = next();
    rmSync(inner, { recursive: true });
    mkdirSync(inner);
    await replaced;
    watch.keepOnly(new Set([inner]));
    watch.listen(inner);
    const told = next();
    writeFileSync(join(inner, 'a.yaml'), 'x');
    await told;
  });

  it('is no longer reported once others are watched, or all are closed', async () => {
    const { folder, watch, next, count } = setup();
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    for (const path of [one, two]) {
      mkdirSync(path);
      watch.listen(path);
    }
    watch.keepOnly(new Set([two]));
    writeFileSync(join(one, 'a.yaml'), 'x'); // no listener is left
    const other = setup();
    other.watch.listen(one);
    const heard = other.next();
    writeFileSync(join(one, 'b.yaml'), 'x');
    await heard;
    expect(count()).toBe(0);
    const told = next();
    writeFileSync(join(two, 'a.yaml'), 'x');
    await told;
    watch.close();
    watch.listen(one);
    for (const name of ['c.yaml', 'd.yaml']) {
      const again = other.next();
      writeFileSync(join(one, name), 'x');
      await again;
    }
    expect(count()).toBe(1);
  });

  it('may not exist', () => {
    const { folder, watch, warnings } = setup();
    watch.listen(join(folder, 'nowhere'));
    expect(warnings).toEqual([]);
  });

  it('that cannot be watched is polled, with one notice', async () => {
    const { watch, warnings, next } = setup();
    watch.listen('/tmp/\0');
    watch.listen('/tmp/\0');
    expect(warnings).toEqual([
      expect.stringMatching(/cannot be watched \(.+\); it is polled every 2000 ms instead\.$/),
    ]);
    await next();
  });

  it('keeps no process alive', async () => {
    const code = `import { createFolderWatch } from ${JSON.stringify(join(import.meta.dirname, '../../src/system/watch.ts'))};
      createFolderWatch({ onChange() {}, warn() {} }).listen(${JSON.stringify(tmpdir())});
      console.log('listening');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
    expect(stdout).toBe('listening\n');
  });
});
