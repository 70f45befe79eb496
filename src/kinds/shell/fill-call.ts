import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { whyAsk } from '../../core/approval-request.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { namesIn, type Template } from '../../specs/template.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { type AllowedFolders, type AllowedPath, allowPath, isInWritableRoot } from './allowed-folders.ts';
import { type CommandPlan, fillText, isGiven, roundsOf, templatesOf, textOf, UnfitArgument } from './command-plan.ts';

/** Where relative paths begin, a folder that a command may use; and how it uses paths. */
export interface ArgumentPlace extends PathUse {
  readonly base: string;
  readonly spend: SpendWork;
}

/** The folder that a command runs in, which must be one that it may use. */
export function findCwd(cwd: Template, input: JsonObject, place: ArgumentPlace): string {
  const { base, folders } = place;
  const path = allowPath(fillText(cwd, input), base, folders)?.named;
  if (path !== undefined) return existsSync(path) ? realpathSync.native(path) : path; // what is not there is told when it is started
  const [name] = namesIn(cwd);
  if (name !== undefined) throw outside(name, place);
  throw new ToolcribError('outside_folder', 'the folder it runs in is not one that it may use');
}

/** The arguments of a call with all paths resolved; throws for one that leads out of the folders. */
export function resolvePaths(
  plan: CommandPlan,
  input: JsonObject,
  { base, cwd, spend, ...use }: ArgumentPlace & { readonly cwd: string },
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
function requireWholePaths(plan: CommandPlan, input: JsonObject, { base, spend, ...use }: ArgumentPlace): void {
  const variables = plan.env.map(([, template]) => ({ isOptional: true, templates: [template] }));
  for (const group of [...plan.groups, ...variables]) {
    const longer = group.templates.flatMap((template) => longerPath(template, plan.pathNames) ?? []);
    for (const values of longer.length === 0 ? [] : roundsOf(group, input))
      for (const path of longer) {
        const text = fillText(path, values);
        const names = namesIn(path);
        const name = names.at(-1) ?? '';
        // Behind a link `..` leads elsewhere than it seems.
        if (text.split('/').includes('..')) throw outside(name, use);
        requireUsable(text, name, { base, spend, ...useOf(names[0] ?? '', plan, use) });
      }
  }
}

/** A template from its first path on, if that is not the end of it. */
function longerPath({ parts, mistakes }: Template, pathNames: ReadonlySet<string>): Template | undefined {
  const begin = parts.findIndex((part) => typeof part === 'object' && 'name' in part && pathNames.has(part.name));
  return begin === -1 || begin === parts.length - 1 ? undefined : { parts: parts.slice(begin), mistakes };
}

function requirePath(values: JsonObject, name: string, place: ArgumentPlace): string {
  if (typeof values[name] === 'object') throw new UnfitArgument(name, 'is a path, and must be a text');
  const text = textOf(values, name);
  if (text === '') throw new UnfitArgument(name, 'is a path, and may not be empty');
  return requireUsable(text, name, place);
}

function requireUsable(text: string, name: string, { base, spend, ...use }: ArgumentPlace): string {
  spend(2 * (resolve(base, text).split('/').length + text.length / 100));
  const path = allowPath(text, base, use.folders);
  if (path === undefined) throw outside(name, use);
  const reason = whyNotUsed(path, use);
  if (reason !== undefined) throw new UnfitArgument(name, reason);
  return path.named;
}

const MANY_ROOTS = 5;

/** It says nothing about what is there. */
function outside(name: string, { folders: { roots }, opensMore }: PathUse): UnfitArgument {
  const shown = roots.slice(0, MANY_ROOTS).map(({ path }) => path);
  const rest = roots.length > shown.length ? ` and ${roots.length - shown.length} more` : '';
  const places = shown.length === 0 ? 'there is none' : `${shown.join(', ')}${rest}`;
  return new UnfitArgument(name, `must lie in a folder that this tool may use: ${places}; ${opensMore} opens more`);
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

/** What a command is taken to do with the paths that it is given. */
export type Intent = 'read' | 'write' | 'unknown';

/**
 * By what is known of its effects. Where a person is asked about a tool of unknown effects, it is taken to write: after a
 * yes it must not fail because nothing can be written there.
 */
export function intentOf(call: ToolCall): Intent {
  const { readOnly, destructive } = call.spec.effects;
  if (destructive === true || readOnly === false) return 'write';
  if (readOnly === true) return 'read';
  const isAsked = whyAsk(call.spec) !== undefined || call[FACTS].asks !== undefined;
  return isAsked ? 'write' : 'unknown';
}

/** How a command uses its paths. */
interface PathUse {
  readonly folders: AllowedFolders;
  readonly intent: Intent;
  readonly isSandboxed: boolean;
  /** The key by which the owner lets it use other folders. */
  readonly opensMore: string;
}

const HELP = 'a tool that only reads says effects: { readOnly: true }, or names the argument under reads';
const ROOTS = `name a folder under sandbox.write of the tool or executors.shell.roots; ${HELP}`;
/** Ends a sentence about a path that is protected. */
export const FIXED = `decides what the crib runs, and no tool may write it; ${HELP}`;

/** Why a command may not be given a path that it may read; undefined where it may. */
function whyNotUsed(path: AllowedPath, { folders, intent, isSandboxed }: PathUse): string | undefined {
  if (intent === 'read') return undefined;
  const names = [path.named, path.target];
  const isFixed = names.some(folders.fixed.covers);
  // Outside of a sandbox nothing else keeps the program from writing there.
  if (!isSandboxed && isFixed) return FIXED;
  if (!isSandboxed && names.some(folders.fixed.liesBelow)) return `contains what ${FIXED}`;
  if (!isFixed && names.every((name) => isInWritableRoot(name, folders))) return undefined;
  if (intent === 'write') return isFixed ? FIXED : `must lie in a folder that this tool may write: ${ROOTS}`;
  return existsSync(path.target)
    ? undefined // it may be read, and in a sandbox no more than that
    : `is not there, and this tool may make nothing there: ${ROOTS}`;
}

/** Counts what judging the arguments of one call costs, in names that are looked at; throws where it is too much. */
export type SpendWork = (names: number) => void;

/** So many names are looked at for one call: a fraction of a second. */
const MOST_NAMES = 40_000;

/** Bounds the work of one call, since judging holds up all other calls. */
export function createWork(given: JsonObject): SpendWork {
  let spent = 0;
  return (names) => {
    spent += names;
    if (spent <= MOST_NAMES) return;
    const sizes = Object.entries(given).map(([name, value]) => [name, JSON.stringify(value).length] as const);
    const [longest = ''] = sizes.toSorted(([, one], [, other]) => other - one)[0] ?? [];
    throw new UnfitArgument(longest, 'names more folders and paths than can be judged in one call; give fewer');
  };
}
