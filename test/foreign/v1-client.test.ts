import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, createPeers, serverOf } from './peers.ts';

const peers = createPeers();
const alone = createPeers();
const everything = { mcp: serverOf('server-everything') };
const FIXTURE = join(import.meta.dirname, '../conformance/fixture-server.ts');
const asking = { mcp: { command: process.execPath, args: [FIXTURE] }, prefix: '' };
const CONFIG = { sources: { everything, asking } };
let url: string;

beforeAll(async () => {
  url = await peers.serve(CONFIG);
});

const WAYS: Readonly<Record<string, () => Command | string>> = {
  'over HTTP': () => url,
  'on pipes, to a gateway that runs': () => peers.gateway(),
  'on pipes, to one of its own': () => alone.gateway(CONFIG),
};

/** Long enough that only an end from outside comes first. */
const LONG = { name: 'everything_trigger-long-running-operation', arguments: { duration: 50, steps: 500 } };

describe.each(Object.entries(WAYS))('the client of the first SDK, %s', (_way, target) => {
  it('lists and calls', async () => {
    const client = await peers.connect(target());
    expect(client.getServerVersion()).toMatchObject({ name: 'toolcrib' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('everything_get-structured-content');
    const call = { name: 'everything_get-structured-content', arguments: { location: 'New York' } };
    expect(await client.callTool(call)).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
  });

  it('gets progress of a call, and ends it', async () => {
    const client = await peers.connect(target());
    const controller = new AbortController();
    const progress: unknown[] = [];
    const called = client.callTool(LONG, undefined, {
      signal: controller.signal,
      onprogress: (note) => {
        progress.push(note);
        controller.abort('no longer needed');
      },
    });
    await expect(called).rejects.toThrow(/no longer needed/);
    expect(progress[0]).toEqual({ progress: 1, total: 500 });
    const call = { name: 'everything_echo', arguments: { message: 'still there' } };
    expect(await client.callTool(call)).toMatchObject({ content: [{ text: 'Echo: still there' }] });
  });

  it('sees all tools of a server, even if some of them ask for input that it cannot give', async () => {
    const client = await peers.connect(target());
    for (let count = 0; count < 7; count++)
      expect(await client.callTool({ name: 'test_sampling', arguments: { prompt: 'hm' } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('sampling') }],
      });
    expect(await client.callTool({ name: 'test_simple_text' })).toMatchObject({ content: [{ text: 'a few words' }] });
  });

  it('gets an error for an unknown tool and for wrong arguments', async () => {
    const client = await peers.connect(target());
    await expect(client.callTool({ name: 'everything_none', arguments: {} })).rejects.toThrow(/everything_none/);
    const wrong = await client.callTool({ name: 'everything_get-sum', arguments: { a: 'one' } });
    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('b') }] });
  });
});
