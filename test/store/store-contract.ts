import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { approvalsContract } from './approvals-contract.ts';
import { auditContract } from './audit-contract.ts';
import { batchesContract } from './batches-contract.ts';
import { approvalBoundsContract, repeatBoundsContract } from './bounds-contract.ts';
import { claimsContract } from './claims-contract.ts';
import { definitionsContract } from './definitions-contract.ts';
import { grantsContract } from './grants-contract.ts';
import { indexesContract } from './indexes-contract.ts';
import { keysContract } from './keys-contract.ts';
import { budgetsContract } from './limits-contract.ts';
import { parkedContract } from './parked-contract.ts';
import { repeatsContract, resultsContract } from './results-contract.ts';
import { schedulesContract } from './schedules-contract.ts';
import { snapshotsContract } from './snapshots-contract.ts';
import { stopsContract } from './stops-contract.ts';

/** What every store keeps to; `place` names one with nothing in it each time, `emptyPlace` one without a schema, too. */
export function storeContract(place: () => Promise<string>, emptyPlace = place): void {
  const opened = async (options: Partial<StoreOptions> = {}): Promise<Store> => {
    const store = await openStore({ url: await place(), env: {}, ...options });
    onTestFinished(() => store.close());
    return store;
  };
  describe('specs', () => specsContract(opened));
  describe('last known lists', () => listsContract(opened));
  describe('active sets', () => activeSetsContract(opened));
  describe('indexes of files', () => indexesContract(opened));
  describe('snapshots', () => snapshotsContract(opened));
  describe('budgets', () => budgetsContract(opened));
  describe('large results', () => resultsContract(opened));
  describe('idempotency keys', () => repeatsContract(opened));
  describe('approvals', () => approvalsContract(opened, place));
  describe('bounds on approvals', () => approvalBoundsContract(opened, place, emptyPlace));
  describe('bounds on idempotency keys', () => repeatBoundsContract(opened, place));
  describe('calls parked for a server', () => parkedContract(opened));
  describe('batches of approvals', () => batchesContract(opened, place));
  describe('remembered approvals with a number of uses', () => grantsContract(opened, place));
  describe('claims', () => claimsContract(opened, place));
  describe('API keys', () => keysContract(opened));
  describe('schedules', () => schedulesContract(opened, place));
  describe('the audit', () => auditContract(opened));
  describe('keys that seal', () => sealKeysContract(opened, place));
  describe('definitions and labels', () => definitionsContract(opened, place));
  describe('emergency stops', () => stopsContract(opened, place));
  describe('status and end', () => endContract(opened));
}

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

function sealKeysContract(opened: Opened, place: () => Promise<string>): void {
  it('creates one of each name, the same for all concurrent readers', async () => {
    const { sealKeys } = await opened();
    const keys = await Promise.all(Array.from({ length: 10 }, () => sealKeys.get('a')));
    expect(new Set(keys).size).toBe(1);
    expect(Buffer.from(keys[0] ?? '', 'base64')).toHaveLength(32);
    expect(await sealKeys.get('b')).not.toBe(keys[0]);
  });

  it('keeps it for later openings of the store', async () => {
    const url = await place();
    if (url === 'memory:') return; // it ends with the process
    const first = await opened({ url });
    const key = await first.sealKeys.get('a');
    await first.close();
    expect(await (await opened({ url })).sealKeys.get('a')).toBe(key);
  });
}

const reader = (description: string): JsonObject => ({ name: 'file_reader', description });

