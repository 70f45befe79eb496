import { describe, expect, it } from 'vitest';
import { createListings } from '../../../src/doors/mcp/listings.ts';
import { defineBundle, defineTool, type ToolInput } from '../../../src/index.ts';
import { traitsOf } from '../../../src/kinds/index.ts';
import { cribOf, folderWith, write } from '../../crib/workshop.ts';
import { legacyClient, modernClient, modernRequest, post, request } from './clients.ts';
import { ERAS } from './eras.ts';
import { serveCrib, startGateway } from './gateway.ts';

const tool = (name: string, more: Partial<ToolInput> = {}): ToolInput =>
  ({ name, description: `Does ${name}`, run: () => name, ...more }) as ToolInput; // a tool with some of its parts replaced

const many = (count: number): readonly ToolInput[] =>
  Array.from({ length: count }, (_, index) => tool(`tool_${index}`));

/** All pages, as a client written by hand collects them. */
async function pagesOf(url: string): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const { messages } = await post(url, request('tools/list', cursor === undefined ? {} : { cursor }));
    const { tools, nextCursor } = (messages[0]?.result ?? {}) as { tools: { name: string }[]; nextCursor?: string };
    pages.push(tools.map(({ name }) => name));
    cursor = nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('pages', () => {
  it('a list of usual size is one page', async () => {
    const { url } = await startGateway({ tools: many(1000) });
    expect((await pagesOf(url())).map(({ length }) => length)).toEqual([1000]);
  });

  it('a longer one continues where it stopped, in the order of the catalog, without repeats', async () => {
    const { url, crib } = await startGateway({ tools: many(2500) });
    const pages = await pagesOf(url());
    expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 500]);
    expect(pages.flat()).toEqual(crib.catalog.specs.map(({ name }) => name));
    expect((await (await modernClient(url())).listTools()).tools).toHaveLength(2500);
  });

  it('however long it is, it has fewer pages than the limit of clients', () => {
    const spec = defineTool({ name: 'tool', description: 'Does it', input: {}, run: () => 'done' });
    const specs = Array.from({ length: 200_000 }, (_, index) => ({ ...spec, name: `tool_${index}` }));
    const listing = createListings(traitsOf)(specs, { mayBeKept: false });
    let pages = 0;
    let count = 0;
    for (let cursor: string | undefined = ''; cursor !== undefined; pages++) {
      const page = listing.page('legacy', cursor === '' ? undefined : cursor);
      count += page?.tools().length ?? 0;
      cursor = page?.nextCursor;
    }
    expect(pages).toBeLessThan(64);
    expect(count).toBe(200_000);
  });

  it('a change between two pages neither repeats nor hides the rest', async () => {
    const { url, crib } = await startGateway({ tools: many(1500) });
    const first = await post(url(), request('tools/list'));
    const cursor = first.messages[0]?.result?.nextCursor;
    crib.unregister(['tool_3', 'tool_999']);
    const second = await post(url(), request('tools/list', { cursor }));
    const tools = second.messages[0]?.result?.tools as { name: string }[];
    expect(tools.at(-1)?.name).toBe('tool_1499');
    expect(tools.length).toBeGreaterThanOrEqual(498);
  });

  it('a foreign cursor is refused', async () => {
    const { url } = await startGateway({ tools: many(3) });
    const minus = Buffer.from('-1:add').toString('base64url');
    for (const cursor of ['', 'x', 'null', '!!!', '../..', 'MTo', minus, 'a'.repeat(10_000)]) {
      expect((await post(url(), request('tools/list', { cursor }))).messages).toMatchObject([
        { error: { code: -32602, message: expect.stringContaining('cursor') } },
      ]);
    }
  });
});

