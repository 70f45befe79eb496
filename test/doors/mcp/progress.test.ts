import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveStdio } from '../../../src/doors/mcp/serve-stdio.ts';
import type { ToolCall, ToolInput } from '../../../src/index.ts';
import { manualClock } from '../../crib/manual-clock.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';
import { cribWith, serverOf } from '../../kinds/mcp/upstream.ts';
import { createWorkshop, MAIN, SURROUNDINGS, type Workshop } from '../cli/workshop.ts';

const RUNS = 25;
const PROGRESS = 'notifications/progress';

function openWorkshop(): Workshop {
  const workshop = createWorkshop({
    'toolcrib.yaml': JSON.stringify({ sources: { up: { mcp: serverOf('tells-progress.ts') } } }),
  });
  onTestFinished(() => workshop.remove());
  return workshop;
}

const commandOf = ({ folder }: Workshop) => ({
  command: process.execPath,
  args: [MAIN, 'serve', '--stdio'],
  cwd: folder,
  env: { ...(SURROUNDINGS as Record<string, string>), HOME: folder }, // all of them are there
  stderr: 'ignore' as const,
});

/** Calls the tool, and returns what was told on the way. */
type Tell = (apart: boolean) => Promise<readonly number[]>;

const modern = async (workshop: Workshop): Promise<Tell> => {
  const client = new Client({ name: 'modern', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StdioClientTransport(commandOf(workshop)));
  onTestFinished(() => client.close());
  return async (apart) => {
    const told: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }) => void told.push(progress);
    await client.callTool({ name: 'up_tell', arguments: { apart } }, { onprogress });
    return told;
  };
};

const legacy = async (workshop: Workshop): Promise<Tell> => {
  const client = new LegacyClient({ name: 'legacy', version: '1' });
  await client.connect(new LegacyTransport(commandOf(workshop)));
  onTestFinished(() => client.close());
  return async (apart) => {
    const told: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }) => void told.push(progress);
    await client.callTool({ name: 'up_tell', arguments: { apart } }, undefined, { onprogress });
    return told;
  };
};

describe.each([
  ['a client of the newest revision', modern],
  ['an older client', legacy],
])('%s over stdio', (_, connect) => {
  it.each([
    ['in one chunk with the result', false],
    ['in chunks of their own', true],
  ])('gets the last progress: %s', async (__, apart) => {
    const tell = await connect(openWorkshop());
    for (let run = 0; run < RUNS; run++) expect(await tell(apart), `run ${run}`).toEqual([1, 2, 3]);
  });

  it('gets the last progress if it is attached to a server', async () => {
    const workshop = openWorkshop();
    const serving = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
      cwd: workshop.folder,
      env: { ...SURROUNDINGS, HOME: workshop.folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(async () => {
      if (serving.kill()) await once(serving, 'exit');
    });
    for await (const chunk of serving.stderr) if (String(chunk).includes('Paste this')) break;
    const tell = await connect(workshop);
    for (let run = 0; run < RUNS; run++) expect(await tell(run % 2 === 0), `run ${run}`).toEqual([1, 2, 3]);
  });
});

it.each([
  ['in one chunk with the result', false],
  ['in chunks of their own', true],
])('a caller of the library gets the last progress of a server: %s', async (_, apart) => {
  const crib = await cribWith({ up: { mcp: serverOf('tells-progress.ts') } });
  const chest = await crib.open();
  for (let run = 0; run < RUNS; run++) {
    const told: unknown[] = [];
    const result = await chest.call('up_tell', { apart }, { onProgress: (progress) => told.push(progress) });
    expect(result.ok).toBe(true);
    expect(told, `run ${run}`).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })));
  }
});

it('an older client that answers no ping still gets its answer, after the progress', async () => {
  const crib = await cribOf(folderWith({}), {
    tools: [
      {
        name: 'tell',
        description: 'Tell how far it has come',
        run: (_: unknown, call: ToolCall) => {
          call.report(1);
          return 'told';
        },
      } as ToolInput,
    ],
  });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const clock = manualClock();
  const lines: string[] = [];
  createInterface({ input: stdout }).on('line', (line) => lines.push(line));
  const { close } = await serveStdio(crib, { caller: {}, version: '1', stdin, stdout, clock, warn: () => undefined });
  onTestFinished(close);
  const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'mute', version: '1' } };
  send({ id: 1, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'tell', arguments: {}, _meta: { progressToken: 'p' } } });
  await vi.waitFor(() => expect(lines.map((line) => JSON.parse(line).method).slice(1)).toEqual([PROGRESS, 'ping']));
  expect(clock.count()).toBe(1);
  clock.advance(1000);
  await vi.waitFor(() => expect(JSON.parse(lines[3] ?? '{}')).toMatchObject({ id: 2, result: { content: [{}] } }));
});
