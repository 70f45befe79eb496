import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Crib } from '../../../src/index.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { startHttp } from './http-servers.ts';
import { cribWith, saidOf, serverOf, stateOf, watchPresence } from './upstream.ts';

const namesOf = (crib: Crib) => crib.catalog.specs.map(({ name }) => name);
const rough = (manner: string, more: object = {}) => ({ r: { mcp: serverOf('rough.ts', [manner]), ...more } });

describe('a server that', () => {
  it('prints garbage still works, and the operator sees the garbage', async () => {
    const crib = await cribWith(rough('garbage'));
    expect(await (await crib.open()).call('r_work')).toMatchObject({ content: [{ text: 'work done' }] });
    expect(crib.sourceOutput('r')).toContain('Server started');
    expect(crib.sourceOutput('nobody')).toBeUndefined();
  });

  it('exits at start has failed, with its last output', async () => {
    const crib = await cribWith(rough('exits'));
    expect(stateOf(crib, 'r')).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/ended with exit code 3; its last output: cannot find my configuration$/),
    });
  });

  it('has a working directory that does not exist says so', async () => {
    const crib = await cribWith({ r: { mcp: { ...serverOf('rough.ts'), cwd: '/there/is/no/such/folder' } } });
    expect(stateOf(crib, 'r')?.reason).toBe('its folder (cwd) "/there/is/no/such/folder" does not exist');
  });

  it('announces other tools without end is read at intervals', async () => {
    const crib = await cribWith(rough('announces'));
    const chest = await crib.open();
    const listed = async () => Number(saidOf(await chest.call('r_listed')));
    for (let turn = 0; turn < 500; turn++) await chest.call('r_work');
    expect(await listed()).toBeLessThan(100);
  });

  it.each(['dies when probed', 'is silent when probed'])('%s gets the older handshake', async (manner) => {
    const crib = await cribWith(rough(manner, { initTimeoutMs: 3000 }));
    expect(await (await crib.open()).call('r_work')).toMatchObject({ ok: true });
  });

  it('dies in the middle of calls: each is answered once', async () => {
    const crib = await cribWith(rough('well'), { watch: false });
    const chest = await crib.open();
    const late = chest.call('r_late', { ms: 60_000 });
    expect(saidOf(await chest.call('r_work'))).toBe('work done'); // so the other has arrived, too
    expect(saidOf(await chest.call('r_die'))).toBe('unknown_outcome');
    expect(saidOf(await late)).toBe('unknown_outcome');
    expect(saidOf(await chest.call('r_work'))).toBe('work done');
  });

  it('sends 30 MB, or two answers, affects no other call', async () => {
    const crib = await cribWith(rough('well'));
    const chest = await crib.open();
    const said = await Promise.all(
      ['big', 'work', 'two', 'big', 'work'].map(async (name) => saidOf(await chest.call(`r_${name}`))),
    );
    expect(said).toEqual(['too_large', 'work done', 'first', 'too_large', 'work done']);
  });

  it('answers nonsense is distinguished from one that answers', async () => {
    const crib = await cribWith(rough('well', { trust: true }));
    const chest = await crib.open();
    const answer = async (instead: unknown) => saidOf(await chest.call('r_nonsense', { instead }));
    expect(saidOf(await chest.call('r_deep'))).toBe('upstream');
    expect(await answer('a text')).toBe('upstream');
    expect(await answer({ content: 'a text' })).toBe('upstream');
    expect(await answer({})).toBe('');
    expect(await answer({ content: [{ type: 'hologram', data: 1 }, null] })).toBe('{"type":"hologram","data":1}');
    expect(await answer({ structuredContent: { a: 1 } })).toBe('{"a":1}');
    expect(await answer({ resultType: 'input_required' })).toBe(''); // an old server has no such word
  });

  it('lists badly is shown as far as possible, and the rest is reported', async () => {
    const crib = await cribWith(rough('lists badly'));
    expect(namesOf(crib)).toEqual([
      'r_good',
      expect.stringMatching(/^r_longg{33}_[0-9a-f]{8}$/),
      'r_broken_output',
      'r_odd_words',
      'r_recursive',
      'r_also_good',
    ]);
    const warnings = crib.warnings().join('\n');
    for (const trouble of [
      'It lists "good" twice.',
      'Its tool "schemaless" is left out: its inputSchema is not an object.',
      'Its tool "array" is left out',
      'A tool without a name is left out.',
      'An entry of its list is not a tool.',
      'Its tool "deep" is nested too deeply.',
      'has a name of 304 characters',
      'The outputSchema of its tool "broken output" is not an object and is ignored.',
      'example.com/a',
    ])
      expect(warnings).toContain(trouble);
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'ready', toolCount: 6 });
    const chest = await crib.open();
    expect(saidOf(await chest.call('r_odd_words'))).toBe('odd words done');
    expect(crib.get('r_odd_words')).toMatchObject({ description: '', effects: {} });
    expect(crib.get('r_odd_words')).not.toHaveProperty('meta');
  });

  it.each([
    ['lists forever', 'A page of its list has no new tools', 1],
    ['lists in a circle', 'has a cursor that was used before', 2],
    ['lists without end', 'more than 1000 pages', 1000],
  ])('%s is read as far as possible', async (manner, trouble, count) => {
    const crib = await cribWith(rough(manner));
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'ready', toolCount: count });
    expect(crib.warnings().join('\n')).toContain(trouble);
  });

  it.each(['lists too many', 'lists too many pages'])(
    '%s: the list is cut at 10,000 tools, with a notice, also if it was stored',
    async (manner) => {
      const store = { url: `sqlite:${join(temporaryFolder(), 'crib.db')}` };
      for (const start of ['first', 'second']) {
        const crib = await cribWith(rough(manner), { store, watch: false });
        expect(stateOf(crib, 'r'), start).toMatchObject({
          state: 'ready',
          toolCount: 10_000,
          reason: expect.stringMatching(/^It lists more than 10000 tools; only the first 10000 are used/),
        });
        expect(crib.warnings().join('\n'), start).toContain('It lists more than 10000 tools');
        await crib.close();
      }
    },
  );

  it('lists nonsense has failed', async () => {
    const crib = await cribWith(rough('lists nonsense'));
    expect(stateOf(crib, 'r')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('is not a list of tools'),
    });
  });

  it('hangs does not delay closing', async () => {
    const presence = await watchPresence();
    const sources = { r: { mcp: serverOf('rough.ts', ['hangs'], presence), initTimeoutMs: 600_000 } };
    const crib = await cribWith(sources, { background: true });
    expect(stateOf(crib, 'r')).toEqual({ name: 'r', state: 'starting', toolCount: 0 });
    await presence.arrived(1);
    await crib.close();
    await presence.left();
  });
});