describe('the list', () => {
  it('both handshakes return the instructions of active bundles', async () => {
    const bundles = [
      defineBundle({ name: 'web', tools: [tool('click')], instructions: 'Take a snapshot before you click.' }),
      defineBundle({ name: 'mail', tools: [tool('send')], instructions: 'Be polite.' }),
    ];
    const { url } = await startGateway({ bundles, profiles: { web: { active: ['web'] } }, defaultProfile: 'web' });
    expect((await legacyClient(url())).getInstructions()).toBe('Take a snapshot before you click.');
    expect((await modernClient(url())).getInstructions()).toBe('Take a snapshot before you click.');
  });

  it('each address lists the tools of its profile; an unknown or forbidden profile is not found', async () => {
    const profiles = { reader: { include: ['read_*'] }, all: {} };
    const tools = [tool('read_file'), tool('write_file')];
    const { url, crib } = await startGateway({ tools, profiles, defaultProfile: 'reader' });
    expect(await pagesOf(url())).toEqual([['read_file']]);
    expect(await pagesOf(url('reader'))).toEqual([['read_file']]);
    for (const profile of ['all', 'nowhere', '__proto__']) {
      expect(await post(url(profile), request('tools/list'))).toMatchObject({
        status: 404,
        messages: [{ error: { message: 'The profile was not found.' } }],
      });
    }
    const headers = { authorization: `Bearer ${await crib.operatorToken()}` };
    const { messages } = await post(url('all'), request('tools/list'), headers);
    expect(messages[0]?.result?.tools).toHaveLength(2);
  });

  it('a key for one profile reaches it at /mcp; a key for several gets their addresses', async () => {
    const roles = `one: { profiles: [reader] }, two: { profiles: [reader, 'all tools'] }, none: { profiles: [gone] }`;
    const { url, crib } = await startGateway({
      files: { 'toolcrib.yaml': `access: { keys: true, roles: { ${roles} } }\ndefaultProfile: hidden\n` },
      tools: [tool('read_file'), tool('write_file')],
      profiles: { hidden: {}, reader: { include: ['read_*'] }, 'all tools': {} },
    });
    const as = async (role: string) => ({
      authorization: `Bearer ${(await crib.keys.create({ name: role, roles: [role] }, 'olga')).key}`,
    });
    const { messages } = await post(url(), request('tools/list'), await as('one'));
    expect(messages[0]?.result?.tools).toMatchObject([{ name: 'read_file' }]);
    const refusalAt = async (profile: string | undefined, role?: string) => {
      const asked = await post(url(profile), request('tools/list'), role === undefined ? {} : await as(role));
      return [asked.status, asked.messages[0]?.error?.message];
    };
    const addresses = 'This credential opens /mcp/reader, /mcp/all%20tools.';
    expect(await refusalAt(undefined, 'two')).toEqual([
      404,
      `This credential does not open the default profile. ${addresses}`,
    ]);
    expect(await refusalAt('hidden', 'two')).toEqual([404, `The profile was not found. ${addresses}`]);
    expect(await refusalAt('nowhere', 'two')).toEqual([404, `The profile was not found. ${addresses}`]);
    expect(await refusalAt(undefined, 'none')).toEqual([
      404,
      'This credential does not open the default profile. This credential does not open any profile.',
    ]);
    const [status, unknown] = await refusalAt(undefined);
    expect(status).toBe(401);
    expect(unknown).not.toMatch(/mcp|reader|hidden|all/);
  });

  it('bundles that an operator activated are listed', async () => {
    const bundles = [
      defineBundle({ name: 'web', tools: [tool('click')] }),
      defineBundle({ name: 'mail', tools: [tool('send')] }),
    ];
    const { url, crib } = await startGateway({ bundles, profiles: { p: {} }, defaultProfile: 'p' });
    expect(await pagesOf(url())).toEqual([['click', 'send']]);
    await crib.activeSets.put('p', ['mail'], 'olga');
    expect(await pagesOf(url())).toEqual([['send']]);
  });

  it('metadata of an MCP server about its tool is passed on; that of other sources is not', async () => {
    const meta = {
      icons: [{ src: 'https://example.com/i.png', sizes: ['48x48'] }, { mimeType: 'image/png' }, 'x', { src: 1 }],
      _meta: { 'example.com/kind': 'x' },
    };
    const executor = { kind: 'other', runSchema: { type: 'object' }, execute: async () => ({}) as never };
    const { url } = await startGateway({
      tools: [tool('theirs', { meta, run: { kind: 'mcp', source: 's', tool: 't' } }), tool('ours', { meta })],
      executors: [executor],
    });
    const { tools } = await (await legacyClient(url())).listTools();
    expect(tools[0]).toMatchObject({
      icons: [{ src: 'https://example.com/i.png', sizes: ['48x48'] }],
      _meta: { 'example.com/kind': 'x' },
    });
    expect(Object.keys(tools[1] ?? {})).toEqual(['name', 'description', 'inputSchema']);
  });

  it('a schema whose properties are true or false does not break the list for older clients', async () => {
    const input = { type: 'object', properties: { any: true, none: false, some: { type: 'string' } } };
    const { url } = await startGateway({ tools: [tool('odd', { input })] });
    for (const connect of Object.values(ERAS)) {
      expect((await (await connect(url())).list())[0]?.inputSchema).toMatchObject({
        properties: { any: {}, none: { not: {} }, some: { type: 'string' } },
      });
    }
  });

  it('resources, prompts and unknown methods are not found, in the form of each revision', async () => {
    const { url } = await startGateway({ tools: many(1) });
    for (const method of [
      'resources/list',
      'resources/read',
      'prompts/list',
      'prompts/get',
      'completion/complete',
      'tools/nope',
      'logging/setLevel',
    ]) {
      expect(await post(url(), request(method))).toMatchObject({
        status: 200,
        messages: [{ error: { code: -32601 } }],
      });
      const { body, headers } = modernRequest(method, { name: 'x', uri: 'x' });
      const named = method === 'resources/read' ? { 'mcp-name': 'x' } : {};
      expect(await post(url(), body, { ...headers, ...named })).toMatchObject({
        status: 404,
        messages: [{ error: { code: -32601 } }],
      });
    }
    expect(await post(url(), request('ping'))).toMatchObject({ messages: [{ result: {} }] });
  });
});

