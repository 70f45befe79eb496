import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { namesIn, type Template } from '../../specs/template.ts';
import type { AllowedFolders } from './allowed-folders.ts';
import { type CommandPlan, fillText, isGiven, roundsOf, templatesOf, UnfitArgument } from './command-plan.ts';
import { FIXED, type Intent, type SpendWork } from './fill-call.ts';
import { fitsOne, isPattern, mayLead, mayMatch, namesAt } from './path-patterns.ts';
import { MAX_ARGUMENT, MAX_PATH, pathsIn, type ReadPaths, spellingsOf } from './paths-in-text.ts';
import { type Places, type TracedPath, tracePath } from './trace-path.ts';

/** A call that runs without a sandbox. */
export interface BareCall {
  readonly plan: CommandPlan;
  /** Arguments as the caller gave them. */
  readonly given: JsonObject;
  /** Arguments with all paths resolved. */
  readonly filled: JsonObject;
  readonly cwd: string;
  readonly folders: AllowedFolders;
  /** The assumed use of paths by the command. */
  readonly intent: Intent;
  readonly spend: SpendWork;
  readonly pathsIn: ReadPaths;
}

/**
 * Without a sandbox, this check alone protects the crib's private files. So no argument, whatever its name, may name
 * them, lie in them or contain them: alone, as part of an option, or as a `file:` URL.
 */
export function requireNoState(call: BareCall): void {
  // A program may join an argument to a folder that its command names: tar -C FOLDER NAME.
  const own = fixedPathsOf(call.plan, call.cwd).filter(isFolder);
  for (const base of new Set([call.cwd, ...own])) {
    requireNoStateFrom({ ...call, cwd: base });
    if (call.intent !== 'read') requireNoCode({ ...call, cwd: base });
  }
}

/**
 * A program may write to any path that an argument names, whatever its name. Declared paths were already checked. Text
 * for stdin is content, or has many lines: its words are not taken for paths.
 */
function requireNoCode(call: BareCall): void {
  const { plan, given, filled, folders, pathsIn } = call;
  const told = new Set(templatesOf(plan).flatMap((template) => (template === plan.stdin ? [] : namesIn(template))));
  const isJudged = (name: string) => !told.has(name) || plan.pathNames.has(name) || plan.readNames.has(name);
  const whole = Object.entries(given).flatMap(([name, value]) => textsIn(value).map((text) => [name, text] as const));
  const texts = new Map([...whole, ...filledTexts(plan, filled)].map((one) => [one.join('\n'), one]));
  for (const [name, text] of texts.values()) {
    const paths = isJudged(name) ? [] : /[\r\n]/.test(text) ? spellingsOf(text) : pathsIn(text);
    if (paths.some((path) => leadsTo(path, call, folders.fixed))) throw refusedCode(name);
  }
}

/** The paths that the command itself may name, independent of the caller. */
export function fixedPathsOf(plan: CommandPlan, cwd: string): readonly string[] {
  const fixed = templatesOf(plan)
    .filter((template) => template !== plan.stdin && template !== plan.cwd)
    .flatMap(({ parts }) => (parts.every((part) => typeof part === 'string') ? [parts.join('')] : []));
  const texts = fixed.flatMap((text) => [text, text.replace(/^-[A-Za-z]/, '')]);
  return [...new Set(texts.flatMap(pathsIn).map((path) => resolve(cwd, path)))];
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // a program cannot enter it either
  }
}

function requireNoStateFrom(call: BareCall): void {
  const { plan, given, filled, cwd, pathsIn } = call;
  const { hidden, kept } = call.folders;
  const secret = [...hidden.folders, ...hidden.files];
  const leads = (path: string) => leadsToState(path, call, kept);
  const isState = (text: string) => secret.some((path) => text.includes(path)) || pathsIn(text).some(leads);
  // Words and patterns are checked in the raw text only; a resolved path is a single name, whatever it contains.
  const mayLead = (name: string, text: string) => {
    const words = wordsIn(name, text, cwd);
    const patterns = [...pathsIn(text), ...words].filter(isPattern);
    const places = patterns.length === 0 ? [] : [...secret, ...processPlaces()];
    return words.some(leads) || patterns.some((path) => mayMatch(path, call, places));
  };
  for (const [name, value] of Object.entries(given))
    if (textsIn(value).some((text) => isState(text) || mayLead(name, text))) throw refused(name);
  const seen = new Set(Object.values(given).flatMap(textsIn));
  for (const [name, text] of filledTexts(plan, filled)) if (!seen.has(text) && isState(text)) throw refused(name);
}

export function refused(name: string): UnfitArgument {
  return new UnfitArgument(
    name,
    'names, lies in or contains private files of the crib or a process under /proc; tools without a sandbox must not receive such paths',
  );
}

export function refusedCode(name: string): UnfitArgument {
  return new UnfitArgument(name, `leads to ${FIXED}`);
}

export function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(textsIn) : [];
}