describe('a server over HTTP that', () => {
  const at = (url: string) => ({ r: { mcp: { url }, initTimeoutMs: 2000 } });

  it.each([
    ['answers with a page', 200, 'text/html', '<p>Welcome</p>'],
    ['answers with nothing', 202, 'text/plain', ''],
    ['fails', 500, 'text/plain', 'stack trace'],
    ['does not let us in', 401, 'application/json', '{}'],
    ['answers with half of JSON', 200, 'application/json', '{"jsonrpc":'],
    ['answers another request', 200, 'application/json', '{"jsonrpc":"2.0","id":77,"result":{}}'],
    ['packs what it says', 200, 'application/json', '{}'],
  ])('%s has failed, with a reason', async (manner, status, type, body) => {
    const server = await startHttp((_, response) => {
      response.writeHead(status, {
        'content-type': type,
        ...(manner.startsWith('packs') && { 'content-encoding': 'gzip' }),
      });
      response.end(body);
    });
    const crib = await cribWith(at(server.url));
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'failed', reason: expect.any(String) });
    expect(stateOf(crib, 'r')?.reason).not.toContain('stack trace');
  });

  it('never answers is given up after the timeout', async () => {
    const server = await startHttp(() => {});
    const crib = await cribWith({ r: { mcp: { url: server.url }, initTimeoutMs: 200 } });
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'failed', reason: 'it did not answer within 200 ms' });
  });

  it('redirects is not followed', async () => {
    const elsewhere = await startHttp((_, response) => void response.end());
    const server = await startHttp((_, response) => void response.writeHead(307, { location: elsewhere.url }).end());
    const crib = await cribWith(at(server.url));
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'failed' });
    expect(elsewhere.requests).toHaveLength(0);
  });
});