describe('who may cache a list', () => {
  const hintsOf = async (url: string, headers = {}) => {
    const sent = modernRequest('tools/list');
    const { messages } = await post(url, sent.body, { ...sent.headers, ...headers });
    const { ttlMs, cacheScope } = messages[0]?.result ?? {};
    return { ttlMs, cacheScope };
  };

  it('every client, if no credential is required and none was sent', async () => {
    const { url, crib } = await startGateway({ tools: many(1) });
    expect(await hintsOf(url())).toEqual({ ttlMs: 0, cacheScope: 'public' });
    const headers = { authorization: `Bearer ${await crib.operatorToken()}` };
    expect(await hintsOf(url(), headers)).toEqual({ ttlMs: 0, cacheScope: 'private' });
  });

  it('only the caller, with access control', async () => {
    const { url, crib } = await startGateway({
      tools: many(1),
      files: { 'toolcrib.yaml': 'profiles: { a: {} }\naccess: { keys: true, roles: { dev: { profiles: [a] } } }\n' },
    });
    const refused = await post(url(), request('tools/list'));
    expect(refused).toMatchObject({
      status: 401,
      messages: [{ error: { message: expect.stringMatching(/credential/) } }],
    });
    expect(refused.headers.get('www-authenticate')).toContain('Bearer');
    const created = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'olga');
    expect(await hintsOf(url('a'), { authorization: `Bearer ${created.key}` })).toEqual({
      ttlMs: 0,
      cacheScope: 'private',
    });
  });
});

describe('announcements', () => {
  /** Listens as the newest revision does, and tells when something came. */
  async function listen(url: string) {
    const client = await modernClient(url);
    let tell = () => {};
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      tell();
    });
    await client.listen({ toolsListChanged: true });
    return {
      client,
      next: () =>
        new Promise<void>((resolve) => {
          tell = resolve;
        }),
    };
  }

  it('a listening client is told that its list has changed', async () => {
    const { url, crib } = await startGateway({ tools: [tool('a')] });
    const { next, client } = await listen(url());
    const told = next();
    crib.register(tool('b'));
    await told;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('no client is told about tools that it does not see', async () => {
    const profiles = { reader: { include: ['read_*'] }, writer: { include: ['*'] } };
    const gateway = await startGateway({ tools: [tool('read_a')], profiles, defaultProfile: 'reader' });
    const { url, crib, close } = gateway;
    const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const stream = await fetch(url(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify(body),
    });
    const { next } = await listen(url()); // sees the same, and is told after it
    for (const name of ['write_b', 'read_c', 'write_d', 'read_e']) {
      const told = name.startsWith('read') ? next() : undefined;
      crib.register(tool(name));
      await told;
      await new Promise((resolve) => setImmediate(resolve)); // changes of one moment are told as one
    }
    await close();
    const news = (await stream.text()).split('\n').filter((line) => line.includes('tools/list_changed'));
    expect(news).toHaveLength(2);
  });

  it('a profile is announced if an operator changes its active bundles', async () => {
    const bundles = [defineBundle({ name: 'web', tools: [tool('click')] })];
    const { url, crib } = await startGateway({ bundles, profiles: { p: {} }, defaultProfile: 'p' });
    const { next } = await listen(url());
    const told = next();
    await crib.activeSets.put('p', [], 'olga');
    await told;
  });
});

it('a profile is announced if an edit of the configuration changes its tools', async () => {
  const yaml = (include: string) => `profiles: { p: { include: [${include}] } }\ndefaultProfile: p\n`;
  const folder = folderWith({ 'toolcrib.yaml': yaml('a') });
  const crib = await cribOf(folder, { tools: [tool('a'), tool('b')], watch: false });
  const gateway = await serveCrib(crib);
  const client = await modernClient(gateway.url());
  const told = new Promise<void>((resolve) => {
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
  });
  await client.listen({ toolsListChanged: true });
  write(folder, { 'toolcrib.yaml': yaml('a, b') });
  await crib.reload();
  await told;
  expect(await pagesOf(gateway.url())).toEqual([['a', 'b']]);
});

it('clients of every revision see the changed list next', async () => {
  const yaml = (names: readonly string[]) =>
    `tools:\n${names.map((name) => `  - { name: ${name}, description: x, run: { kind: http, method: GET, url: "https://example.com" } }\n`).join('')}`;
  const folder = folderWith({
    'toolcrib.yaml': 'sources: { local: { files: ./tools, kinds: [http] } }\n',
    'tools/a.yaml': yaml(['one']),
  });
  const crib = await cribOf(folder);
  const gateway = await serveCrib(crib);
  expect(await pagesOf(gateway.url())).toEqual([['one']]);
  write(folder, { 'tools/a.yaml': yaml(['one', 'two']) });
  await crib.reload();
  for (const connect of Object.values(ERAS))
    expect((await (await connect(gateway.url())).list()).map(({ name }) => name)).toEqual(['one', 'two']);
});
