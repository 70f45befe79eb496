import { hash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCrib, defineTool, done } from '../../src/index.ts';
import { argumentsHash } from '../../src/specs/hashes.ts';
import { addTimes, auditFolder, cribOf, look, recordFolder, rowsOf, TOOLS, tamper, work } from './recorded.ts';

describe('Audit: one row per call, refused and unknown ones too', () => {
  it('records caller, tool, time, profile, approver, outcome, and hashes of arguments and result', async () => {
    const folder = recordFolder('profiles: { assistant: {} }');
    const crib = await cribOf(folder);
    const before = Date.now();
    const chest = await crib.open('assistant', { id: 'alice', roles: ['dev'], approve: () => true });
    await chest.call('add', { b: 2, a: 1 }, { conversation: 'c1', door: 'rest', id: 'the-call' });
    await chest.call('wipe', {});
    const [wiped, added] = await crib.calls.list();
    expect(added).toEqual({
      argumentsHash: argumentsHash({ a: 1, b: 2 }),
      at: expect.any(Number),
      callId: 'the-call',
      caller: 'alice',
      chain: expect.stringMatching(/^[0-9a-f]{24}$/),
      conversation: 'c1',
      door: 'rest',
      durationMs: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      kind: 'call',
      number: 1,
      outcome: 'done',
      profile: 'assistant',
      resultHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      roles: ['dev'],
      source: 'code',
      tokens: 1,
      tool: 'add',
    });
    expect(added?.at).toBeGreaterThanOrEqual(before - 1);
    expect(added?.at).toBeLessThanOrEqual(Date.now() + 1);
    expect(wiped).toMatchObject({
      tool: 'wipe',
      outcome: 'done',
      approval: { by: expect.any(String), id: expect.any(String) },
    });
  });

  it('records the hashes also in a row with members that few rows have', async () => {
    const folder = recordFolder();
    const crib = await cribOf(folder);
    const chest = await crib.open(undefined, { id: 'olga', operator: true });
    await chest.call('add', { a: 1, b: 2 });
    const [row] = await crib.calls.list();
    expect(row).toMatchObject({
      operator: true,
      argumentsHash: argumentsHash({ a: 1, b: 2 }),
      resultHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('has a row for calls that were refused, failed or cancelled, and for unknown tools', async () => {
    const folder = recordFolder();
    await work(folder, async (chest, crib) => {
      await chest.call('fail', {});
      await chest.call('add', { a: 'one' });
      await chest.call('add', 'nothing at all');
      await chest.call('absent', {});
      await chest.call('add', {}, { signal: AbortSignal.abort() });
      const nobody = await crib.open();
      await nobody.call('wipe', {});
    });
    expect((await rowsOf(folder)).map(({ tool, outcome, caller }) => [tool, outcome, caller])).toEqual([
      ['fail', 'tool_error', 'alice'],
      ['add', 'invalid_input', 'alice'],
      ['add', 'invalid_input', 'alice'],
      ['absent', 'unknown_tool', 'alice'],
      ['add', 'cancelled', 'alice'],
      ['wipe', 'denied', undefined],
    ]);
  });

  it('names the outer call of a nested call', async () => {
    const folder = recordFolder();
    await work(folder, (chest) => chest.call('outer', {}, { id: 'the-outer' }));
    const [inner, outer] = await rowsOf(folder);
    expect(inner).toMatchObject({ tool: 'add', parentId: 'the-outer' });
    expect(outer).toMatchObject({ tool: 'outer', callId: 'the-outer' });
    expect(outer).not.toHaveProperty('parentId');
  });

  it('hashes the result as it was returned, even if it changes afterwards', async () => {
    const folder = recordFolder();
    const tools = [...TOOLS, defineTool({ name: 'list', description: '', input: {}, run: () => ({ names: ['a'] }) })];
    const crib = await createCrib({ tools, configFile: folder, watch: false });
    const chest = await crib.open();
    const first = await chest.call('list', {});
    const { data } = first as unknown as { data: { names: string[] } };
    data.names.push('b');
    await chest.call('list', {});
    await crib.close();
    const [one, two] = await rowsOf(folder);
    expect(one?.resultHash).toBe(two?.resultHash);
  });

  it('hashes large arguments and results at once, like small ones', async () => {
    const folder = recordFolder();
    const run = ({ text }: { text: string }) => done(text);
    const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
    const tools = [...TOOLS, defineTool({ name: 'echo', description: '', input, run })];
    const crib = await createCrib({ tools, configFile: folder, watch: false });
    const chest = await crib.open();
    const texts = ['small', 'x'.repeat(3000)];
    for (const text of texts) await chest.call('echo', { text });
    await crib.close();
    const sha = (value: unknown) => hash('sha256', JSON.stringify(value));
    expect(await rowsOf(folder)).toMatchObject(
      texts.map((text) => ({
        argumentsHash: argumentsHash({ text }),
        resultHash: sha({ content: [{ type: 'text', text }] }),
      })),
    );
  });

  it('contains no arguments, no results and nothing about how a tool runs', async () => {
    const folder = recordFolder(
      'tools: [{ name: fetched, description: x, input: {}, run: { kind: http, method: GET, url: "https://example.com/hidden-path" } }]',
    );
    await work(folder, async (chest) => {
      await chest.call('add', { a: 424_242_424 });
      await chest.call('fetched', {});
    });
    const text = JSON.stringify(look(folder, 'SELECT * FROM toolcrib_audit'));
    expect(text).toContain('fetched');
    for (const hidden of ['424242424', 'hidden-path']) expect(text).not.toContain(hidden);
  });

  it('keeps texts from outside short and intact', async () => {
    const folder = recordFolder();
    const long = 'x'.repeat(5000);
    await work(folder, async (_, crib) => {
      const chest = await crib.open(undefined, { id: `half \ud800 ${long}`, roles: Array(100).fill(long) });
      await chest.call(
        `\u0000'); DROP TABLE toolcrib_audit; --`,
        {},
        { conversation: 'y'.repeat(200), door: `d\u0000${'z'.repeat(100)}` },
      );
      await chest.call('add', {});
    });
    const [row] = await rowsOf(folder);
    expect(row).toMatchObject({ outcome: 'unknown_tool' });
    expect(JSON.stringify(row).length).toBeLessThan(8000);
    expect(row?.caller?.length).toBeLessThanOrEqual(200);
    expect(row?.roles).toHaveLength(20);
    await work(folder, async (_, crib) => expect((await crib.audit.verify()).ok).toBe(true));
  });

  it('loses no row because of a result that JSON cannot carry', async () => {
    const folder = recordFolder();
    const circle: unknown[] = [];
    circle.push(circle);
    const spoil = {
      name: 'spoil',
      priority: 500,
      wrap: () => done([{ type: 'text', text: 'x', _meta: { circle, big: 1n } }]),
    };
    const crib = await createCrib({ tools: TOOLS, configFile: folder, watch: false, extensions: [spoil] });
    await (await crib.open()).call('add', {});
    await crib.close();
    const [row] = await rowsOf(folder);
    expect(row).toMatchObject({ tool: 'add', outcome: 'done' });
    expect(row).not.toHaveProperty('resultHash');
  });

  it('has a row, which says that one is lost, for a call whose members its tool has broken', async () => {
    const breaks = defineTool({
      name: 'breaks',
      input: { type: 'object' },
      description: 'Breaks its call',
      run: (_, call) => {
        const symbols = Object.getOwnPropertySymbols(Object.getPrototypeOf(call));
        for (const symbol of symbols) {
          const facts: unknown = Reflect.get(call, symbol);
          if (typeof facts === 'object' && facts !== null && 'startedAt' in facts)
            Object.defineProperty(facts, 'approval', {
              get() {
                throw new Error('broken');
              },
            });
        }
        return 'broken';
      },
    });
    const crib = await createCrib({ configFile: recordFolder(), tools: [breaks, ...TOOLS], watch: false });
    const chest = await crib.open();
    await chest.call('breaks');
    await chest.call('add', { a: 1 });
    const rows = [];
    for await (const { kind, tool, count } of crib.audit.export()) rows.push({ kind, tool, count });
    await crib.close();
    expect(rows).toEqual([
      { kind: 'gap', tool: '', count: 1 },
      { kind: 'call', tool: 'add', count: undefined },
    ]);
  });

  it('keeps thousands of calls from a loop that never waits, and all concurrent ones', async () => {
    const folder = recordFolder();
    await work(folder, async (chest) => {
      for (let index = 0; index < 6000; index++) await chest.call('add', { a: index });
      await Promise.all(Array.from({ length: 500 }, () => chest.call('add', {})));
    });
    await work(folder, async (_, crib) => expect(await crib.audit.verify()).toMatchObject({ ok: true, rows: 6500 }));
  });
});

describe('the audit creates nothing until there is a call to record', () => {
  it('listing tools or calls creates no store, no chain and no key', async () => {
    const folder = recordFolder();
    await work(folder, async (chest, crib) => {
      chest.list();
      expect(await crib.calls.list()).toEqual([]);
      expect(await crib.calls.get('x')).toBeUndefined();
      expect(await crib.audit.summary()).toEqual({ rows: 0, chains: [] });
      for await (const row of crib.audit.export()) expect(row).toBeUndefined();
    });
    expect(existsSync(join(folder, 'crib.db'))).toBe(false);
    expect(existsSync(join(folder, '.toolcrib'))).toBe(false);
  });

  it('the key and the checkpoints are outside the database and readable by their owner only', async () => {
    const folder = recordFolder();
    await addTimes(folder, 1);
    const audit = auditFolder(folder);
    expect(statSync(audit).mode & 0o777).toBe(0o700);
    expect(statSync(join(audit, 'key.pem')).mode & 0o777).toBe(0o600);
  });

  it('extensions.audit: false turns it off, and check says so', async () => {
    const folder = recordFolder('extensions: { audit: false }');
    await work(folder, async (chest, crib) => {
      await chest.call('add', {});
      expect(crib.extensions.list().map(({ name }) => name)).not.toContain('audit');
      expect(crib.extensions.list().map(({ name }) => name)).not.toContain('auditIntent');
      expect(await crib.calls.list()).toEqual([]);
    });
    expect(existsSync(join(folder, 'crib.db'))).toBe(false);
  });

  it('a crib without a configuration has no audit, and says so on request', async () => {
    const crib = await createCrib({ tools: TOOLS });
    await (await crib.open()).call('add', {});
    expect(await crib.calls.list()).toEqual([]);
    await expect(crib.audit.verify()).rejects.toMatchObject({ code: 'not_available' });
    await crib.close();
  });

  it('an audit in memory lasts as long as the crib and leaves no files', async () => {
    const folder = recordFolder();
    const crib = await cribOf(folder, { store: { url: 'memory:' } });
    await (await crib.open()).call('add', {});
    expect(await crib.audit.verify()).toMatchObject({ ok: true, rows: 1 });
    await crib.close();
    expect(existsSync(auditFolder(folder))).toBe(false);
  });
});

describe('crib.calls', () => {
  it('lists calls newest first, by tool, caller and outcome, page by page', async () => {
    const folder = recordFolder();
    await work(folder, async (chest, crib) => {
      for (let index = 0; index < 5; index++) await chest.call('add', { a: index }, { id: `add-${index}` });
      await (await crib.open(undefined, { id: 'bob' })).call('fail', {}, { id: 'of-bob' });
      const idsOf = async (query: Parameters<typeof crib.calls.list>[0]) =>
        (await crib.calls.list(query)).map(({ callId }) => callId);
      expect((await idsOf({})).toSorted()).toEqual(['add-0', 'add-1', 'add-2', 'add-3', 'add-4', 'of-bob']);
      expect(await idsOf({ tool: 'fail' })).toEqual(['of-bob']);
      expect(await idsOf({ caller: 'bob' })).toEqual(['of-bob']);
      expect(await idsOf({ outcome: 'tool_error' })).toEqual(['of-bob']);
      expect(await idsOf({ tool: 'add', outcome: 'tool_error' })).toEqual([]);
      const page = await crib.calls.list({ limit: 2 });
      const [, before] = page;
      const rest = await crib.calls.list({ ...(before && { before }) });
      expect([...page, ...rest].map(({ callId }) => callId)).toEqual(await idsOf({}));
      expect(await crib.calls.get('add-3')).toMatchObject({ tool: 'add', number: 4 });
      expect(await crib.calls.get('nothing')).toBeUndefined();
    });
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 5000 }, 'limit'],
    [{ tool: 7 }, 'tool must be a text'],
    [{ before: 'now' }, 'before must be a row'],
    [{ tol: 'x' }, 'Did you mean "tool"?'],
  ])('refuses %j with a sentence', async (query, sentence) => {
    const crib = await createCrib({ tools: TOOLS });
    await expect(crib.calls.list(query as never)).rejects.toThrow(sentence);
    await crib.close();
  });

  it('leaves out rows that are not readable', async () => {
    const folder = recordFolder();
    await addTimes(folder, 2);
    tamper(folder, `UPDATE toolcrib_audit SET entry = '[' WHERE number = 1`);
    await work(folder, async (_, crib) => expect(await crib.calls.list()).toHaveLength(1));
  });
});
