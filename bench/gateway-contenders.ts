import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entry } from './cli.ts';
import { freePort, type Processes, type Started } from './processes.ts';
import { type EchoClient, httpWire, openClient, type Revision, stdioWire, type Wire } from './wire-client.ts';

/** One way from a client to the echo tool. */
export interface Contender {
  readonly name: string;
  /** Connects, as soon as it can be connected to. */
  open(revision: Revision): Promise<{ readonly client: EchoClient; readonly roots: readonly number[] }>;
}

/** How the server of the tool is spoken to: by pipes, or over HTTP with answers as JSON or as event streams. */
export type Server = 'stdio' | 'json' | 'events';

/** What contenders are started with. */
export interface Setting {
  readonly processes: Processes;
  /** For files that are thrown away. */
  readonly folder: string;
  /** Where a profile of each of our gateways is written, if anywhere. */
  readonly profileFolder: string | undefined;
  /** The command of another build of ours, which is measured too. */
  readonly beside: string | undefined;
  /** Leaves out those whose name does not match. */
  readonly only: RegExp;
}

interface Way {
  readonly name: string;
  readonly args: readonly string[];
  /** Speaks over HTTP if there is one, else over its stdin and stdout. */
  readonly port?: number;
  readonly token?: string;
  readonly cwd?: string;
}

const NODE = process.execPath;
const PEERS = join(import.meta.dirname, 'peers');
const READY_MS = 20_000;

/** Starts the server of the tool, if it is spoken to over HTTP, and says how each contender is started. */
export async function contendersFor(server: Server, setting: Setting, tools?: number): Promise<readonly Contender[]> {
  const { processes } = setting;
  const toWays = (ways: readonly Way[]) =>
    ways
      .filter(({ name }) => ['direct', 'raw'].includes(name) || setting.only.test(name))
      .map((way) => toContender(way, processes));
  if (server === 'stdio') return toWays(await waysToStdio(setting, tools));
  const port = await freePort();
  const remote = processes.start([join(PEERS, 'echo-http.ts'), `${port}`, server]);
  const url = `http://127.0.0.1:${port}/mcp`;
  const open: Contender['open'] = async (revision) => ({
    client: await untilReady(remote, httpWire(url), revision),
    roots: [remote.pid],
  });
  return [{ name: 'direct', open }, ...toWays(await waysToHttp(setting, url))];
}

async function waysToStdio(setting: Setting, tools?: number): Promise<readonly Way[]> {
  const [raw, sdk, proxy, supergateway] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const given = [join(PEERS, 'echo-stdio.ts'), ...(tools === undefined ? [] : [`${tools}`])];
  const echo = [NODE, ...given];
  const command = { command: NODE, args: given };
  return [
    { name: 'direct', args: given },
    { name: 'raw', args: [join(PEERS, 'raw-gateway.ts'), `${raw}`, ...echo], port: raw },
    ...(await toolcribs(setting, command)),
    { name: 'minimal SDK gateway', args: [join(PEERS, 'sdk-gateway.ts'), `${sdk}`, ...echo], port: sdk },
    {
      name: 'mcp-proxy',
      args: [commandOf('mcp-proxy'), '--server', 'stream', '--port', `${proxy}`, '--', ...echo],
      port: proxy,
    },
    {
      name: 'supergateway',
      args: [
        ...[commandOf('supergateway'), '--stdio', echo.join(' '), '--outputTransport', 'streamableHttp'],
        ...['--stateful', '--logLevel', 'none', '--port', `${supergateway}`],
      ],
      port: supergateway,
    },
  ];
}

async function waysToHttp(setting: Setting, url: string): Promise<readonly Way[]> {
  const [raw, sdk, proxy] = [await freePort(), await freePort(), await freePort()];
  return [
    { name: 'raw', args: [join(PEERS, 'raw-gateway.ts'), `${raw}`, url], port: raw },
    ...(await toolcribs(setting, { url })),
    { name: 'minimal SDK gateway', args: [join(PEERS, 'sdk-gateway.ts'), `${sdk}`, url], port: sdk },
    { name: 'mcp-proxy as a library', args: [join(PEERS, 'mcp-proxy-http.ts'), `${proxy}`, url], port: proxy },
    {
      name: 'supergateway, client on stdio',
      args: [commandOf('supergateway'), '--streamableHttp', url, '--logLevel', 'none'],
    },
  ];
}

async function toolcribs(setting: Setting, server: object): Promise<readonly Way[]> {
  const { beside } = setting;
  return [
    await toolcrib(setting, 'toolcrib', { server }),
    await toolcrib(setting, 'toolcrib, a key', { server }),
    ...(beside === undefined ? [] : [await toolcrib(setting, 'toolcrib, beside', { server, command: beside })]),
  ];
}

/** The built gateway with everything on that is on by default, a rate besides, and a key where the name says so. */
async function toolcrib(
  { folder, profileFolder }: Setting,
  name: string,
  { server, command = entry() }: { readonly server: object; readonly command?: string },
): Promise<Way> {
  const cwd = mkdtempSync(join(folder, 'toolcrib-'));
  const hasAccess = name.includes('key');
  const port = await freePort();
  const config = {
    sources: { bench: { mcp: server, trust: true } },
    defaultProfile: 'assistant',
    profiles: { assistant: { policy: { rates: [{ scope: 'caller', amount: 1e9, perMs: 1000 }] } } },
    ...(hasAccess && { access: { keys: true } }),
  };
  writeFileSync(join(cwd, 'toolcrib.yaml'), JSON.stringify(config));
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  return {
    name,
    args: [...profiling, command, 'serve', '--port', `${port}`],
    port,
    cwd,
    ...(hasAccess && { token: createKey(cwd) }),
  };
}

function createKey(cwd: string): string {
  const args = [entry(), 'keys', 'create', '--name', 'bench', '--allow-profile', '*', '--json'];
  const { stdout, stderr } = spawnSync(NODE, args, { cwd, encoding: 'utf8' });
  const [key] = /tck_\w+/.exec(stdout) ?? [];
  if (key === undefined) throw new Error(`No key was made: ${stderr}`);
  return key;
}

/** The file behind the command of a package, so that no shell stands between. */
function commandOf(name: string): string {
  const folder = join(import.meta.dirname, '../node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> }; // it has one
  return join(folder, bin[name] ?? '');
}

function toContender({ name, args, port, token, cwd }: Way, processes: Processes): Contender {
  return {
    name,
    async open(revision) {
      const started = processes.start(args, cwd === undefined ? {} : { cwd });
      const wire = port === undefined ? stdioWire(started.child) : httpWire(`http://127.0.0.1:${port}/mcp`, token);
      return { client: await untilReady(started, wire, revision), roots: [started.pid] };
    },
  };
}

async function untilReady({ child, said }: Started, wire: Wire, revision: Revision): Promise<EchoClient> {
  const begin = performance.now();
  for (;;) {
    try {
      return await within(READY_MS, openClient(wire, revision));
    } catch (cause) {
      const isOver = performance.now() - begin > READY_MS || child.exitCode !== null;
      if (isOver) throw new Error(`${child.spawnargs.join(' ')} is not ready: ${said()}`, { cause });
      await setTimeout(100);
    }
  }
}

/** Rejects when time is up. */
export async function within<Value>(timeMs: number, promise: Promise<Value>): Promise<Value> {
  const over = new AbortController();
  const late = setTimeout(timeMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`Nothing came within ${timeMs} ms`);
  });
  late.catch(() => {}); // nobody listens any more
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}
