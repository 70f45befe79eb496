/**
 * Loaded before the command line by `--import`. Counts the moments before and after each call that reads or writes
 * files, speaks to a thread or prints, and sends this process a SIGINT at the one that INTERRUPT_AT numbers.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import threads from 'node:worker_threads';

type Work = (this: unknown, ...values: unknown[]) => unknown;

const { writeFileSync } = fs;
const HERE = process.cwd();
const { INTERRUPT_AT: at, MOMENTS_FILE: countFile } = process.env;
let moments = 0;

function pass(): void {
  if (String(moments++) === at) process.kill(process.pid, 'SIGINT');
}

/** Modules of the program itself are read, too: what counts is what happens in the working directory. */
function isHere(value: unknown): boolean {
  const path = value instanceof URL ? value.pathname : value;
  return typeof path !== 'string' || resolve(path).startsWith(HERE);
}

/** The moments of a call; of one that answers later, its end is a moment, too. */
function watched(work: Work): Work {
  return function watchedCall(...values) {
    if (!isHere(values[0])) return work.apply(this, values);
    pass();
    const answer = work.apply(this, values);
    pass();
    return answer instanceof Promise ? answer.finally(pass) : answer;
  };
}

function watch(owner: object, names: readonly string[]): void {
  const methods = owner as Record<string, Work>; // named below
  for (const name of names) if (typeof methods[name] === 'function') methods[name] = watched(methods[name]);
}

const NAMES = Object.keys(fs.promises);
watch(fs, [...NAMES.map((name) => `${name}Sync`), 'existsSync']);
watch(fs.promises, NAMES);
watch(threads.Worker.prototype, ['postMessage', 'emit']);
watch(process.stdout, ['write']);
syncBuiltinESMExports();

if (countFile !== undefined) process.on('exit', () => writeFileSync(countFile, String(moments)));
