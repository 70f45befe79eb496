import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { serverOf, watchPresence } from './mcp/upstream.ts';

const PYTHON = `
import asyncio, time

def sleepy(ms: int) -> int:
    time.sleep(ms / 1000)
    return ms

async def dreamy(ms: int) -> int:
    await asyncio.sleep(ms / 1000)
    return ms
`;

/** Processes of this test: their environment names its folder. */
function processesOf(mark: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'latin1').includes(mark);
      } catch {
        return false; // gone by now
      }
    });
}

/** Waits that end when they are called off. */
async function slowServer() {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const ms = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('ms'));
    setTimeout(() => response.setHeader('content-type', 'application/json').end(String(ms)), ms);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, sockets };
}

it.runIf(process.platform === 'linux')(
  '200 concurrent calls across kinds with cancellations: every call ends, no process, socket or temp file is left',
  async () => {
    const { port, sockets } = await slowServer();
    const presence = await watchPresence();
    const input = { type: 'object', properties: { ms: { type: 'integer' } }, required: ['ms'] };
    const tool = (name: string, run: object) => ({
      name,
      description: name,
      input,
      run,
      policy: { timeoutMs: 30_000 },
    });
    const folder = folderWith({
      'naps.py': PYTHON,
      'naps.js': 'export const nap = ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, ms));\n',
      'package.json': '{"type":"module"}',
    });
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const tools = [
      tool('shell_nap', { kind: 'shell', command: ['sh', '-c', 'sleep "0.$1"', 'nap', '{ms}'] }),
      tool('http_nap', { kind: 'http', url: `http://127.0.0.1:${port}/?ms={ms}` }),
      tool('python_nap', { kind: 'python', module: 'naps', function: 'sleepy', folder }),
      tool('async_nap', { kind: 'python', module: 'naps', function: 'dreamy', folder }),
      tool('function_nap', { kind: 'function', module: join(folder, 'naps.js'), export: 'nap' }),
    ];
    const before = { ...process.env };
    process.env.TMPDIR = temporary;
    onTestFinished(() => {
      process.env.TMPDIR = before.TMPDIR ?? '';
      if (before.TMPDIR === undefined) delete process.env.TMPDIR;
    });
    const crib = await createCrib({
      config: {
        tools,
        sources: { server: { mcp: serverOf('rough.ts', [], presence) } },
        executors: { http: { allowPrivate: [`127.0.0.1:${port}`] }, shell: { roots: [folder] } },
      } as never, // as a file has it
      store: { url: 'memory:' },
    });
    const chest = await crib.open();
    const names = [...tools.map(({ name }) => name), 'server_late'];
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const isCancelled = index % 3 === 0;
        const controller = new AbortController();
        const call = chest.call(
          names[index % names.length] ?? '',
          { ms: (index * 7) % 90 },
          { signal: controller.signal },
        );
        if (isCancelled) setTimeout(() => controller.abort(), index % 40);
        const result = await call;
        return result.ok ? 'done' : result.status === 'failed' ? result.error.code : result.status;
      }),
    );
    expect(outcomes).toHaveLength(200);
    expect(new Set(outcomes)).toEqual(new Set(['done', 'cancelled']));
    expect(processesOf(temporary)).not.toEqual([]); // those that stay warm
    await crib.close();
    await expect.poll(() => sockets.size).toBe(0);
    await expect.poll(() => processesOf(temporary)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
    await presence.left();
  },
);
