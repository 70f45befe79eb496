import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib } from 'toolcrib';
import { compare, printTable, takeTurns } from './measure.ts';

const TOOLS = `
def add(a, b): return a + b
async def add_async(a, b): return a + b
`;
/** The least that it takes to call a function of Python: a line of JSON there, a line of JSON back. */
const BARE = `
import json, sys
from tools import add
out = sys.stdout.buffer
for line in iter(sys.stdin.buffer.readline, b""):
    call = json.loads(line)
    out.write(json.dumps({"id": call["id"], "ok": add(**call["args"])}).encode() + b"\\n")
    out.flush()
`;
/** Less than that: what comes goes back as it is. */
const ECHO = `
import sys
out = sys.stdout.buffer
for line in iter(sys.stdin.buffer.readline, b""):
    out.write(line)
    out.flush()
`;
const input = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };

/** A warm Python function, beside the same call over a bare pipe, unguarded and one at a time. */
export async function benchPython(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-python-'));
  writeFileSync(join(folder, 'tools.py'), TOOLS);
  const tools = ['add', 'add_async'].map((name) => ({
    name,
    description: 'Add two numbers',
    input,
    run: { kind: 'python', module: join(folder, 'tools.py'), function: name },
  }));
  const crib = await createCrib({ config: { tools }, store: { url: 'memory:' }, watch: false });
  crib.extensions.remove('audit'); // measured with the store
  const chest = await crib.open(undefined, { id: 'alice' });
  const peers = [ECHO, BARE].map((code) => spawn('python3', ['-c', code], { cwd: folder, stdio: 'pipe' }));
  const [echo, bare] = peers.map(createPeer);
  const call = { id: 1, module: 'tools', function: 'add', args: { a: 1, b: 2 } };
  const callOf = async (name: string) => {
    const result = await chest.call(name, { a: 1, b: 2 });
    if (!result.ok || result.data !== 3) throw new Error(`${name} answered ${JSON.stringify(result)}`);
  };
  const contenders = [
    { name: 'bare pipe', note: 'the call as a line of JSON, there and back', run: () => bare?.(call) },
    { name: 'a function', note: 'validated, with a timeout', run: () => callOf('add') },
    { name: 'an async function', note: 'on the event loop', run: () => callOf('add_async') },
    { name: 'echo', note: 'nothing is called', run: () => echo?.(call) },
  ];
  const warmUp = 10_000;
  for (const { run } of contenders) for (let count = 0; count < warmUp; count++) await run();
  const batches = await compare(contenders);
  const turns = await takeTurns(
    contenders.map(({ run }) => run),
    { rounds: 4000, warmUp: 100 },
  );
  const [base = Number.NaN] = batches.map(({ microseconds }) => microseconds);
  const [baseInTurns = Number.NaN] = turns;
  printTable('A call of a warm Python function, median; each in a loop of its own, and all in turns', [
    ['', 'us', 'of the bare pipe', 'in turns', 'of the bare pipe', ''],
    ...contenders.map(({ name, note }, index) => {
      const alone = batches[index]?.microseconds ?? Number.NaN;
      const inTurns = turns[index] ?? Number.NaN;
      const times = (value: number, of: number) => `${(value / of).toFixed(2)} times`;
      return [name, alone.toFixed(1), times(alone, base), inTurns.toFixed(1), times(inTurns, baseInTurns), note];
    }),
  ]);
  for (const peer of peers) peer.kill();
  await crib.close();
  rmSync(folder, { recursive: true, force: true });
}

function createPeer({ stdin, stdout }: ChildProcess): (call: object) => Promise<unknown> {
  let answer: (line: unknown) => void = () => {};
  stdout?.on('data', (chunk: Buffer) => answer(JSON.parse(chunk.toString())));
  return (call) =>
    new Promise((resolve) => {
      answer = resolve;
      stdin?.write(`${JSON.stringify(call)}\n`);
    });
}
