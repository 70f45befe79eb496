import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib } from '../src/index.ts';
import { findSandbox } from '../src/kinds/shell/sandbox.ts';
import { childEnvironment } from '../src/system/processes/child-environment.ts';
import { printTable, takeTurns } from './measure.ts';

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
    const medians = await takeTurns(contenders.map(checked), { rounds: ROUNDS, warmUp: WARM_UP });
    const [first = Number.NaN] = medians;
    printTable('One call of /bin/echo, median', [
      ['', 'ms', 'of spawn'],
      ...contenders.map(({ name }, index) => {
        const microseconds = medians[index] ?? Number.NaN;
        return [name, (microseconds / 1000).toFixed(2), `${(microseconds / first).toFixed(2)} x`];
      }),
      ...(held === undefined ? [['toolcrib, in a sandbox', '-', 'there is no bubblewrap here']] : []),
    ]);
  } finally {
    await bare.close();
    await held?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws for a contender that does not do what it is measured for. */
function checked({ name, run }: Contender): () => Promise<void> {
  return async () => {
    const said = await run('a few words');
    if (said !== 'a few words\n') throw new Error(`${name} said ${JSON.stringify(said)}`);
  };
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
