import { equal, match } from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, test, vi } from 'vitest';
import { pythonExecutor } from '../../../src/kinds/python/python-executor.ts';
import { createPythonWorkers } from '../../../src/kinds/python/python-workers.ts';
import { idleClock, systemClock } from '../../../src/system/clock.ts';
import { executorContract } from '../../../src/testing/index.ts';
import { hasPython, PYTHON } from './worker-pool.ts';

const folder = mkdtempSync(join(tmpdir(), 'toolcrib-python-contract-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const begun = join(folder, 'begun');
let pid = 0;
const SECRET = 'a-secret-of-the-contract';

writeFileSync(
  join(folder, 'tools.py'),
  `
import asyncio, os, time
def echo(text): return text
async def later(text): return [text]
def fails(): raise ValueError("no")
def vanishes(): os._exit(4)
def hangs():
    with open("begun", "w") as file: file.write(str(os.getpid()))
    while True: time.sleep(1000)
async def waits():
    with open("begun", "w") as file: file.write(str(os.getpid()))
    try: await asyncio.sleep(1000)
    finally: open("ended", "w").close()
def floods():
    while True: yield "x" * 100_000
`,
);

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

const settings = { interpreter: PYTHON };
const run = (name: string) => ({ kind: 'python', module: 'tools', function: name, folder });
const create = () =>
  pythonExecutor(
    createPythonWorkers({
      settings: () => settings,
      interpreter: () => PYTHON,
      environment: async () => ({ PATH: process.env.PATH ?? '', KEY: SECRET }),
      clock: systemClock,
      idleClock,
    }),
  );

describe.skipIf(!hasPython).each(['hangs', 'waits'])(
  'the Python executor, with a function that %s (needs python3)',
  (hang) => {
    const contract = executorContract({
      create,
      works: [
        {
          run: run('echo'),
          input: { text: 'a' },
          expect: ({ content }) => equal(JSON.stringify(content), '[{"type":"text","text":"a"}]'),
        },
        { run: run('later'), input: { text: 'b' }, expect: ({ data }) => equal(JSON.stringify(data), '["b"]') },
      ],
      fails: [
        { run: run('fails'), expect: (result) => match(JSON.stringify(result), /tool_error.*ValueError: no/) },
        { run: run('vanishes'), expect: (result) => match(JSON.stringify(result), /unknown_outcome/) },
        { run: run('nothing'), expect: (result) => match(JSON.stringify(result), /unavailable/) },
      ],
      hangs: {
        run: run(hang),
        async begun() {
          await vi.waitUntil(() => existsSync(begun) && readFileSync(begun, 'utf8') !== '', {
            timeout: 30_000,
            interval: 5,
          });
          pid = Number(readFileSync(begun, 'utf8'));
          rmSync(begun);
          rmSync(join(folder, 'ended'), { force: true });
        },
        // The process of async functions goes on, so that the function itself has to say that it has ended.
        isGone: () => (hang === 'waits' ? existsSync(join(folder, 'ended')) : !isAlive(pid)),
      },
      floods: { run: run('floods') },
      badRuns: [
        { what: 'no function', run: { kind: 'python', module: 'tools', folder } },
        { what: 'a call for a function', run: run('echo()') },
        { what: 'no folder', run: { kind: 'python', module: 'tools', function: 'echo' } },
      ],
      unspeakable: [SECRET, folder],
    });
    for (const { name, run: keep } of contract) test(name, keep);
  },
);
