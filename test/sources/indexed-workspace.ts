import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/core/ports/crib-context.ts';
import type { StoredIndex, StoredIndexes } from '../../src/core/ports/store.ts';
import type { LiveSource } from '../../src/core/source.ts';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { type FilesOptions, files } from '../../src/sources/files.ts';

/** Files from this size on have an index. */
const LARGE_BYTES = 1_000_000;

/** A store of indexes that can be looked into. */
export interface IndexShelf extends StoredIndexes {
  readonly kept: Map<string, StoredIndex>;
  /** What was asked for and put, in order. */
  readonly log: string[];
  /** The file that is put next. */
  nextPut(): Promise<string>;
}

export function createShelf(): IndexShelf {
  const kept = new Map<string, StoredIndex>();
  const log: string[] = [];
  let put = Promise.withResolvers<string>();
  return {
    kept,
    log,
    nextPut: () => put.promise,
    async get(file) {
      log.push('get');
      return kept.get(file);
    },
    async put(file, index) {
      log.push('put');
      kept.set(file, index);
      put.resolve(file);
      put = Promise.withResolvers();
    },
  };
}

/** A clock whose timers run when a test says so. */
export function createHandClock(): Clock & { runTimers(): void } {
  const timers = new Set<() => void>();
  return {
    now: () => 0,
    setTimer(_delayMs, task) {
      timers.add(task);
      return () => timers.delete(task);
    },
    runTimers() {
      for (const task of [...timers]) {
        timers.delete(task);
        task();
      }
    },
  };
}

/** A started source, what it warned of, and its end. */
export interface Started {
  readonly live: LiveSource;
  readonly warnings: readonly string[];
}

/** Starts the source of one path; without a clock, no timer ever runs. It is closed after the test at the latest. */
export async function startOver(
  path: string,
  options: Partial<FilesOptions> = {},
  clock: Clock = createHandClock(),
): Promise<Started> {
  const warnings: string[] = [];
  const live = await files({ name: 'large', path, watch: false, ...options }).start({
    clock,
    services: {},
    signal: new AbortController().signal,
    warn: (message) => void warnings.push(message),
  });
  onTestFinished(() => live.close());
  return { live, warnings };
}

/** Everything that a reader sees of a source. */
export function lookAt({ live, warnings }: Started): unknown {
  return { specs: live.specs().map(wholeOf), status: live.status(), warnings };
}

/** All of a spec as plain data, how it runs too. */
export function wholeOf(spec: ToolSpec): unknown {
  return { ...spec, [RUN]: { ...spec[RUN] } };
}

/** True for a spec that is parsed at first use. */
export function isByIndex(spec: ToolSpec | undefined): boolean {
  return spec !== undefined && Object.getOwnPropertyDescriptor(spec, 'description')?.get !== undefined;
}

/** Lines of a file that is large because of one more entry at its end. */
export function largeText(lines: readonly string[], lineBreak = '\n'): string {
  const padding = { name: 'padding', description: 'x', run: { kind: 'http', url: 'https://x.test/' } };
  const blanks = ' '.repeat(LARGE_BYTES); // a text of that length would be refused
  return [...lines, JSON.stringify(padding).replace('{', `{${blanks}`)].join(lineBreak);
}

/** The line of a tool. */
export function lineOf(name: string, changes: object = {}): string {
  return JSON.stringify({
    name,
    description: `Does ${name}`,
    run: { kind: 'http', url: `https://x.test/${name}` },
    ...changes,
  });
}
