import { resolve } from 'node:path';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { readTemplate } from '../../specs/template.ts';
import type { ShellPorts } from './shell-kind.ts';
import type { ShellRun } from './shell-run.ts';
import { rootsOf } from './surroundings.ts';

const SCRIPT = /\.([cm]?[jt]sx?|pyz?|sh|bash|zsh|rb|php|pl|lua|jar|wasm)$/i;
const SHELL = /^(r?bash|sh|dash|ash|zsh|m?ksh|fish)$/;
const INTERPRETER =
  /^(python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|perl[\d.]*|ruby[\d.]*|lua[\d.]*|php[\d.]*|java)$/;

/** True for the file name of a script. */
export function isScriptName(path: string): boolean {
  return SCRIPT.test(path);
}

/** The files that a command runs as code: its program, if it is a path, and the script of an interpreter. Files that it works on are not included. */
export function codeOf(run: ShellRun, spec: ToolSpec, { settings, folder }: Pick<ShellPorts, 'settings' | 'folder'>) {
  const words = run.command.flat().map(literalOf);
  const [base = folder] = rootsOf(run, settings(spec.source), folder).map(({ path }) => path);
  const place = resolve(base, literalOf(run.cwd ?? '') ?? '');
  const scripts = words.flatMap((word, index) => {
    if (word === undefined || word.startsWith('-')) return [];
    if (index === 0) return word.includes('/') ? [word] : [];
    return isScriptOf(words.slice(0, index)) && !/[\s;|&]/.test(word) ? [word] : [];
  });
  return scripts.map((path) => resolve(place, path));
}

/** True after an interpreter and its options: the next word is its script. Inline code names no file. */
function isScriptOf(before: readonly (string | undefined)[]): boolean {
  const names = before.map((word) => word?.split('/').at(-1) ?? '');
  const at = names.findLastIndex((name) => SHELL.test(name) || INTERPRETER.test(name));
  const inline = SHELL.test(names[at] ?? '') ? /^-[a-z]*c/i : /^(-[a-z]*[cepmr]|--eval|--print)$/i;
  return at !== -1 && before.slice(at + 1).every((word) => word?.startsWith('-') === true && !inline.test(word));
}

/** The text without its escapes, or undefined if it contains a placeholder. */
function literalOf(text: string): string | undefined {
  const { parts } = readTemplate(text);
  return parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
}
