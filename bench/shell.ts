import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib } from '../src/index.ts';
import { childEnvironment } from '../src/runtime/processes/child-environment.ts';
import { findSandbox } from '../src/runtime/shell/sandbox.ts';
import { median, printTable } from './measure.ts';

const ROUNDS = 300;
const WARM_UP = 30;

interface Contender {
  readonly name: string;
  run(text: string): Promise<string>;
}

/** A call of a command through the crib, beside starting the same program directly. */
export async function benchShell(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const { ok: hasSandbox } = await findSandbox(process.env.PATH);
  const bare = await openShell(folder, 'none');
  const held = hasSandbox ? await openShell(folder, 'required') : undefined;
  try {
    const contenders: readonly Contender[] = [
      { name: 'spawn', run: (text) => spawnEcho(text, folder) },
      { name: 'toolcrib, without a sandbox', run: bare.run },
      ...(held === undefined ? [] : [{ name: 'toolcrib, in a sandbox', run: held.run }]),
    ];
    const medians = await timesOf(contenders);
    const [first = Number.NaN] = medians;
    printTable('One call of /bin/echo, median', [
      ['', 'ms', 'of spawn'],
      ...contenders.map(({ name }, index) => {
        const ms = medians[index] ?? Number.NaN;
        return [name, ms.toFixed(2), `${(ms / first).toFixed(2)} x`];
      }),
      ...(held === undefined ? [['toolcrib, in a sandbox', '-', 'there is no bubblewrap here']] : []),
    ]);
  } finally {
    await bare.close();
    await held?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** They take turns, so that a noisy moment hits all alike. */
async function timesOf(contenders: readonly Contender[]): Promise<readonly number[]> {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (const [index, { name, run }] of contenders.entries()) {
      const begin = performance.now();
      const said = await run(`round ${round}`);
      if (said !== `round ${round}\n`) throw new Error(`${name} said ${JSON.stringify(said)}`);
      if (round >= WARM_UP) times[index]?.push(performance.now() - begin);
    }
  }
  return times.map(median);
}

function spawnEcho(text: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/echo', [text], {
      cwd,
      env: childEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

async function openShell(folder: string, sandbox: 'none' | 'required') {
  const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const run = { kind: 'shell', command: ['/bin/echo', '{text}'] };
  const tools = [{ name: 'echo', description: 'Echo', input, run }];
  const config = { tools, executors: { shell: { sandbox, roots: [folder] } } };
  const crib = await createCrib({ config, store: { url: 'memory:' }, watch: false });
  const chest = await crib.open();
  return {
    async run(text: string): Promise<string> {
      const result = await chest.call('echo', { text });
      return result.ok && result.content[0]?.type === 'text' ? result.content[0].text : JSON.stringify(result);
    },
    close: () => crib.close(),
  };
}

if (import.meta.main) await benchShell();
