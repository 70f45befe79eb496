import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith, namesOf, nextChange } from './workshop.ts';

const CONFIGURATION = 'sources:\n  stored: { database: true }\n';
const spec = (name: string, kind = 'http') => ({
  name,
  description: '',
  run: { kind, method: 'GET', url: 'https://example.com' },
});

describe('specs kept in the store', () => {
  it('are tools; a change is visible at once, with its history', async () => {
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIGURATION }));
    const changed = nextChange(crib);
    await crib.store?.specs.put(spec('fetch_page'), 'ann');
    await changed;
    expect(namesOf(crib)).toEqual(['fetch_page']);
    expect(await crib.store?.specs.history('fetch_page')).toMatchObject([{ what: 'added', by: 'ann' }]);
    await crib.store?.specs.remove('fetch_page', 'bob');
    await crib.reload();
    expect(namesOf(crib)).toEqual([]);
  });

  it('may bring only the kinds their source allows', async () => {
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIGURATION }));
    await crib.store?.specs.put(spec('danger', 'shell'), 'ann');
    await crib.reload();
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join('\n')).toContain('its source allows only http');
  });

  it('outlive the process, and another crib of the same configuration sees them', async () => {
    const folder = folderWith({ 'toolcrib.yaml': CONFIGURATION });
    const store = { url: `sqlite:${join(folder, 'crib.db')}` };
    const first = await cribOf(folder, { store });
    const second = await cribOf(folder, { store });
    await first.store?.specs.put(spec('shared'), 'ann');
    await second.reload();
    expect(namesOf(second)).toEqual(['shared']);
  });

  it('one that cannot be read is reported and affects no other', async () => {
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIGURATION }));
    await crib.store?.specs.put({ name: 'bad', run: 'nothing' }, 'ann');
    await crib.store?.specs.put(spec('good'), 'ann');
    await crib.reload();
    expect(namesOf(crib)).toEqual(['good']);
    expect(crib.warnings().join('\n')).toContain('stored spec "bad"');
  });
});
