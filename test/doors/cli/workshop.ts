import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The entry of the command line, as users have it: `test/bundle-command-line.ts` makes it anew before each run. */
export const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');

/** What every process is given. What was compiled of the command line is kept between processes. */
export const SURROUNDINGS = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/toolcrib-cli'),
};

/** What a process said and how it ended. */
interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder inside the workshop's. */
  readonly cwd?: string;
}

/** A folder with files in which the real command line runs. */
export interface Workshop {
  readonly folder: string;
  write(path: string, content: string): void;
  start(args: readonly string[], options?: RunOptions): ChildProcessWithoutNullStreams;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** The JSON that a command prints. */
  json(args: readonly string[]): Promise<unknown>;
  remove(): void;
}

export function createWorkshop(files: Readonly<Record<string, string>> = {}): Workshop {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-cli-')));
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const [path, content] of Object.entries(files)) write(path, content);

  const start: Workshop['start'] = (args, { env = {}, cwd = '.' } = {}) =>
    spawn(process.execPath, [MAIN, ...args], {
      cwd: join(folder, cwd),
      env: { ...SURROUNDINGS, HOME: folder, ...env },
    });
  const run: Workshop['run'] = async (args, options = {}) => {
    const child = start(args, options);
    child.stdin.on('error', () => {}); // it may end without reading
    child.stdin.end(options.input ?? '');
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, stdout, stderr };
  };
  return {
    folder,
    write,
    start,
    run,
    async json(args) {
      const { stdout, stderr } = await run([...args, '--json']);
      if (stdout === '') throw new Error(`nothing was printed; ${stderr}`);
      return JSON.parse(stdout);
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}
