import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { didYouMean } from '../../core/read-options.ts';
import { beginningOf, withoutEnd, withoutTerminalCodes } from '../../core/visible-text.ts';
import { isNetworkTrouble } from '../../system/processes/network-trouble.ts';
import type { ChildEnd } from '../../system/processes/start-child.ts';
import type { ServerCommand } from './child-transport.ts';
import { isRunner } from './server-environment.ts';

/** Describes how a server ended or why it could not be started, with a cure if one is known. `said` is its output. */
export function describeEnd(end: ChildEnd, server: ServerCommand, said: string): string {
  const { command, cwd } = server;
  // If the folder is missing, the system reports a missing program.
  if (end.kind === 'failed' && cwd !== undefined && !existsSync(cwd)) return `its folder (cwd) "${cwd}" does not exist`;
  if (end.kind === 'failed') return describeUnstarted(command, end.reason);
  const how = `"${command}" ended with ${end.signal ?? `exit code ${end.code}`}`;
  return `${how}${quoteError(said)}${npxCure(server, said)}${networkHint(server, said)}`;
}

/** A hint for a server that cannot reach the network, to append to a message; empty otherwise. */
export function networkHint({ notGiven = '' }: ServerCommand, said: string): string {
  return notGiven !== '' && isNetworkTrouble(said) ? `; ${notGiven}` : '';
}

/** Programs that usually start servers, and the product that contains each. */
const BROUGHT_BY: Readonly<Record<string, string>> = {
  ...{ npx: 'Node.js', npm: 'Node.js', node: 'Node.js', bunx: 'Bun', bun: 'Bun', deno: 'Deno' },
  ...{ uvx: 'uv', uv: 'uv', pipx: 'pipx', python: 'Python', python3: 'Python', docker: 'Docker', podman: 'Podman' },
};

function describeUnstarted(command: string, reason: string): string {
  if (reason === 'EACCES') return `"${command}" cannot be run: ${reason}; it is not executable, or is a folder`;
  if (reason !== 'ENOENT') return `"${command}" cannot be run: ${reason}`;
  const missing = `program "${command}" not found`;
  if (/\s/.test(command)) return `${missing}; put only the program into command, and its arguments into args`;
  if (/[\\/]/.test(command)) return `${missing}; correct its path`;
  const bringer = Object.hasOwn(BROUGHT_BY, command) ? BROUGHT_BY[command] : undefined;
  if (bringer !== undefined) return `${missing}; install ${bringer}, or write the full path of ${command}`;
  return `${missing} in PATH; install it, or write its full path.${didYouMean(command, Object.keys(BROUGHT_BY))}`;
}

const LONGEST_QUOTE = 300;

/** The line that says why a program failed; the lines after it, such as a stack trace, say less. */
function quoteError(said: string): string {
  const lines = linesOf(said);
  const error = npmErrorIn(lines) ?? errorIn(lines);
  if (error !== undefined) return `; it said: ${beginningOf(error, LONGEST_QUOTE)}`;
  const last = lines.findLast((line) => !NOISE.test(line))?.trim() ?? '';
  return last === '' ? '' : `; its last output: ${beginningOf(last, LONGEST_QUOTE)}`;
}

const NPM_LINE = /^npm (?:ERR!|error) (.*)$/;
/** Detail lines that npm prints around the actual error message. */
const NPM_DETAIL = /^(errno|syscall|path|dest|file|notsup|cwd|command|signal|enoent$|\d{3}$|A complete log|Note that)/;

function npmErrorIn(lines: readonly string[]): string | undefined {
  const said = lines.flatMap((line) => NPM_LINE.exec(line)?.[1]?.trim() ?? []).filter(Boolean);
  const code = said.find((text) => /^code [A-Z\d]+$/.test(text));
  const sentence = said.find((text) => !text.startsWith('code ') && !NPM_DETAIL.test(text));
  return said.length === 0 ? undefined : ['npm error', code?.slice('code '.length), sentence].filter(Boolean).join(' ');
}

/** First line of an error of Node, Python, Go, Rust, uv and most others; stack frames do not match, since they are indented. */
const ERROR_LINE =
  /^(Uncaught )?[\w$.]*(Error|Exception)( \[\w+\])?: .|^(error|fatal|panic)\b.{0,40}:|^thread .* panicked|^ *× /i;
