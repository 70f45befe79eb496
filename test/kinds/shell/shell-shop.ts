import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Chest, type Crib, createCrib, type ToolResult } from '../../../src/index.ts';
import { findSandbox } from '../../../src/kinds/shell/sandbox.ts';
import { write } from '../../crib/workshop.ts';

/** What this machine can hold a program in with. */
export const SANDBOX = await findSandbox(process.env.PATH);

/** In a sandbox, where this machine can make one, and without. The name says which was left out. */
export const MODES: readonly (readonly [where: string, mode: 'required' | 'none'])[] = SANDBOX.ok
  ? [
      ['in a sandbox', 'required'],
      ['without a sandbox', 'none'],
    ]
  : [['without a sandbox', 'none']];

/** A tool of which only how it runs and its arguments matter; those whose names end in `?` may be missing. */
export function shellTool(name: string, properties: Readonly<Record<string, object>>, run: object, rest: object = {}) {
  const entries = Object.entries(properties);
  const required = entries.filter(([key]) => !key.endsWith('?')).map(([key]) => key);
  return {
    name,
    description: name,
    input: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace('?', ''), schema])),
      required,
      additionalProperties: false,
    },
    run: { kind: 'shell', ...run },
    ...rest,
  };
}

/** A tool that runs a few lines of shell without arguments in them. */
export function script(name: string, text: string, rest: object = {}) {
  return shellTool(name, {}, { command: ['sh', '-c', text], ...rest });
}

export const TEXT = { type: 'string' } as const;

export interface Shop {
  readonly crib: Crib;
  readonly chest: Chest;
  /** The folder of the configuration, without links. */
  readonly folder: string;
}

interface ShopOptions {
  readonly tools: readonly object[];
  readonly sandbox?: 'required' | 'preferred' | 'none';
  readonly roots?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly rest?: object;
  /** Where its folder is to lie; a new one if absent. */
  readonly under?: string;
  /** Where its database is; in memory if absent. */
  readonly store?: { readonly url: string };
}

/** A crib with these tools, whose configuration lies in a folder of its own. */
export async function shopWith({
  tools,
  sandbox,
  roots,
  files = {},
  rest = {},
  under,
  store,
}: ShopOptions): Promise<Shop> {
  const folder = under ?? realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-shell-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const shell = { ...(sandbox !== undefined && { sandbox }), ...(roots !== undefined && { roots }) };
  write(folder, { 'toolcrib.json': JSON.stringify({ tools, executors: { shell }, ...rest }), ...files });
  const crib = await createCrib({ configFile: folder, store: store ?? { url: 'memory:' }, watch: false });
  onTestFinished(() => crib.close());
  return { crib, chest: await crib.open(), folder };
}

/** What a result says: its text, or the code and the words of its error. */
export function said(result: ToolResult): string {
  if (result.ok) return result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (result.status === 'waiting') return 'waiting';
  return [result.error.code, result.error.message, ...(result.error.issues ?? []).map(({ message }) => message)].join(
    ': ',
  );
}

/** The ids of processes whose command line holds this text, this one aside. */
export function processesOf(token: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const isAlive = !/\) Z /.test(readFileSync(`/proc/${name}/stat`, 'latin1'));
        return isAlive && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(token);
      } catch {
        return false; // it ended meanwhile
      }
    })
    .map(Number);
}

let slept = 0;

/** A unique number of seconds to sleep: it identifies the processes of a test, which end after it in any case. */
export function uniqueSeconds(): string {
  const seconds = `${10_000 + process.pid}.${++slept}77`;
  onTestFinished(() => {
    for (const pid of processesOf(seconds)) process.kill(pid, 'SIGKILL');
  });
  return seconds;
}

/** Sets PATH for one test: the programs of this machine without these, and others in their place. The file ends with `removePrograms`. */
export function withPrograms(without: readonly string[], instead: Readonly<Record<string, string>> = {}): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-path-'));
  const before = process.env.PATH;
  onTestFinished(() => {
    process.env.PATH = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  write(folder, Object.fromEntries(Object.entries(instead).map(([name, text]) => [`instead/${name}`, text])));
  process.env.PATH = `${join(folder, 'instead')}:${programsWithout(without)}`;
}

/** Folders of links to the programs of this machine, by the names that are left out. A thousand links take half a second, so they are made once. */
const linked = new Map<string, string>();

function programsWithout(names: readonly string[]): string {
  const key = names.join(' ');
  const made = linked.get(key);
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-programs-'));
  const programs = new Map(
    ['/bin', '/usr/bin'].flatMap((place) => readdirSync(place).map((name) => [name, place] as const)),
  );
  for (const [name, place] of programs) if (!names.includes(name)) symlinkSync(join(place, name), join(folder, name));
  linked.set(key, folder);
  return folder;
}

/** Removes what `withPrograms` keeps from test to test. */
export function removePrograms(): void {
  for (const folder of linked.values()) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  linked.clear();
}
