import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from './install-packed.ts';

/** A fenced block of a page: its language, the file it is saved as, and its text. */
interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly code: string;
}

/** A command of a `console` block, and the lines it shows. */
interface Command {
  readonly line: string;
  readonly shown: readonly string[];
}

/** A command, what it printed, and its exit code. */
interface Ran extends Command {
  readonly printed: string;
  readonly code: number;
}

/** Where the blocks of a page run: with these variables besides the usual ones, and Toolcrib installed in this way. */
interface RunOptions {
  readonly variables?: Readonly<Record<string, string>>;
  /** Stands for the database that the reader of a page has. */
  readonly database?: string;
  install(folder: string): unknown;
}

const FENCE = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;
/** The database of a page. */
export const DATABASE = 'postgres://postgres:secret@127.0.0.1:5432/tasks';
/** Stands between the outputs of two commands. */
const MARK = '\u001e';

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  return [...markdown.matchAll(FENCE)].map(([, language = '', file, code = '']) => ({ language, file, code }));
}

/** Titles as GitHub makes anchors of them. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The relative links of a page that lead to no file of the folder, or to no title of the file. */
export function deadLinks(folder: string, page: string): readonly string[] {
  const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.flatMap(([link, path = '', anchor]) => {
    const file = path === '' ? join(folder, page) : join(folder, dirname(page), path);
    if (!file.startsWith(folder) || !existsSync(file)) return [link];
    if (anchor === undefined) return [];
    const titles = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchorOf(title));
    return titles.includes(anchor) ? [] : [link];
  });
}

/**
 * Runs blocks as a reader would, in an empty folder with an empty home: a block with a file name is saved,
 * a `console` block is typed line by line. The ports of the page, 2742 and 2744, are replaced by free ones, and its
 * database by one that is there.
 */
export async function runBlocks(blocks: readonly Block[], options: RunOptions): Promise<readonly Ran[]> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-page-'));
  const [port, another] = [await freePort(), await freePort()];
  const here = (code: string): string =>
    code
      .replaceAll(DATABASE, options.database ?? DATABASE)
      .replaceAll('2742', String(port))
      .replaceAll('2744', String(another));
  await options.install(folder);
  const script: string[] = [];
  const commands: Command[] = [];
  for (const { language, file, code } of blocks) {
    if (file !== undefined) script.push(saving(file, here(code)));
    if (language !== 'console') continue;
    for (const command of commandsOf(here(code))) {
      script.push(`printf '${MARK}'`, typed(command, folder, port), `printf '${MARK}%d${MARK}' $?`);
      commands.push(command);
    }
  }
  const outputs = (await bash(script.join('\n'), folder, options.variables)).split(MARK).slice(1);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return commands.map((command, index) => ({
    ...command,
    printed: outputs[index * 3] ?? '',
    code: Number(outputs[index * 3 + 1]),
  }));
}

/** A command that did not print the lines that its page shows, or failed where it shows none. */
interface Wrong extends Ran {
  readonly missing: readonly string[];
}

/** The commands that did something else than their page shows. */
export function wrongAmong(commands: readonly Ran[]): readonly Wrong[] {
  return commands
    .map((ran) => ({ ...ran, missing: missingLines(ran) }))
    .filter(({ missing, shown, code }) => missing.length > 0 || (shown.length === 0 && code !== 0));
}

/** The shown lines that a command did not print, in order. `…` stands for any text. */
function missingLines({ shown, printed }: Ran): readonly string[] {
  let rest = printed;
  return shown.filter((line) => {
    const found = new RegExp(patternOf(line)).exec(rest);
    if (found !== null) rest = rest.slice(found.index + found[0].length);
    return found === null;
  });
}

function patternOf(line: string): string {
  const words = line.trim().split(/ +/);
  return words
    .map((word) =>
      word
        .split('…')
        .map((part) => part.replaceAll(/[^\w\s]/g, '\\$&'))
        .join('.*'),
    )
    .join(' *');
}

/** Lines that begin with `$ ` are commands, which a final backslash continues; the lines beneath are what they show. */
function commandsOf(code: string): readonly Command[] {
  return code
    .replaceAll(/\\\n\s*/g, '')
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [line = '', ...shown] = part.split('\n');
      return { line, shown: shown.filter((one) => one.trim() !== '') };
    });
}

/** Runs a package of this repository where `npx -y` would download it. */
const NPX = `#!${process.execPath}
const [, , , name, ...words] = process.argv;
const folder = '${join(ROOT, 'node_modules')}/' + name + '/';
const { bin } = require(folder + 'package.json');
const file = folder + (typeof bin === 'string' ? bin : Object.values(bin)[0]);
process.argv.splice(1, Infinity, file, ...words);
import(file);
`;

/**
 * A command as the shell gets it: packages are linked instead of downloaded, and a server in the background is waited
 * for until it prints something. The rows of calls are written behind the calls: they are listed until the first is there.
 */
function typed({ line, shown }: Command, folder: string, port: number): string {
  const packages = /^npm install (.*)$/.exec(line)?.[1]?.split(' ');
  if (packages !== undefined) {
    for (const name of packages) if (name !== 'toolcrib') link(name, folder);
    return 'true';
  }
  const command = line
    .replaceAll('npx toolcrib', 'toolcrib')
    .replaceAll('toolcrib serve', `toolcrib serve --port ${port}`);
  const [first] = shown;
  if (line === 'npx toolcrib calls' && first !== undefined)
    return `for turn in {1..50}; do listed=$({ ${command}\n} 2>&1 </dev/null); grep -Pq '${patternOf(first)}' <<< "$listed" && break; done; printf '%s\\n' "$listed"`;
  if (!command.endsWith('&')) return `{ ${command}\n} 2>&1 </dev/null`;
  return `{ ${command}\n} >server.log 2>&1 </dev/null\nuntil test -s server.log; do kill -0 $! || break; sleep 0.1; done; cat server.log`;
}

function link(name: string, folder: string): void {
  const path = join(folder, 'node_modules', name);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), path);
}

function saving(file: string, code: string): string {
  return `mkdir -p "$(dirname '${file}')"; base64 -d > '${file}' <<< '${Buffer.from(code).toString('base64')}'`;
}

async function bash(script: string, folder: string, variables: RunOptions['variables']): Promise<string> {
  const path = join(folder, '.page.sh');
  writeFileSync(path, `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${script}\n`);
  const bin = `${join(folder, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
  const home = join(folder, '.home');
  writeFileSync(join(folder, 'node_modules/.bin/npx'), NPX, { mode: 0o755 });
  mkdirSync(home);
  const env = { PATH: bin, HOME: home, LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1', ...variables };
  const child = spawn('bash', [path], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return await text(child.stdout);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