function specsContract(opened: Opened): void {
  it('lists specs by name, with their author and time', async () => {
    const store = await opened({ now: () => 1_700_000_000_000 });
    await store.specs.put({ name: 'b_tool', input: { type: 'object' } }, 'alice');
    await store.specs.put({ name: 'a_tool' }, 'bob');
    await store.specs.put({ name: 'B_tool' }, 'bob');
    expect(await store.specs.list()).toEqual([
      { name: 'B_tool', spec: { name: 'B_tool' }, by: 'bob', at: 1_700_000_000_000 },
      { name: 'a_tool', spec: { name: 'a_tool' }, by: 'bob', at: 1_700_000_000_000 },
      { name: 'b_tool', spec: { name: 'b_tool', input: { type: 'object' } }, by: 'alice', at: 1_700_000_000_000 },
    ]);
  });

  it('reports whether a spec was added, changed, or equal', async () => {
    const store = await opened();
    expect(await store.specs.put(reader('one'), 'alice')).toBe('added');
    expect(await store.specs.put(reader('two'), 'alice')).toBe('changed');
    expect(await store.specs.put(reader('two'), 'bob')).toBe('unchanged');
    expect(await store.specs.list()).toMatchObject([{ spec: reader('two'), by: 'alice' }]);
  });

  it('returns the history of a name: author, change, time, and the spec then', async () => {
    let time = 0;
    const store = await opened({ now: () => ++time });
    await store.specs.put(reader('one'), 'alice');
    await store.specs.put(reader('two'), 'bob');
    await store.specs.put(reader('two'), 'carol');
    await store.specs.put({ name: 'other' }, 'alice');
    await store.specs.remove('file_reader', 'dave');
    await store.specs.put(reader('three'), 'erin');
    expect(await store.specs.history('file_reader')).toEqual([
      { what: 'added', spec: reader('one'), by: 'alice', at: 1 },
      { what: 'changed', spec: reader('two'), by: 'bob', at: 2 },
      { what: 'removed', spec: reader('two'), by: 'dave', at: 5 },
      { what: 'added', spec: reader('three'), by: 'erin', at: 6 },
    ]);
    expect(await store.specs.history('unknown')).toEqual([]);
  });

  it('removes a spec once, and says so', async () => {
    const store = await opened();
    await store.specs.put(reader('one'), 'alice');
    expect(await store.specs.remove('file_reader', 'bob')).toBe(true);
    expect(await store.specs.remove('file_reader', 'bob')).toBe(false);
    expect(await store.specs.list()).toEqual([]);
    expect(await store.specs.history('file_reader')).toHaveLength(2);
  });

  it('has another version after every change', async () => {
    const store = await opened();
    const versions = [await store.specs.version()];
    await store.specs.put(reader('one'), 'alice');
    versions.push(await store.specs.version());
    await store.specs.put(reader('two'), 'alice');
    versions.push(await store.specs.version());
    await store.specs.remove('file_reader', 'alice');
    versions.push(await store.specs.version());
    expect(new Set(versions).size).toBe(4);
    expect(await store.specs.version()).toBe(versions[3]);
  });

  it('loses nothing when many write at once, and adds a name once', async () => {
    const store = await opened();
    const names = Array.from({ length: 40 }, (_, index) => `tool_${index}`);
    const added = await Promise.all([
      ...names.map((name) => store.specs.put({ name }, 'alice')),
      ...names.map((name) => store.specs.put({ name, description: 'again' }, 'bob')),
    ]);
    expect(added.filter((what) => what === 'added')).toHaveLength(40);
    expect(await store.specs.list()).toHaveLength(40);
    const histories = await Promise.all(names.map((name) => store.specs.history(name)));
    expect(histories.map((history) => history.map(({ what }) => what))).toEqual(names.map(() => ['added', 'changed']));
  });

  it('returns every text unchanged', async () => {
    const store = await opened();
    const spec = {
      name: 'odd',
      description: `? $1 'a' "b" \\ \u0000 \ud800 \u{1f527} é\n'); DROP TABLE toolcrib_specs; --`,
    };
    await store.specs.put(spec, `O'Brien ?`);
    expect(await store.specs.list()).toMatchObject([{ spec, by: `O'Brien ?` }]);
  });

  it('refuses a spec without a usable name', async () => {
    const store = await opened();
    await expect(store.specs.put({ name: 'no good' }, 'alice')).rejects.toMatchObject({ code: 'invalid_name' });
    await expect(store.specs.put({}, 'alice')).rejects.toMatchObject({ code: 'invalid_name' });
    expect(await store.specs.list()).toEqual([]);
  });

  it('stores several at once, all or none, each with its own history', async () => {
    const store = await opened();
    await store.specs.putAll([reader('one'), { name: 'other' }], 'alice');
    const next = [reader('two'), { name: 'other' }, { name: 'third' }];
    expect(await store.specs.putAll(next, 'bob')).toEqual(['changed', 'unchanged', 'added']);
    expect((await store.specs.list()).map(({ name }) => name)).toEqual(['file_reader', 'other', 'third']);
    expect(await store.specs.history('file_reader')).toMatchObject([{ by: 'alice' }, { by: 'bob' }]);
    await expect(store.specs.putAll([{ name: 'fourth' }, { name: 'no good' }], 'bob')).rejects.toMatchObject({
      code: 'invalid_name',
    });
    expect(await store.specs.putAll([], 'bob')).toEqual([]);
    expect(await store.specs.list()).toHaveLength(3);
  });

  it('is not changed by later changes of a stored object', async () => {
    const store = await opened();
    const tags = ['one'];
    const put = store.specs.put({ name: 'tagged', tags }, 'alice');
    tags.push('two');
    await put;
    expect(await store.specs.list()).toMatchObject([{ spec: { tags: ['one'] } }]);
  });
}