/** The filled texts that contain arguments, each from its first part on, from its second, and so on. */
export function filledTexts(plan: CommandPlan, input: JsonObject): readonly (readonly [name: string, text: string])[] {
  const own = new Set(plan.groups.flatMap(({ templates }) => templates));
  const others = templatesOf(plan).filter((template) => !own.has(template) && template !== plan.stdin);
  const groups = [...plan.groups, ...others.map((template) => ({ isOptional: true, templates: [template] }))];
  return groups.flatMap((group) => {
    const concerned = group.templates.filter((template) => namesIn(template).length > 0);
    if (concerned.length === 0 || !concerned.flatMap(namesIn).every((name) => isGiven(input, name))) return [];
    return roundsOf(group, input).flatMap((values) => concerned.flatMap((template) => endsOf(template, values)));
  });
}

function endsOf({ parts, mistakes }: Template, values: JsonObject): readonly (readonly [string, string])[] {
  return parts.flatMap((part, index) => {
    const end = { parts: parts.slice(index), mistakes };
    const name = typeof part === 'object' && 'name' in part ? part.name : namesIn(end)[0];
    return name === undefined ? [] : [[name, fillText(end, values)] as const];
  });
}

export const WORD_ENDS = /[\s\p{Cc}"'`;|&<>()=:@,\\]+/u;

/** Limit of words checked in one text. */
const MANY_WORDS = 5000;

/**
 * The words of a text that may be paths: a program that splits its input (xargs, a shell) reads each word alone, and a
 * text that is too long for an argument can still be read from stdin. A lone slash does not count, since sentences
 * contain it.
 */
function wordsIn(name: string, text: string, cwd: string): readonly string[] {
  // Such programs also remove quotes and backslashes from words.
  const forms = [
    text,
    text.replaceAll(/["'\\]/g, ''),
    ...(/[[{]/.test(text) ? [text.replaceAll(/[[\]{}]/g, ' ')] : []),
  ];
  const words = new Set(forms.flatMap((one) => one.split(WORD_ENDS)));
  if (words.size <= 1 && text.length <= MAX_ARGUMENT) return []; // the whole text was already checked
  const here = new Set(namesAt(cwd));
  const isPath = (word: string) =>
    word.length <= MAX_PATH && /[^/.~]/.test(word) && (/^(\/|[~$][^/]*\/|\.\.?\/)/.test(word) || isHere(word, here));
  const paths = [...words].filter(isPath);
  if (paths.length > MANY_WORDS)
    throw new UnfitArgument(
      name,
      `contains more than ${MANY_WORDS} paths, the limit for tools without a sandbox; pass fewer`,
    );
  return paths.flatMap(spellingsOf);
}

function isHere(word: string, here: ReadonlySet<string>): boolean {
  const first = word.split('/', 1)[0] ?? '';
  if (here.has(first) || word.includes('/../')) return true;
  return isPattern(first) && (word.includes('/') || (mayLead(word) && fitsOne(word, here)));
}

/** Streams of the program itself. */
const OWN_STREAM = /^\/dev\/(stdin|stdout|stderr|fd\/\d+)$/;
const PROCESS = /^\/proc(\/(\d+|self|thread-self)(\/|$)|\/?$)/;

/** The folders of all current processes, since a pattern may match any of them. */
function processPlaces(): readonly string[] {
  return namesAt('/proc')
    .map((name) => `/proc/${name}`)
    .filter((place) => PROCESS.test(place));
}

export function leadsToState(path: string, from: Standpoint, kept: Places): boolean {
  if (path.startsWith('/dev/') && OWN_STREAM.test(resolve(path))) return false;
  return leadsTo(path, from, { ...kept, covers: (place) => PROCESS.test(place) || kept.covers(place) });
}

/** The base of a path, and the work counter. */
type Standpoint = Pick<BareCall, 'cwd' | 'spend'>;

export function leadsTo(path: string, from: Standpoint, places: Places): boolean {
  const { cwd, spend } = from;
  const [first = ''] = path.replace(/^(\.\/+)+/, '').split('/', 1);
  const isThere = isAbsolute(path) || existsSync(join(cwd, first));
  const isDirect = !isAbsolute(path) && !/^\.?$/.test(first) && !CLIMBS.test(path);
  if (isDirect && !isThere && !places.mayStartWith(first, cwd)) return false; // most texts are not paths
  spend(1 + path.length / 100);
  const written = resolve(cwd, path);
  if (places.isNamed(written) || places.liesBelow(written)) return true;
  // If not even the first name exists, only the text itself is checked.
  return isThere && [written, ...realOf(path, from)].some((place) => places.covers(place) || places.liesBelow(place));
}

const CLIMBS = /(^|\/)\.\.(\/|$)/;

function realOf(path: string, { cwd, spend }: Standpoint): readonly string[] {
  const traced = traceOf(path, cwd);
  if (traced === undefined) return []; // a program cannot follow it either
  const { real, links, looks } = traced;
  spend(looks * (1 + links.length));
  return [real, ...links]; // a link under /proc leads a program elsewhere than it leads us
}

function traceOf(path: string, cwd: string): TracedPath | undefined {
  try {
    return tracePath(path, cwd);
  } catch {
    return undefined;
  }
}
