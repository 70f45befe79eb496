import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll } from 'vitest';
import { serveCrib } from '../conformance/served-crib.ts';
import { MAIN, SURROUNDINGS } from '../doors/cli/workshop.ts';

const PACKAGES = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol');
const INSPECTOR = join(PACKAGES, 'inspector/clients/launcher/build/index.js');
const ENVIRONMENT = SURROUNDINGS as Readonly<Record<string, string>>; // all of them are there

/** A program and what it is started with. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** How a server of the protocol's authors is started. */
export function serverOf(name: string, ...args: readonly string[]): Command {
  return { command: process.execPath, args: [join(PACKAGES, name, 'dist/index.js'), ...args] };
}

/** Programs that others wrote, and a gateway between them; all of it is over after the tests of the file. */
export interface Peers {
  readonly folder: string;
  /** Starts a gateway and resolves with its address. */
  serve(config: object): Promise<string>;
  /** How a client starts the gateway of the folder on pipes, with a configuration if there is none yet. */
  gateway(config?: object): Command;
  /** Connects the client of the revisions before to a program or to an address. */
  connect(to: Command | string): Promise<Client>;
  /** What the Inspector prints, given a target and a method as its user does. */
  inspect(target: readonly string[], ...method: readonly string[]): Promise<unknown>;
}

export function createPeers(): Peers {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-foreign-')));
  const env = { ...ENVIRONMENT, HOME: folder };
  const open: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const one of open.reverse()) await one.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    folder,
    async serve(config) {
      const served = await serveCrib(folder, config);
      open.push(served);
      return served.url;
    },
    gateway(config) {
      if (config !== undefined) writeFileSync(join(folder, 'toolcrib.json'), JSON.stringify(config));
      return { command: process.execPath, args: [MAIN, 'serve', '--stdio'], cwd: folder, env };
    },
    async connect(to) {
      const client = new Client({ name: 'foreign', version: '1' });
      await client.connect(transportTo(to) as Parameters<Client['connect']>[0]); // its types disagree on undefined
      open.push(client);
      return client;
    },
    async inspect(target, ...method) {
      const args = [INSPECTOR, '--cli', ...target, ...method];
      const inspecting = promisify(execFile)(process.execPath, args, { env, cwd: folder });
      inspecting.child.stdin?.end();
      return JSON.parse((await inspecting).stdout);
    },
  };
}

function transportTo(to: Command | string): StreamableHTTPClientTransport | StdioClientTransport {
  if (typeof to === 'string') return new StreamableHTTPClientTransport(new URL(to));
  return new StdioClientTransport({ ...to, args: [...to.args], env: { ...to.env }, stderr: 'ignore' });
}
