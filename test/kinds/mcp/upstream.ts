import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Crib, type CribOptions, createCrib } from '../../../src/index.ts';

/** The servers of the tests, as `test/bundle-command-line.ts` bundles them. */
const SERVERS = join(import.meta.dirname, '../../../node_modules/.cache/toolcrib-servers');

/** Who of the programs that a test started is alive. */
export interface Presence {
  /** For the environment of those who should tell. */
  readonly path: string;
  pids(): readonly number[];
  /** Resolves when this many have come, those who left again included. */
  arrived(count: number): Promise<void>;
  /** Resolves when no process is left. */
  left(): Promise<void>;
}

/** Notices when programs come and go, without looking: each holds a connection that ends with it. */
export async function watchPresence(): Promise<Presence> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-presence-'));
  const path = join(folder, 'socket');
  const present = new Map<Socket, number>();
  const listeners = new Set<() => void>();
  let arrivals = 0;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      arrivals++;
      present.set(socket, Number(String(data).trim().split(' ')[1]));
      tell();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      present.delete(socket);
      tell();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of present.keys()) socket.destroy();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isSo()) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  return {
    path,
    pids: () => [...present.values()],
    arrived: (count) => until(() => arrivals >= count),
    left: () => until(() => present.size === 0),
  };
}

/** What a source of a configuration says to run one of the servers of the tests. */
export function serverOf(file: string, args: readonly string[] = [], presence?: Presence) {
  return {
    command: process.execPath,
    args: ['--no-warnings', join(SERVERS, file.replace(/\.ts$/, '.mjs')), ...args],
    ...(presence !== undefined && { env: { PRESENCE: presence.path } }),
  };
}

/** The arguments that run a server of the SDK's authors. */
export function realServer(name: string, ...args: readonly string[]) {
  const root = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol');
  return { command: process.execPath, args: [join(root, name, 'dist/index.js'), ...args] };
}

/** A crib with these sources, closed after the test. Nothing outlives it unless a store is named. */
export async function cribWith(sources: object, options: CribOptions & { readonly rest?: object } = {}): Promise<Crib> {
  const { rest, ...given } = options;
  const config = { sources, ...rest } as NonNullable<CribOptions['config']>; // judged when it is read
  const crib = await createCrib({ store: { url: 'memory:' }, config, ...given });
  onTestFinished(() => crib.close());
  return crib;
}

/** The state of one source. */
export function stateOf(crib: Crib, name: string) {
  return crib.sources().find((source) => source.name === name);
}

/** Resolves when the crib tells of a change after which this holds, at once if it does. */
export function untilChanged(crib: Crib, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!isSo()) return;
      stop();
      resolve();
    };
    const stop = crib.onChange(look);
    look();
  });
}

/** The text of a result, or the code of its error. */
export function saidOf(result: { readonly ok: boolean; readonly content?: unknown; readonly error?: unknown }): string {
  const [first] = (result.content ?? []) as readonly { readonly text?: string }[]; // of a ToolResult
  return result.ok ? (first?.text ?? '') : String((result.error as { readonly code?: string } | undefined)?.code); // likewise
}
