import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, createPeers, type Peers, serverOf } from './peers.ts';

const peers = createPeers();
const alone = createPeers();
const CONFIG = { sources: { everything: { mcp: serverOf('server-everything'), trust: true } } };
let url: string;

beforeAll(async () => {
  url = await peers.serve(CONFIG);
});

const words = ({ command, args }: Command): readonly string[] => [command, ...args];

const WAYS: Readonly<Record<string, readonly [Peers, () => readonly string[]]>> = {
  'over HTTP': [peers, () => [url]],
  'on pipes, to a gateway that runs': [peers, () => words(peers.gateway())],
  'on pipes, to one of its own': [alone, () => words(alone.gateway(CONFIG))],
};

describe.each(Object.entries(WAYS))('the Inspector, %s', (_way, [{ inspect }, target]) => {
  it('lists the tools of a server behind the gateway', async () => {
    const { tools } = (await inspect(target(), '--method', 'tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('everything_get-sum');
    expect(tools[0]).toMatchObject({ name: 'everything_echo', title: 'Echo Tool', inputSchema: { type: 'object' } });
  });

  it('calls one', async () => {
    const method = ['--method', 'tools/call', '--tool-name', 'everything_get-sum', '--tool-arg', 'a=1', 'b=2'];
    expect(await inspect(target(), ...method)).toEqual({
      content: [{ type: 'text', text: 'The sum of 1 and 2 is 3.' }],
    });
  });
});
