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

/** The base of relative paths, and how the command uses paths. */
export interface ArgumentPlace extends PathUse {
  readonly base: string;
  readonly spend: SpendWork;
}

/** The working folder of a command; throws if the command may not use it. */
export function findCwd(cwd: Template, input: JsonObject, place: ArgumentPlace): string {
  const { base, folders } = place;
  const path = allowPath(fillText(cwd, input), base, folders)?.named;
  if (path !== undefined) return existsSync(path) ? realpathSync.native(path) : path; // a missing folder is reported at the start
  const [name] = namesIn(cwd);
  if (name !== undefined) throw outside(name, place);
  throw new ToolcribError('outside_folder', 'its cwd is not in a folder that it may use');
}

/** The arguments of a call with all paths resolved; throws for a path outside the allowed folders. */
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

/** True for a path that is only ever the start of a longer one, which is checked instead. */
function isOnlyBeginning(name: string, plan: CommandPlan): boolean {
  const holding = templatesOf(plan).filter((template) => namesIn(template).includes(name));
  return holding.every((template) => template !== plan.cwd && longerPath(template, plan.pathNames) !== undefined);
}

/** Checks longer paths that start with a path argument: `{dir}/{name}`, `{path}.txt`. They must lie in an allowed folder, too. */
function requireWholePaths(plan: CommandPlan, input: JsonObject, { base, spend, ...use }: ArgumentPlace): void {
  const variables = plan.env.map(([, template]) => ({ isOptional: true, templates: [template] }));
  for (const group of [...plan.groups, ...variables]) {
    const longer = group.templates.flatMap((template) => longerPath(template, plan.pathNames) ?? []);
    for (const values of longer.length === 0 ? [] : roundsOf(group, input))
      for (const path of longer) {
        const text = fillText(path, values);
        const names = namesIn(path);
        const name = names.at(-1) ?? '';
        // After a link, `..` leads elsewhere than it seems.
        if (text.split('/').includes('..')) throw outside(name, use);
        requireUsable(text, name, { base, spend, ...useOf(names[0] ?? '', plan, use) });
      }
  }
}

/** The part of a template from its first path on; undefined if the path is its end. */
function longerPath({ parts, mistakes }: Template, pathNames: ReadonlySet<string>): Template | undefined {
  const begin = parts.findIndex((part) => typeof part === 'object' && 'name' in part && pathNames.has(part.name));
  return begin === -1 || begin === parts.length - 1 ? undefined : { parts: parts.slice(begin), mistakes };
}

function requirePath(values: JsonObject, name: string, place: ArgumentPlace): string {
  if (typeof values[name] === 'object') throw new UnfitArgument(name, 'is a path and must be a string');
  const text = textOf(values, name);
  if (text === '') throw new UnfitArgument(name, 'is a path and must not be empty');
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

/** The message does not reveal whether the path exists. */
function outside(name: string, { folders: { roots }, opensMore }: PathUse): UnfitArgument {
  const shown = roots.slice(0, MANY_ROOTS).map(({ path }) => path);
  const rest = roots.length > shown.length ? ` and ${roots.length - shown.length} more` : '';
  const places = shown.length === 0 ? 'none' : `${shown.join(', ')}${rest}`;
  return new UnfitArgument(
    name,
    `must be in a folder that this tool may use: ${places}; add folders with ${opensMore}`,
  );
}

/** The environment of a command. A variable whose argument is missing is left out. */
export async function fillEnvironment(
  { env }: CommandPlan,
  input: JsonObject,
  secrets: Pick<Secrets, 'fill'>,
): Promise<Readonly<Record<string, string>>> {
  const given = env.filter(([, template]) => namesIn(template).every((name) => isGiven(input, name)));
  const filled = given.map(async ([name, template]) => [name, await fillSecrets(template, input, secrets)] as const);
  return Object.fromEntries(await Promise.all(filled));
}

/** The stdin of a command; undefined if an argument in it is missing. */
export async function fillInput(
  { stdin }: CommandPlan,
  input: JsonObject,
  secrets: Pick<Secrets, 'fill'>,
): Promise<string | undefined> {
  if (stdin === undefined || !namesIn(stdin).every((name) => isGiven(input, name))) return undefined;
  return fillSecrets(stdin, input, secrets);
}

/** Secrets go only to the child. Caller text is never read as a secret. */
function fillSecrets({ parts }: Template, input: JsonObject, secrets: Pick<Secrets, 'fill'>): Promise<string> {
  const secretTemplate = parts.map((part) => {
    if (typeof part === 'string') return part;
    return 'name' in part ? textOf(input, part.name) : part;
  });
  return secrets.fill({ secretTemplate }, { child: true });
}

/** The assumed use of paths by a command. */
export type Intent = 'read' | 'write' | 'unknown';

/**
 * Derives the intent from the effects. If a tool of unknown effects requires approval, it is assumed to write: an
 * approved call must not fail because its folder is read-only.
 */
export function intentOf(call: ToolCall): Intent {
  const { readOnly, destructive } = call.spec.effects;
  if (destructive === true || readOnly === false) return 'write';
  if (readOnly === true) return 'read';
  const isAsked = whyAsk(call.spec) !== undefined || call[FACTS].asks !== undefined;
  return isAsked ? 'write' : 'unknown';
}

/** Rules for the paths of a command. */
interface PathUse {
  readonly folders: AllowedFolders;
  readonly intent: Intent;
  readonly isSandboxed: boolean;
  /** The setting by which the operator allows other folders. */
  readonly opensMore: string;
}

const HELP = 'if the tool only reads, set effects: { readOnly: true } or list the argument under reads';
const ROOTS = `add the folder to sandbox.write of the tool or to executors.shell.roots; ${HELP}`;
/** Completes a sentence about a protected path. */
export const FIXED = `a protected path, which controls what the crib runs and which no tool may write; ${HELP}`;

/** The reason a command may not use an allowed path; undefined if it may. */
function whyNotUsed(path: AllowedPath, { folders, intent, isSandboxed }: PathUse): string | undefined {
  if (intent === 'read') return undefined;
  const names = [path.named, path.target];
  const isFixed = names.some(folders.fixed.covers);
  // Without a sandbox, this check alone keeps the program from writing there.
  if (!isSandboxed && isFixed) return `is ${FIXED}`;
  if (!isSandboxed && names.some(folders.fixed.liesBelow)) return `contains ${FIXED}`;
  if (!isFixed && names.every((name) => isInWritableRoot(name, folders))) return undefined;
  if (intent === 'write') return isFixed ? `is ${FIXED}` : `must be in a folder that this tool may write: ${ROOTS}`;
  return existsSync(path.target)
    ? undefined // in a sandbox it can only be read
    : `does not exist, and this tool may not create it: ${ROOTS}`;
}

/** Counts the cost of checking the arguments of one call, in inspected names; throws above the limit. */
export type SpendWork = (names: number) => void;

/** Limit of inspected names for one call: a fraction of a second. */
const MOST_NAMES = 40_000;

/** Limits the work of one call, since the checks are synchronous and block all other calls. */
export function createWork(given: JsonObject): SpendWork {
  let spent = 0;
  return (names) => {
    spent += names;
    if (spent <= MOST_NAMES) return;
    const sizes = Object.entries(given).map(([name, value]) => [name, JSON.stringify(value).length] as const);
    const [longest = ''] = sizes.toSorted(([, one], [, other]) => other - one)[0] ?? [];
    throw new UnfitArgument(longest, 'names more paths than can be checked in one call; pass fewer');
  };
}
