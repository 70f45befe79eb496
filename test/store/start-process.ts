import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** A process of ours under test. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** Lines of its output so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said this many lines. */
  said(count: number): Promise<void>;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Where processes of another user keep what was compiled: they cannot write where those of this one do. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/toolcrib-others');

function asUser(user: number) {
  mkdirSync(COMPILED, { recursive: true });
  chmodSync(COMPILED, 0o777);
  return { uid: user, gid: user, env: { ...process.env, NODE_COMPILE_CACHE: COMPILED } };
}

/** Runs a file of test/store/processes, no longer than the test. */
export function startProcess(script: URL, args: readonly string[], user?: number): StartedProcess {
  const child = spawn(process.execPath, [script.pathname, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(user !== undefined && asUser(user)),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const outputEnded = once(output, 'close');
  return {
    child,
    lines,
    said: async (count) => {
      while (lines.length < count) await Promise.race([once(output, 'line'), outputEnded.then(() => failed(lines))]);
    },
    ended: once(child, 'exit').then(async ([code, signal]) => {
      await outputEnded;
      return code ?? signal;
    }),
  };
}

function failed(lines: readonly string[]): never {
  throw new Error(`the process ended after saying ${JSON.stringify(lines)}`);
}
