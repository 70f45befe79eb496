import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/doors/cli/main.ts');

/** A copy of the fixed crib, with the HTTP server that its tools ask. */
export interface RecordedCrib {
  readonly folder: string;
  /** Environment of every process that uses it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the command line as a process of its own. */
  run(args: readonly string[], options?: { readonly input?: string }): Promise<Ran>;
  /** A process that runs command lines one after the other. */
  commandLine(): CommandLine;
  /** Starts `toolcrib serve` and waits until it listens. */
  serve(...args: readonly string[]): Promise<Serving>;
  /** Says messages to `toolcrib serve --stdio`, each after the answer to the one before, and returns the answers. */
  converse(messages: readonly Message[]): Promise<readonly unknown[]>;
  /** Replaces what differs between two runs: times, ids, paths, ports. */
  mask(text: string): string;
  close(): Promise<void>;
}

interface Ran {
  readonly stdout: string;
  /** Exit code, stdout and stderr as one masked text. */
  readonly recording: string;
}

export interface CommandLine {
  run(args: readonly string[]): Promise<Ran>;
  end(): Promise<void>;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Message = Readonly<Record<string, unknown>>;

export interface Serving {
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** The operator token of every run. */
const TOKEN = 'operator-token-of-the-recordings';

export async function openRecordedCrib(): Promise<RecordedCrib> {
  const town = await startTown();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-recorded-')));
  cpSync(join(import.meta.dirname, 'crib'), folder, { recursive: true });
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.yaml'),
  )) {
    const file = join(folder, path);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('TOWN_PORT', String(town.port)));
  }
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/toolcrib-cli'),
    TOOLCRIB_OPERATOR_TOKEN: TOKEN,
    TOWN_KEY: 'key-of-the-town',
  };
  const mask = (value: string) => maskText(value, { folder, port: town.port });
  const toRecording = (args: readonly string[], { code, stdout, stderr }: Ended) => {
    const parts = [`$ toolcrib ${args.join(' ')}`, `exit ${code}`, '--- stdout', stdout, '--- stderr', stderr];
    return mask(parts.map((part) => `${part.trimEnd()}\n`).join(''));
  };
  const start = (args: readonly string[]) => spawn(process.execPath, [MAIN, ...args], { cwd: folder, env });

  return {
    folder,
    env,
    mask,
    async run(args, { input = '' } = {}) {
      const child = start(args);
      child.stdin.on('error', () => {}); // it may end without reading
      child.stdin.end(input);
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return { stdout, recording: toRecording(args, { code: await ended, stdout, stderr }) };
    },
    commandLine() {
      const child = fork(join(import.meta.dirname, 'command-line-process.ts'), {
        cwd: folder,
        env,
        stdio: [...IPC_ONLY],
      });
      const gone = lost(child);
      return {
        async run(args) {
          child.send(args);
          const [ended]: Ended[] = await Promise.race([once(child, 'message'), gone]);
          if (ended === undefined) throw new Error('The process of the command line said nothing.');
          return { stdout: ended.stdout, recording: toRecording(args, ended) };
        },
        async end() {
          child.kill();
          await gone.catch(() => {});
        },
      };
    },
    async serve(...args) {
      const child = start(['serve', '--port', '0', ...args]);
      const ended = new Promise((resolve) => child.on('close', resolve));
      const listening = Promise.withResolvers<string>();
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (part: string) => {
        said += part;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (url !== undefined) listening.resolve(url);
      });
      void ended.then(() => listening.reject(new Error(`serve has ended: ${said}`)));
      return {
        url: await listening.promise,
        token: TOKEN,
        async stop() {
          child.kill();
          await ended;
        },
      };
    },
    async converse(messages) {
      const child = start(['serve', '--stdio']);
      const ended = new Promise((resolve) => child.on('close', resolve));
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const heard: unknown[] = [];
      for (const message of messages) {
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
        if ('id' in message) heard.push(JSON.parse((await answers.next()).value ?? ''));
      }
      child.stdin.end();
      await ended;
      return heard;
    },
    async close() {
      await town.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const IPC_ONLY = ['ignore', 'ignore', 'inherit', 'ipc'] as const;

async function lost(child: ChildProcess): Promise<never> {
  child.setMaxListeners(0); // each command line waits for its answer
  const [code] = await once(child, 'exit');
  throw new Error(`The process of the command line has ended with ${code}.`);
}

/** The HTTP server that tools of the crib ask. */
async function startTown() {
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    if (url === '/hangup') return request.socket.destroy();
    if (method === 'DELETE') return response.writeHead(204).end();
    if (url.endsWith('/nowhere')) return response.writeHead(404, JSON_TYPE).end('{"error":"no such town"}');
    response.writeHead(200, JSON_TYPE);
    if (url.startsWith('/towns')) return response.end('{"towns":["harbour","hilltop"]}');
    return response.end(JSON.stringify({ weather: 'fog', key: headers['x-key'] === 'key-of-the-town' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

/** What differs between two runs, and what stands in its place; in this order. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, '<time>'],
  [/\btck_[0-9a-z]{10}_[0-9a-z]{39}/g, '<key>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}\b/g, '<approval>'],
  [/\b[0-9a-f]{24,64}\b/g, '<hash>'],
  [/"(rows|sealed|number|count)": ?\d+/g, '"$1": "<number>"'],
  [/\bin \d+ ms\b/g, 'in <number> ms'],
  [/(?<="id": ?"|\brevoke |^)[0-9a-hjkmnp-tv-z]{10}(?="| \("|$| --)/gm, '<key id>'],
  [/\bcli:[\w.-]+/g, 'cli:<user>'],
  [/MCowBQYDK2VwAyEA[A-Za-z0-9+/=]+/g, '<public key>'],
  [/\b1[6-9]\d{11}\b/g, '"<milliseconds>"'],
  [/"(durationMs|msPerQuery|uptimeMs|retryAfterMs|p50Ms|p95Ms|p99Ms|bytes)": ?\d+(\.\d+)?/g, '"$1": "<number>"'],
  [/(score\\?": ?0\.\d\d)\d+/g, '$1'],
  [/"signature": ?"[^"]+"/g, '"signature": "<signature>"'],
  [/("chains": \[\n {4}\{[\s\S]*?\n {4}\})(,\n {4}\{[\s\S]*?\n {4}\})*/g, '$1'], // one for each process that ran at the same time
  [/\br_[\w-]{16}/g, '<result>'],
  [/^retry-after: \d+/gm, 'retry-after: <number>'],
  [/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:<port>'],
];

function maskText(value: string, { folder, port }: { readonly folder: string; readonly port: number }): string {
  const placed = value
    .replaceAll(folder, '<folder>')
    .replaceAll(ROOT, '<package>')
    .replaceAll(`:${port}`, ':<town>')
    .replaceAll(VERSION, '<version>')
    .replaceAll(process.versions.node, '<node>');
  return MASKS.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), placed);
}