function listsContract(opened: Opened): void {
  it('keeps the last list of each source', async () => {
    const store = await opened();
    await store.lists.put('gh', { hash: 'a', specs: [{ name: 'old' }], at: 1 });
    await store.lists.put('gh', { hash: 'b', specs: [{ name: 'new' }, { name: 'newer' }], at: 2 });
    await store.lists.put('team', { hash: 'c', specs: [], at: 3 });
    expect(await store.lists.get('gh')).toEqual({ hash: 'b', specs: [{ name: 'new' }, { name: 'newer' }], at: 2 });
    expect(await store.lists.get('team')).toEqual({ hash: 'c', specs: [], at: 3 });
    expect(await store.lists.get('unknown')).toBeUndefined();
  });

  it('stores the data that a source passes with its list, and drops it with the next', async () => {
    const store = await opened();
    const about = { validators: { 'if-none-match': '"a"' }, odd: '\u0000 é' };
    await store.lists.put('team', { hash: 'a', specs: [], at: 1, about });
    expect(await store.lists.get('team')).toEqual({ hash: 'a', specs: [], at: 1, about });
    await store.lists.put('team', { hash: 'b', specs: [], at: 2 });
    expect(await store.lists.get('team')).toEqual({ hash: 'b', specs: [], at: 2 });
  });

  it('keeps a list of many specs', async () => {
    const store = await opened();
    const specs = Array.from({ length: 5_000 }, (_, index) => ({
      name: `tool_${index}`,
      description: 'x'.repeat(200),
    }));
    await store.lists.put('big', { hash: 'a', specs, at: 1 });
    expect((await store.lists.get('big'))?.specs).toEqual(specs);
  });
}

function activeSetsContract(opened: Opened): void {
  it('stores the active set of each profile, with its author and time', async () => {
    const store = await opened({ now: () => 7 });
    await store.activeSets.put('assistant', ['files', 'browser'], 'alice');
    await store.activeSets.put('assistant', ['browser'], 'bob');
    expect(await store.activeSets.get('assistant')).toEqual({ names: ['browser'], by: 'bob', at: 7 });
  });

  it('distinguishes an empty active set from none', async () => {
    const store = await opened();
    await store.activeSets.put('reader', [], 'alice');
    expect((await store.activeSets.get('reader'))?.names).toEqual([]);
    expect(await store.activeSets.get('unknown')).toBeUndefined();
  });
}

function endContract(opened: Opened): void {
  it('reports its address and that it can be reached', async () => {
    const store = await opened();
    const status = await store.status();
    expect(status).toMatchObject({ reachable: true, warnings: [] });
    expect(status.location).not.toBe('');
  });

  it('finishes pending writes before it closes, and closes once', async () => {
    const store = await opened();
    const writes = Array.from({ length: 50 }, (_, index) => store.specs.put({ name: `tool_${index}` }, 'alice'));
    await Promise.all([store.close(), store.close()]);
    expect(await Promise.all(writes)).toEqual(writes.map(() => 'added'));
  });

  it('refuses to work after it was closed', async () => {
    const store = await opened();
    await store.close();
    await expect(store.specs.list()).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store.activeSets.put('assistant', [], 'alice')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.status()).toMatchObject({ reachable: false, problem: expect.stringContaining('closed') });
  });
}
