import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith } from '../../crib/workshop.ts';
import { startServer } from '../../sources/http-server.ts';

const FILES = { 'env.txt': 'TOKEN = SECRET_VALUE', 'own.js': 'return "own"', 'work/a.txt': 'a' };
const scripts = (...files: readonly string[]) => ({
  tools: files.map((file, index) => ({ name: `t${index}`, description: '', run: { kind: 'script', file } })),
});
const writes = {
  name: 'write',
  description: '',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: { kind: 'shell', command: ['echo', '{name}'] },
};

async function open(folder: string, team: object) {
  const shell = { sandbox: 'none' };
  const config = { sources: { team }, tools: [writes], executors: { shell } };
  writeFileSync(join(folder, 'toolcrib.yaml'), JSON.stringify(config));
  return cribOf(folder, { watch: false });
}

describe('a script that a list of another machine brings', () => {
  it.each(['absolute', 'relative'])('reads no file of this machine by an %s path, and protects none', async (form) => {
    const folder = folderWith(FILES);
    const server = await startServer();
    server.give(scripts(...['env.txt', 'work/a.txt'].map((name) => (form === 'absolute' ? join(folder, name) : name))));
    for (const more of [{}, { trust: true }]) {
      const crib = await open(folder, { http: server.url, kinds: ['script'], ...more });
      expect(crib.catalog.specs.filter(({ source }) => source === 'team')).toEqual([]);
      expect(crib.warnings().join()).toContain('Tool "t0" of team: its run must not have "file"');
      const chest = await crib.open();
      expect(await chest.call('write', { name: 'work/a.txt' })).toMatchObject({ ok: true });
    }
  });

  it('reads none from the store or an untrusted folder either; a trusted folder may name its own', async () => {
    const folder = folderWith({ ...FILES, 'lists/a.json': JSON.stringify(scripts('../own.js')) });
    const stored = await open(folder, { database: true, kinds: ['script'] });
    await stored.store?.specs.put({ name: 't0', description: '', run: { kind: 'script', file: './own.js' } }, 'ann');
    await stored.reload();
    expect(stored.catalog.get('t0')).toBeUndefined();
    const untrusted = await open(folder, { files: './lists', trust: false });
    expect(untrusted.catalog.get('t0')).toBeUndefined();
    const trusted = await open(folder, { files: './lists' });
    expect(await (await trusted.open()).call('t0', {})).toMatchObject({ ok: true, content: [{ text: 'own' }] });
  });
});
