import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { JsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { namesIn } from '../../specs/template.ts';
import { type AllowedFolders, findFolders } from './allowed-folders.ts';
import { type CommandPlan, fillArguments, templatesOf } from './command-plan.ts';
import { type ArgumentPlace, createWork, findCwd, intentOf, resolvePaths } from './fill-call.ts';
import { isPattern, mayMatch } from './path-patterns.ts';
import type { FoundSandbox, Sandbox } from './sandbox.ts';
import type { ShellPorts } from './shell-kind.ts';
import type { ShellRun } from './shell-run.ts';
import {
  type BareCall,
  filledTexts,
  fixedPathsOf,
  isFolder,
  leadsTo,
  leadsToState,
  MAX_PATH,
  pathsIn,
  refused,
  refusedCode,
  requireNoState,
  textsIn,
  WORD_ENDS,
} from './state-arguments.ts';
import { cureOf, modeOf, rootsKeyOf, rootsOf } from './surroundings.ts';

/** Everything that one call is prepared of. */
export interface Preparation {
  readonly call: ToolCall;
  readonly run: ShellRun;
  readonly plan: CommandPlan;
  readonly ports: ShellPorts;
  findSandbox(): Promise<FoundSandbox>;
}

/** What a call means on this machine. */
export interface ResolvedCall {
  readonly sandbox: Sandbox | undefined;
  readonly folders: AllowedFolders;
  readonly cwd: string;
  /** The arguments with all paths resolved. */
  readonly input: JsonObject;
}

/** A folder that every sandbox has to itself. */
export const OWN_FOLDER = '/tmp';

/** Finds out what a call means, and changes nothing. Throws where it must not be made. */
export async function resolveCall(preparation: Preparation): Promise<ResolvedCall> {
  const { call, run, plan, ports } = preparation;
  const sandbox = await requireSandbox(preparation);
  const roots = rootsOf(run, ports.settings(call.spec.source), ports.folder);
  // Where a command runs that does not say where.
  const base = roots[0]?.path ?? (sandbox === undefined ? ports.folder : OWN_FOLDER);
  const needsFolders = sandbox !== undefined || plan.pathNames.size > 0 || plan.cwd !== undefined;
  const folders = findFolders(needsFolders ? roots : [], ports.hidden());
  const opensMore = rootsKeyOf(run);
  const use = { folders, intent: intentOf(call), isSandboxed: sandbox !== undefined, opensMore };
  fillArguments(plan, call.input); // judged as they came, before paths are resolved
  const { cwd, input } = needsFolders
    ? resolveFolders(preparation, { ...use, base: realpathSync.native(base), spend: createWork(call.input) })
    : { cwd: base, input: call.input };
  if (sandbox === undefined) {
    const bare = { plan, given: call.input, filled: input, cwd, spend: createWork(call.input), ...use };
    requireNoState(bare);
    requireNoJoin(bare);
  }
  return { sandbox, folders, cwd, input };
}

function resolveFolders({ call: { input }, plan }: Preparation, place: ArgumentPlace) {
  const cwd = plan.cwd === undefined ? place.base : findCwd(plan.cwd, input, place);
  return { cwd, input: resolvePaths(plan, input, { ...place, cwd }) };
}

async function requireSandbox({ call, run, ports, findSandbox }: Preparation): Promise<Sandbox | undefined> {
  const settings = ports.settings(call.spec.source);
  const mode = modeOf(run, settings);
  if (mode === 'none') return undefined;
  const found = await findSandbox();
  if (found.ok) return found.sandbox;
  // Whoever prefers one does not lose it because the machine is busy, or bubblewrap went away.
  if (found.mayPass) throw new ToolcribError('no_sandbox', `no sandbox can be made just now: ${found.reason}`);
  if (mode === 'preferred') return undefined;
  const cure = cureOf(run, settings);
  throw new ToolcribError(
    'no_sandbox',
    `it may only run in a sandbox, and there is none here: ${found.reason}; ${cure}`,
  );
}

/** A text that a program may join to a folder. */
interface Piece {
  readonly name: string;
  readonly path: string;
  /** False for a word of a longer text, and for what the program only reads or gets as a whole path. */
  readonly mayBeWritten: boolean;
}

/** A folder that an argument names, maybe from another one. */
interface NamedFolder {
  readonly path: string;
  readonly mayBeWritten: boolean;
}

/** What trying a pattern costs, beside a look at a name. */
const MATCH = 300;

/**
 * A program may join one argument to a folder that another one names: tar -C FOLDER NAME. So no argument may lead to what
 * the crib keeps for itself, or to what decides what it runs, from there either; nor along several of them.
 */
function requireNoJoin(call: BareCall): void {
  const pieces = piecesOf(call);
  const relative = pieces.filter(({ path }) => !isAbsolute(path));
  const own = [call.cwd, ...fixedPathsOf(call.plan, call.cwd).filter(isFolder)];
  const known = new Map<string, NamedFolder>();
  const note = (piece: Piece, base: string, mayBeWritten: boolean): void => {
    const path = resolve(base, piece.path);
    const isNew = known.get(path)?.mayBeWritten !== true && (mayBeWritten || !known.has(path));
    if (isNew && isFolder(path)) known.set(path, { path, mayBeWritten });
  };
  for (const piece of pieces)
    for (const base of isAbsolute(piece.path) ? [call.cwd] : own) {
      call.spend(1);
      if (isThere(piece, base)) note(piece, base, piece.mayBeWritten);
    }
  for (const base of own) known.delete(base); // arguments have been judged from there
  // What is found on the way is looked at in turn: a map hands out what is added to it.
  for (const [path, folder] of known)
    for (const piece of relative) {
      call.spend(1);
      if (!isThere(piece, path)) continue;
      call.spend(isPattern(piece.path) ? MATCH : 1);
      requireHarmless(piece, folder, call);
      note(piece, path, piece.mayBeWritten && folder.mayBeWritten);
    }
}

/** Most texts are not paths: only what climbs, or begins with something that is there, leads anywhere that was not named. */
function isThere({ path }: Piece, base: string): boolean {
  return isAbsolute(path) || climbs(path) || isPattern(path) || existsSync(join(base, path.split('/', 1)[0] ?? ''));
}

function requireHarmless(piece: Piece, folder: NamedFolder, { folders, intent, spend }: BareCall): void {
  const { name, path } = piece;
  const from = { cwd: folder.path, spend };
  const { hidden, kept, fixed } = folders;
  const isState = leadsToState(path, from, kept);
  if (isState || mayMatch(path, folder.path, [...hidden.folders, ...hidden.files])) throw refused(name);
  const mayWrite = intent !== 'read' && piece.mayBeWritten && folder.mayBeWritten;
  if (mayWrite && leadsTo(path, from, fixed)) throw refusedCode(name);
}

/** Every text of the arguments that may be joined. Of long ones only what climbs counts. */
function piecesOf({ plan, given, filled }: BareCall): readonly Piece[] {
  const told = new Set(templatesOf(plan).flatMap((template) => (template === plan.stdin ? [] : namesIn(template))));
  const whole = Object.entries(given).flatMap(([name, value]) => textsIn(value).map((text) => [name, text] as const));
  const pieces = [...whole, ...filledTexts(plan, filled)].flatMap(([name, text]) => {
    const mayBeWritten = told.has(name) && !plan.readNames.has(name);
    const paths = text.length > MAX_PATH ? pathsIn(text).filter(climbs) : pathsIn(text);
    const words = text
      .split(WORD_ENDS)
      .filter((word) => word.length <= MAX_PATH && climbs(word) && /[^/.~]/.test(word));
    return [
      ...paths.map((path) => ({ name, path, mayBeWritten })),
      ...words.map((path) => ({ name, path, mayBeWritten: false })),
    ];
  });
  return [...new Map(pieces.map((piece) => [`${piece.mayBeWritten} ${piece.path}`, piece])).values()];
}

function climbs(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}
