import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, printTable } from './measure.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 31;

/** How long the command line takes to start, beside a Node that does nothing. Rounds take turns, so that a noisy moment hits all alike. */
export async function benchCli(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  try {
    writeFileSync(
      join(folder, 'toolcrib.yaml'),
      'sources:\n  local: { files: ./tools.yaml }\nprofiles:\n  default: {}\n',
    );
    writeFileSync(
      join(folder, 'tools.yaml'),
      `tools:\n${Array.from({ length: 10 }, (_, index) => specOf(index)).join('')}`,
    );
    const env = { XDG_CACHE_HOME: join(folder, 'cache') };
    const [bare = 0, help = 0, list = 0, fresh = 0] = timeProcesses(folder, [
      { args: ['-e', '0'], env },
      { args: [entry(), '--help'], env },
      { args: [entry(), 'list'], env },
      { args: [entry(), 'list'], env: { NODE_DISABLE_COMPILE_CACHE: '1' } },
    ]);
    printTable('Start of the command line', [
      ['node -e 0', `${bare.toFixed(0)} ms`, ''],
      ['toolcrib --help', `${help.toFixed(0)} ms`, `+${(help - bare).toFixed(0)} ms`],
      ['toolcrib list, ten tools in YAML', `${list.toFixed(0)} ms`, `+${(list - bare).toFixed(0)} ms`],
      ['the same, without compiled code kept', `${fresh.toFixed(0)} ms`, `+${(fresh - bare).toFixed(0)} ms`],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The built command, as the package names it. */
export function entry(): string {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin?: { toolcrib?: string } }; // our own
  if (bin?.toolcrib === undefined) throw new Error('package.json names no bin "toolcrib"');
  return join(ROOT, bin.toolcrib);
}

interface Started {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function timeProcesses(cwd: string, commands: readonly Started[]): readonly number[] {
  const times = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { args, env }] of commands.entries()) {
      const begin = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd,
        encoding: 'utf8',
        env: { ...process.env, ...env },
      });
      times[index]?.push(performance.now() - begin);
      if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
    }
  }
  return times.map(median);
}

function specOf(index: number): string {
  return `  - name: read_${index}
    description: Read the file number ${index} of the workspace
    input: { type: object, properties: { path: { type: string } }, required: [path], additionalProperties: false }
    run: { kind: shell, command: ["cat", "--", "{path}"] }
    effects: { readOnly: true }
    tags: [files, read]
`;
}
