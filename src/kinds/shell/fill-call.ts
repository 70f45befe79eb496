import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { namesIn, type Template } from '../../specs/template.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { type CommandPlan, templatesOf } from './command-plan.ts';
import { fillText, isGiven, roundsOf, textOf, UnfitArgument } from './fill-command.ts';
import { allowPath } from './sandbox/allowed-folders.ts';
import { type PathUse, type SpendWork, whyNotUsed } from './sandbox/write-access.ts';

/** Where relative paths begin, a folder that a command may use; and how it uses paths. */
export interface Place extends PathUse {
  readonly base: string;
  readonly spend: SpendWork;
}

/** The folder that a command runs in, which must be one that it may use. */
export function findCwd(cwd: Template, input: JsonObject, { base, folders }: Place): string {
  const path = allowPath(fillText(cwd, input), base, folders)?.named;
  if (path !== undefined) return existsSync(path) ? realpathSync.native(path) : path; // what is not there is told when it is started
  const [name] = namesIn(cwd);
  if (name !== undefined) throw outside(name);
  throw new ToolcribError('outside_folder', 'the folder it runs in is not one that it may use');
}

/** The arguments of a call with all paths resolved; throws for one that leads out of the folders. */
export function resolvePaths(
  plan: CommandPlan,
  input: JsonObject,
  { base, cwd, spend, ...use }: Place & { readonly cwd: string },
): JsonObject {
  const inCwd = plan.cwd === undefined ? [] : namesIn(plan.cwd);
  const given = [...plan.pathNames].filter((name) => isGiven(input, name));
  const resolved = given.map((name): readonly [string, JsonValue] => {
    const own = isOnlyBeginning(name, plan) ? { ...use, intent: 'read' as const } : useOf(name, plan, use);
    const place = { ...own, spend, base: inCwd.includes(name) ? base : cwd };
    const value = input[name];
    const items = Array.isArray(value) ? value : [value];
    const paths = items.map((path) => requirePath({ [name]: path }, name, place));
    return [name, Array.isArray(value) ? paths : (paths[0] ?? '')];
  });
  const filled = { ...input, ...Object.fromEntries(resolved) };
  requireWholePaths(plan, filled, { base: cwd, spend, ...use });
  return filled;
}

function useOf(name: string, { readNames }: CommandPlan, use: PathUse): PathUse {
  return readNames.has(name) ? { ...use, intent: 'read' } : use;
}

/** True for a path that is never more than the beginning of a longer one, which is judged instead. */
function isOnlyBeginning(name: string, plan: CommandPlan): boolean {
  const holding = templatesOf(plan).filter((template) => namesIn(template).includes(name));
  return holding.every((template) => template !== plan.cwd && longerPath(template, plan.pathNames) !== undefined);
}

/** A path may be the beginning of a longer one: `{dir}/{name}`, `{path}.txt`. That one must lie in a folder as well. */
function requireWholePaths(plan: CommandPlan, input: JsonObject, { base, spend, ...use }: Place): void {
  const variables = plan.env.map(([, template]) => ({ isOptional: true, templates: [template] }));
  for (const group of [...plan.groups, ...variables]) {
    const longer = group.templates.flatMap((template) => longerPath(template, plan.pathNames) ?? []);
    for (const values of longer.length === 0 ? [] : roundsOf(group, input))
      for (const path of longer) {
        const text = fillText(path, values);
        const names = namesIn(path);
        const name = names.at(-1) ?? '';
        // Behind a link `..` leads elsewhere than it seems.
        if (text.split('/').includes('..')) throw outside(name);
        requireUsable(text, name, { base, spend, ...useOf(names[0] ?? '', plan, use) });
      }
  }
}

/** A template from its first path on, if that is not the end of it. */
function longerPath({ parts, mistakes }: Template, pathNames: ReadonlySet<string>): Template | undefined {
  const begin = parts.findIndex((part) => typeof part === 'object' && 'name' in part && pathNames.has(part.name));
  return begin === -1 || begin === parts.length - 1 ? undefined : { parts: parts.slice(begin), mistakes };
}

function requirePath(values: JsonObject, name: string, place: Place): string {
  if (typeof values[name] === 'object') throw new UnfitArgument(name, 'is a path, and must be a text');
  const text = textOf(values, name);
  if (text === '') throw new UnfitArgument(name, 'is a path, and may not be empty');
  return requireUsable(text, name, place);
}

function requireUsable(text: string, name: string, { base, spend, ...use }: Place): string {
  spend(2 * (resolve(base, text).split('/').length + text.length / 100));
  const path = allowPath(text, base, use.folders);
  if (path === undefined) throw outside(name);
  const reason = whyNotUsed(path, use);
  if (reason !== undefined) throw new UnfitArgument(name, reason);
  return path.named;
}

/** It says nothing about what is there. */
function outside(name: string): UnfitArgument {
  return new UnfitArgument(name, 'must lie in a folder that this tool may use');
}

/** What a command finds in its environment; a variable whose value may be missing is left out with it. */
export async function fillEnvironment(
  { env }: CommandPlan,
  input: JsonObject,
  secrets: Pick<Secrets, 'fill'>,
): Promise<Readonly<Record<string, string>>> {
  const given = env.filter(([, template]) => namesIn(template).every((name) => isGiven(input, name)));
  const filled = given.map(async ([name, template]) => [name, await fillSecrets(template, input, secrets)] as const);
  return Object.fromEntries(await Promise.all(filled));
}

/** What a command can read; nothing where all of it is missing. */
export async function fillInput(
  { stdin }: CommandPlan,
  input: JsonObject,
  secrets: Pick<Secrets, 'fill'>,
): Promise<string | undefined> {
  if (stdin === undefined || !namesIn(stdin).every((name) => isGiven(input, name))) return undefined;
  return fillSecrets(stdin, input, secrets);
}

/** Secrets go to the child and nobody else. What a caller sends is never read as one. */
function fillSecrets({ parts }: Template, input: JsonObject, secrets: Pick<Secrets, 'fill'>): Promise<string> {
  const secretTemplate = parts.map((part) => {
    if (typeof part === 'string') return part;
    return 'name' in part ? textOf(input, part.name) : part;
  });
  return secrets.fill({ secretTemplate }, { child: true });
}
