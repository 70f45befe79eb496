import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entry } from './cli.ts';
import { familyOf, freePort, type Member, type Processes, type Started, scriptOf } from './processes.ts';
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
  /** Speaks over HTTP at the port if it takes one, else over its stdin and stdout. */
  args(port: number): readonly string[];
  readonly isOnStdio?: boolean;
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
  const given = [join(PEERS, 'echo-stdio.ts'), ...(tools === undefined ? [] : [`${tools}`])];
  const echo = [NODE, ...given];
  const proxy = [commandOf('mcp-proxy'), '--server', 'stream'];
  const supergateway = [commandOf('supergateway'), '--outputTransport', 'streamableHttp', '--stateful'];
  return [
    { name: 'direct', args: () => given, isOnStdio: true },
    { name: 'raw', args: (port) => [join(PEERS, 'raw-gateway.ts'), `${port}`, ...echo] },
    ...(await toolcribs(setting, { command: NODE, args: given })),
    { name: 'minimal SDK gateway', args: (port) => [join(PEERS, 'sdk-gateway.ts'), `${port}`, ...echo] },
    { name: 'mcp-proxy', args: (port) => [...proxy, '--port', `${port}`, '--', ...echo] },
    {
      name: 'supergateway',
      args: (port) => [...supergateway, '--stdio', echo.join(' '), '--logLevel', 'none', '--port', `${port}`],
    },
  ];
}

async function waysToHttp(setting: Setting, url: string): Promise<readonly Way[]> {
  const supergateway = [commandOf('supergateway'), '--streamableHttp', url, '--logLevel', 'none'];
  return [
    { name: 'raw', args: (port) => [join(PEERS, 'raw-gateway.ts'), `${port}`, url] },
    ...(await toolcribs(setting, { url })),
    { name: 'minimal SDK gateway', args: (port) => [join(PEERS, 'sdk-gateway.ts'), `${port}`, url] },
    { name: 'mcp-proxy as a library', args: (port) => [join(PEERS, 'mcp-proxy-http.ts'), `${port}`, url] },
    { name: 'supergateway, client on stdio', args: () => supergateway, isOnStdio: true },
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
    args: (port) => [...profiling, command, 'serve', '--port', `${port}`],
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

function toContender({ name, args, isOnStdio = false, token, cwd }: Way, processes: Processes): Contender {
  return {
    name,
    async open(revision) {
      const port = await freePort();
      const started = processes.start(args(port), cwd === undefined ? {} : { cwd });
      const wire = isOnStdio ? stdioWire(started.child) : httpWire(`http://127.0.0.1:${port}/mcp`, token);
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

/** Processor time of what stands between client and server. A contender that starts a process for each call gets off lightly. */
export function cpuOf(roots: readonly number[]): number {
  return between(roots).reduce((sum: number, { cpuUs }: Member) => sum + cpuUs, 0);
}

/** The processes between client and server. */
export function between(roots: readonly number[]): readonly Member[] {
  return familyOf(roots).filter(({ pid }) => !/\/echo-\w+\.ts$/.test(scriptOf(pid)));
}
