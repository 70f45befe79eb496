import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, type Processes, type Started } from '../processes.ts';
import { type EchoClient, httpWire, openClient, type Revision, stdioWire } from '../wire-client.ts';

/** One way from a client to the echo tool. */
export interface Contender {
  readonly name: string;
  /** How the server of the tool is spoken to. */
  readonly server: 'stdio' | 'HTTP';
  open(revision: Revision): Promise<Opened>;
}

/** A client, and the processes between it and the tool, the tool's own among them. */
export interface Opened {
  readonly client: EchoClient;
  readonly processes: readonly Started[];
}

/** What contenders are started with. */
export interface Setting {
  readonly processes: Processes;
  /** For files that may be thrown away. */
  readonly folder: string;
  /** The built command line. */
  readonly toolcrib: string;
  /** For the gateway alone, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
}

const ECHO_STDIO = join(import.meta.dirname, 'echo-stdio.ts');
const NODE = process.execPath;
const READY_MS = 20_000;

/** Starts all of them but those that serve one client only. */
export async function startContenders(setting: Setting): Promise<readonly Contender[]> {
  const { processes } = setting;
  const port = await freePort();
  const server = processes.start([join(import.meta.dirname, 'echo-http.ts'), String(port)]);
  const url = `http://127.0.0.1:${port}/mcp`;
  const supergateway = commandOf('supergateway');
  const rows = [
    overPipe('direct', 'stdio', { processes, args: [ECHO_STDIO] }),
    ...(await Promise.all([
      toolcrib(setting, { mcp: { command: NODE, args: [ECHO_STDIO] } }, 'open'),
      toolcrib(setting, { mcp: { command: NODE, args: [ECHO_STDIO] } }, 'keys'),
    ])),
    await overHttp('minimal SDK gateway', processes, (at) => [script('sdk-gateway.ts'), at, NODE, ECHO_STDIO]),
    await overHttp('mcp-proxy', processes, (at) => [
      ...[commandOf('mcp-proxy'), '--host', '127.0.0.1', '--port', at, '--server', 'stream'],
      ...['--', NODE, ECHO_STDIO],
    ]),
    await overHttp('supergateway', processes, (at) => [
      ...[supergateway, '--stdio', `${NODE} ${ECHO_STDIO}`, '--outputTransport', 'streamableHttp', '--stateful'],
      ...['--port', at, '--logLevel', 'none'],
    ]),
  ];
  const remote = [
    { name: 'direct', server: 'HTTP' as const, open: opener({ started: server, url }) },
    ...(await Promise.all([
      toolcrib(setting, { mcp: { url } }, 'open'),
      toolcrib(setting, { mcp: { url } }, 'keys'),
    ])),
    await overHttp('minimal SDK gateway', processes, (at) => [script('sdk-gateway.ts'), at, url]),
    await overHttp('mcp-proxy, as a library', processes, (at) => [script('mcp-proxy-http.ts'), at, url]),
    overPipe('supergateway, stdio client', 'HTTP', {
      processes,
      args: [supergateway, '--streamableHttp', url, '--logLevel', 'none'],
    }),
  ];
  return [...rows, ...remote.map((row) => ({ ...row, server: 'HTTP' as const, open: withServer(row.open, server) }))];
}
