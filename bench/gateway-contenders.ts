import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entry } from './cli.ts';
import { freePort, type Processes, type Started } from './processes.ts';
import {
  type EchoClient,
  httpWire,
  openClient,
  REVISIONS,
  type Revision,
  stdioWire,
  type Wire,
} from './wire-client.ts';

/** One way from a client to the echo tool. */
export interface Contender {
  readonly name: string;
  /** How the server of the tool is spoken to. */
  readonly server: 'stdio' | 'HTTP';
  /** Those that it speaks. */
  readonly revisions: readonly Revision[];
  /** Connects, as soon as it can be connected to. */
  open(revision: Revision): Promise<{ readonly client: EchoClient; readonly roots: readonly number[] }>;
}

/** What contenders are started with. */
export interface Setting {
  readonly processes: Processes;
  /** For files that are thrown away. */
  readonly folder: string;
  /** Where a profile of each of our gateways is written, if anywhere. */
  readonly profileFolder: string | undefined;
  /** Leaves out those whose name does not match. */
  readonly only: RegExp;
}

interface Way {
  readonly name: string;
  readonly args: readonly string[];
  /** Speaks over HTTP if there is one, else over its stdin and stdout. */
  readonly port?: number;
  /** All if absent. */
  readonly revisions?: readonly Revision[];
  readonly token?: string;
  readonly cwd?: string;
}

const NODE = process.execPath;
const PEERS = join(import.meta.dirname, 'peers');
const ECHO_STDIO = [NODE, join(PEERS, 'echo-stdio.ts')];
const READY_MS = 20_000;

/** Starts everything that more than one client can use. */
export async function startContenders(setting: Setting): Promise<readonly Contender[]> {
  const { processes } = setting;
  const port = await freePort();
  const remote = processes.start([join(PEERS, 'echo-http.ts'), String(port)]);
  const url = `http://127.0.0.1:${port}/mcp`;
  const direct: Contender = {
    name: 'direct',
    server: 'HTTP',
    revisions: REVISIONS,
    open: async (revision) => ({ client: await untilReady(remote, httpWire(url), revision), roots: [remote.pid] }),
  };
  const isWanted = ({ name }: Way) => setting.only.test(name) || name === 'direct';
  const [local, overHttp] = [await toStdio(setting), await toHttp(setting, url)];
  return [
    ...local.filter(isWanted).map((way) => toContender(way, 'stdio', { processes, besides: [] })),
    direct,
    ...overHttp.filter(isWanted).map((way) => toContender(way, 'HTTP', { processes, besides: [remote.pid] })),
  ];
}

async function toStdio(setting: Setting): Promise<readonly Way[]> {
  const [sdk, proxy, supergateway] = [await freePort(), await freePort(), await freePort()];
  const [, echo = ''] = ECHO_STDIO;
  const command = { command: NODE, args: [echo] };
  return [
    { name: 'direct', args: [echo] },
    await toolcrib(setting, 'stdio', command),
    await toolcrib(setting, 'stdio, access', command),
    { name: 'minimal SDK gateway', args: [join(PEERS, 'sdk-gateway.ts'), `${sdk}`, ...ECHO_STDIO], port: sdk },
    {
      name: 'mcp-proxy',
      args: [commandOf('mcp-proxy'), '--server', 'stream', '--port', `${proxy}`, '--', ...ECHO_STDIO],
      port: proxy,
    },
    {
      name: 'supergateway',
      args: [
        ...[commandOf('supergateway'), '--stdio', ECHO_STDIO.join(' '), '--outputTransport', 'streamableHttp'],
        ...['--stateful', '--logLevel', 'none', '--port', `${supergateway}`],
      ],
      port: supergateway,
    },
  ];
}

async function toHttp(setting: Setting, url: string): Promise<readonly Way[]> {
  const [sdk, proxy] = [await freePort(), await freePort()];
  return [
    await toolcrib(setting, 'http', { url }),
    await toolcrib(setting, 'http, access', { url }),
    { name: 'minimal SDK gateway', args: [join(PEERS, 'sdk-gateway.ts'), `${sdk}`, url], port: sdk },
    { name: 'mcp-proxy as a library', args: [join(PEERS, 'mcp-proxy-http.ts'), `${proxy}`, url], port: proxy },
    {
      name: 'supergateway, client on stdio',
      args: [commandOf('supergateway'), '--streamableHttp', url, '--logLevel', 'none'],
      revisions: ['2025-11-25'],
    },
  ];
}

/** The built gateway with everything on that is on by default, a rate besides, and a key where the name says access. */
async function toolcrib({ folder, profileFolder }: Setting, name: string, server: object): Promise<Way> {
  const cwd = join(folder, name.replace(', ', '-'));
  const hasAccess = name.includes('access');
  const port = await freePort();
  mkdirSync(cwd);
  const config = {
    sources: { bench: { mcp: server, trust: true } },
    defaultProfile: 'assistant',
    profiles: { assistant: { policy: { rates: [{ scope: 'caller', amount: 1e9, perMs: 1000 }] } } },
    ...(hasAccess && { access: { keys: true } }),
  };
  writeFileSync(join(cwd, 'toolcrib.yaml'), JSON.stringify(config));
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profileFolder, name)}`];
  return {
    name: hasAccess ? 'toolcrib, and a key asked for' : 'toolcrib',
    args: [...profiling, entry(), 'serve', '--port', `${port}`],
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

function toContender(
  { name, args, port, token, cwd, revisions = REVISIONS }: Way,
  server: Contender['server'],
  { processes, besides }: { readonly processes: Processes; readonly besides: readonly number[] },
): Contender {
  const start = () => processes.start(args, cwd === undefined ? {} : { cwd });
  const shared = port === undefined ? undefined : start();
  return {
    name,
    server,
    revisions,
    async open(revision) {
      const started = shared ?? start();
      const wire = port === undefined ? stdioWire(started.child) : httpWire(`http://127.0.0.1:${port}/mcp`, token);
      return { client: await untilReady(started, wire, revision), roots: [started.pid, ...besides] };
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
