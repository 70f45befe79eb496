import { describe, expect, it } from 'vitest';
import { startSessions } from './http-servers.ts';
import { cribWith, saidOf, serverOf, stateOf, watchPresence } from './upstream.ts';

type Who = { readonly id?: string; readonly profile?: string; readonly conversation?: string };

/** Calls a counter as each of these, one after the other; a caller that continues another count shares a connection. */
async function countAs(share: string, callers: readonly Who[]): Promise<readonly string[]> {
  const server = await startSessions();
  const rest = { profiles: { a: {}, b: {} } };
  const crib = await cribWith({ s: { mcp: { url: server.url }, share } }, { rest });
  const said: string[] = [];
  for (const { id, profile = 'a', conversation } of callers) {
    const chest = await crib.open(profile, { ...(id !== undefined && { id }) });
    said.push(saidOf(await chest.call('s_count', {}, { ...(conversation !== undefined && { conversation }) })));
  }
  return said;
}

describe('connections are shared as `share` says', () => {
  it.each<[string, readonly Who[], readonly string[]]>([
    ['all', [{ id: 'ann' }, { id: 'bob' }, { id: 'ann', profile: 'b' }, {}], ['1', '2', '3', '4']],
    ['profile', [{ id: 'ann' }, { id: 'bob' }, { id: 'ann', profile: 'b' }, { id: 'ann' }], ['1', '2', '1', '3']],
    ['caller', [{ id: 'ann' }, { id: 'bob' }, { id: 'ann', profile: 'b' }, {}, {}], ['1', '1', '2', '1', '2']],
    [
      'conversation',
      [
        { id: 'ann', conversation: 'x' },
        { id: 'ann', conversation: 'y' },
        { id: 'bob', conversation: 'x' }, // a caller cannot enter a conversation by guessing its name
        { id: 'ann', conversation: 'x' },
        { id: 'ann' },
      ],
      ['1', '1', '1', '2', '1'],
    ],
  ])('%s', async (share, callers, counts) => {
    expect(await countAs(share, callers)).toEqual(counts);
  });

  it('if each caller has a server, no caller gets the one that listed the tools', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ s: { mcp: serverOf('rough.ts', [], presence), share: 'caller' } });
    await presence.left();
    const [ann, bob] = [await crib.open(undefined, { id: 'ann' }), await crib.open(undefined, { id: 'bob' })];
    const pids = [await ann.call('s_pid'), await bob.call('s_pid'), await ann.call('s_pid')].map(saidOf);
    expect(pids[0]).toBe(pids[2]);
    expect(pids[0]).not.toBe(pids[1]);
    await presence.arrived(3); // the one that listed the tools included
    expect(presence.pids()).toHaveLength(2);
    process.kill(Number(pids[0]), 'SIGKILL');
    expect(saidOf(await bob.call('s_pid'))).toBe(pids[1]);
    expect(stateOf(crib, 's')).toMatchObject({ state: 'ready' });
    await crib.close();
    await presence.left();
  });

  it('two starts never run at once', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ s: { mcp: serverOf('rough.ts', [], presence), share: 'caller' } });
    await presence.left();
    const chest = await crib.open(undefined, { id: 'ann' });
    const answers = await chest.callAll(Array.from({ length: 20 }, () => ({ name: 's_pid', input: {} })));
    expect(new Set(answers.map(({ result }) => saidOf(result))).size).toBe(1);
    await presence.arrived(2); // the one that listed the tools included
    expect(presence.pids()).toHaveLength(1);
  });
});

describe('check warns when callers share a source that carries a credential', () => {
  const secrets = { token: { env: 'HOME', hosts: ['127.0.0.1'] } };
  const warn = async (source: object, more: object = {}) => {
    const crib = await cribWith({ s: source }, { rest: { secrets, ...more }, background: true, watch: false });
    const warnings = crib.warnings().filter((warning) => warning.includes('carries a credential'));
    await crib.close();
    return warnings.length === 1;
  };
  const url = 'http://127.0.0.1:9/mcp';
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: so are secrets written
  const secret = '${secret:token}';
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: so are secrets written

  it.each<[string, object, boolean]>([
    ['a secret in a header', { mcp: { url, headers: { 'X-Key': secret } } }, true],
    ['a header that is one', { mcp: { url, headers: { authorization: 'Basic x' } } }, true],
    ['a secret in the address', { mcp: { url: `${url}?key=${secret}` } }, true],
    ['a bearer token', { mcp: { url, auth: { bearer: secret } } }, true],
    ['a secret in the environment', { mcp: { command: 'none', env: { KEY: secret } } }, true],
    ['one for each caller', { mcp: { url, auth: { bearer: secret } }, share: 'caller' }, false],
    ['what the only caller there is has said', { mcp: { url, auth: { bearer: secret } }, share: 'all' }, false],
    ['no credential', { mcp: { url, headers: { accept: 'x' } } }, false],
  ])('%s', async (_, source, isWarned) => {
    expect(await warn(source)).toBe(isWarned);
  });

  it('also if share is set, with several callers', async () => {
    const access = { keys: true, roles: {} };
    expect(await warn({ mcp: { url, auth: { bearer: secret } }, share: 'all' }, { access })).toBe(true);
    expect(await warn({ mcp: { url, auth: { bearer: secret } }, share: 'conversation' }, { access })).toBe(false);
  });
});