const NOISE = /^\s*$|^Node\.js v\d|^\s+at |^[\s{}()[\]^~|,;]*$|^npm (notice|warn|ERR!|error)\b|^\s+\w+: .*,?$/;

function errorIn(lines: readonly string[]): string | undefined {
  const at = lines.findLastIndex((line) => ERROR_LINE.test(line));
  const line = lines[at]?.trim();
  if (line === undefined || !line.endsWith(':')) return line?.replace(/^× /, '');
  const next = lines.slice(at + 1).find((text) => text.trim() !== '');
  return `${line.replace(/^× /, '')} ${next?.replace(/^[\s╰─▶│]+/, '') ?? ''}`.trim();
}

const IN_QUOTES = /['"](?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^'"\n]*[\\/]_npx[\\/][\da-f]{8,})/;
// From the beginning of a word, so that a long one is looked at once.
const BARE = /(?<![^\s'"()])(?:file:\/\/)?([^\s'"()]*[\\/]_npx[\\/][\da-f]{8,})/;
const HALF_INSTALLED = /\bENOTEMPTY\b|MODULE_NOT_FOUND|Cannot find (module|package)/;

/** The cure for a package that npx installed only partly; npx itself never retries. */
function npxCure({ command, env }: ServerCommand, said: string): string {
  const folder = (IN_QUOTES.exec(said) ?? BARE.exec(said))?.[1];
  if (folder !== undefined && HALF_INSTALLED.test(said))
    return `; the package in the npx cache is incomplete: remove the folder ${folder}, then start the server again`;
  if (!/could not determine executable to run/.test(said)) return '';
  const cache = env.npm_config_cache ?? (env.HOME === undefined ? undefined : join(env.HOME, '.npm'));
  const cached = cache === undefined ? 'the folder _npx of the npm cache' : `the folder ${join(cache, '_npx')}`;
  return `; the package in the cache of ${command} may be incomplete: remove ${cached}, then start the server again. If that does not help, the package has no program of its own name: name one with args ["-y", "-p", PACKAGE, PROGRAM]`;
}

/** A choice, a request for a key or a password: a question even if the line is complete. */
const CHOICE =
  /[([](y|n|yes|no)(\/\w{1,10}){0,4}[)\]]\s*[:?>]?$|\bpress (enter|return|any key)\b.{0,40}$|\b(password|passphrase)( for .{1,80})?:$/i;

/** The question that a program printed last and is waiting on; undefined if there is none. */
export function questionIn(said: string): string | undefined {
  const text = withoutTerminalCodes(said);
  const lines = linesOf(text).filter((line) => line.trim() !== '');
  const last = lines.at(-1)?.trim() ?? '';
  // An unfinished line; programs that only report something do not leave one.
  const isOpen = !/[\r\n]$/.test(text) && /[?:>]$/.test(last) && !/^[[{]/.test(last);
  if (last.length > LONGEST_QUOTE || !(isOpen || CHOICE.test(last))) return undefined;
  return beginningOf(joinLines(lines.slice(-QUOTED_LINES), ' '), LONGEST_QUOTE);
}

/** Explains that a server waits for an answer, with the cure. */
export function describeQuestion(question: string, command: string): string {
  const isNpx = isRunner(command) && /npx|npm/i.test(command);
  const cure = isNpx ? 'put "-y" first in its args' : 'give it the answer in its args or its env';
  return `it waits for an answer to a question: "${question}". Servers run without a terminal; ${cure}`;
}

const QUOTED_LINES = 3;

/** The last lines of output, joined into one; empty if it printed nothing. */
export function lastLines(said: string): string {
  const lines = linesOf(said).filter((line) => line.trim() !== '');
  return joinLines(lines.slice(-QUOTED_LINES), ' | ');
}

function joinLines(lines: readonly string[], between: string): string {
  return lines.map((line) => beginningOf(line.trim(), LONGEST_QUOTE)).join(between);
}

/** A carriage return overwrites a line: only its last version counts. */
function linesOf(said: string): readonly string[] {
  return withoutTerminalCodes(said)
    .split(/\r?\n/)
    .map((line) => withoutEnd(line, /\r/).replace(/^.*\r/, ''));
}
