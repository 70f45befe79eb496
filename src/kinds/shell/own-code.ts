import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { readTemplate } from '../../specs/template.ts';
import { isCodeVariable } from './caller-code.ts';
import { interpreterOf, isShell, STARTERS } from './interpreters.ts';
import type { ShellPorts } from './shell-kind.ts';
import type { ShellRun } from './shell-run.ts';
import { rootsOf } from './surroundings.ts';
import { isInside } from './trace-path.ts';

const SCRIPT = /\.([cm]?[jt]sx?|pyz?|sh|bash|zsh|rb|php|pl|lua|jar|wasm)$/i;

/** True for the file name of a script. */
export function isScriptName(path: string): boolean {
  return SCRIPT.test(path);
}

/**
 * The files that a command runs as code: its program and those that it starts, if they are paths, scripts of
 * interpreters, and what its variables name. Files that it works on are not included.
 */
export function codeOf(run: ShellRun, spec: ToolSpec, { settings, folder }: Pick<ShellPorts, 'settings' | 'folder'>) {
  const words = run.command.flat().map(literalOf);
  const [base = folder] = rootsOf(run, settings(spec.source), folder).map(({ path }) => path);
  const place = resolve(base, literalOf(run.cwd ?? '') ?? '');
  const [program = ''] = words;
  const scripts = words.flatMap((word, index) => scriptsAfter(nameOf(word), words.slice(index + 1)));
  const started = words.flatMap((word, index) => startedBy(nameOf(word), words.slice(index + 1)));
  const paths = [...(program.includes('/') ? [program] : []), ...scripts, ...started].map((path) =>
    resolve(place, path),
  );
  const named = words.flatMap((word = '') => word.split(/[\s"'`;|&<>()=]+/)).filter((word) => word.includes('/'));
  paths.push(...named.map((path) => resolve(place, path)).filter(isProgramFile)); // also what shell code starts
  const env = Object.fromEntries(Object.entries(run.env ?? {}).map(([name, text]) => [name, literalOf(String(text))]));
  return [...new Set([...paths, ...namedInVariables(env, { base: place, around: folder, isCode: isCodeVariable })])];
}

/** Programs that start the one after their options, assignments and times. */
const RUNNERS =
  /^(env|timeout|nice|ionice|nohup|setsid|stdbuf|time|xargs|sudo|doas|chrt|taskset|prlimit|uvx?|poetry|npx|bunx?|deno|pnpm|yarn)$/;
const BEFORE_PROGRAM = /^([-+].*|\w+=.*|[\d.]+[smhd]?|run|exec|x|test|serve)$/;

/** The program that a runner starts, if it is a path or a script, whether or not it exists. */
function startedBy(name: string, words: readonly (string | undefined)[]): readonly string[] {
  if (!RUNNERS.test(name)) return [];
  const word = words.find((one) => one === undefined || !BEFORE_PROGRAM.test(one));
  return word !== undefined && (word.includes('/') || isScriptName(word)) ? [word] : [];
}

function isProgramFile(path: string): boolean {
  try {
    if (/^\/(usr\/)?s?bin\//.test(path) || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not accessible, or no path
  }
}

/** The way in which an interpreter names its script, if it is not code in the command itself. */
interface ScriptOptions {
  /** Options before code, which takes the place of a script. */
  readonly code: RegExp;
  /** Options before a value. */
  readonly values?: RegExp;
  /** Options before a script. */
  readonly files?: RegExp;
  readonly isFirstCode?: boolean;
}

const OF_SHELL: ScriptOptions = { code: /^-[a-z]*c$/i, values: /^([-+]\w*[oO]|--(rcfile|init-file))$/ };
const OF_JAVA: ScriptOptions = { code: /^-m$/, values: /^(-cp|-classpath|--class-path|-p|--module-path)$/ };

function optionsOf(name: string): ScriptOptions | undefined {
  if (isShell(name)) return OF_SHELL;
  if (name === 'java') return OF_JAVA;
  return STARTERS.test(name) ? undefined : interpreterOf(name);
}

/** The scripts that an interpreter loads, up to its own script. */
function scriptsAfter(name: string, words: readonly (string | undefined)[]): readonly string[] {
  const options = optionsOf(name);
  const found: string[] = [];
  for (let index = 0; options !== undefined && index < words.length; index++) {
    const word = words[index];
    if (word === undefined || options.code.test(word) || word === '-m') return found;
    if (!/^[-+]/.test(word)) return options.isFirstCode === true || /[\s;|&]/.test(word) ? found : [...found, word];
    const isFile = options.files?.test(word) === true;
    const glued = word.slice(word.indexOf('=') + 1);
    const value = glued !== word ? glued : isFile || options.values?.test(word) === true ? words[++index] : undefined;
    if (value !== undefined && (isFile || value.includes('/') || isScriptName(value))) found.push(value);
    if (isFile) return found;
  }
  return found;
}

function nameOf(word: string | undefined): string {
  return word?.split('/').at(-1) ?? '';
}

/** The text without its escapes, or undefined if it contains a placeholder. */
function literalOf(text: string): string | undefined {
  const { parts } = readTemplate(text);
  return parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
}

/** Variables of the crib itself that decide what code its programs load. */
const OWN_CODE_VARIABLE =
  /^(NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP|BASH_ENV|LD_PRELOAD|LD_LIBRARY_PATH|RUBYLIB|RUBYOPT|PERL5LIB|PERL5OPT)$/;

/** How variables are read. */
interface VariablePlace {
  /** Base of relative paths. */
  readonly base: string;
  /** The folder of the configuration. */
  readonly around: string;
  /** True for variables that decide what code runs; default those of the crib itself. */
  readonly isCode?: (name: string) => boolean;
}

/** The paths in such variables, except folders of the system, and folders that contain `around`: those are work folders. */
export function namedInVariables(
  env: Readonly<Record<string, unknown>>,
  { base, around, isCode = (name) => OWN_CODE_VARIABLE.test(name) }: VariablePlace,
): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => isCode(name) && typeof value === 'string')
    .flatMap(([, value]) => String(value).split(/[\s=:,"'|;]+/))
    .filter((text) => text !== '' && !/^(-|\/\/)/.test(text) && (text.includes('/') || text.startsWith('.')))
    .map((text) => resolve(base, text))
    .filter((path) => !isInside(around, path) && !/^\/(usr\/)?s?bin(\/|$)/.test(path));
}
