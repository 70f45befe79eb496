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
import { createPathReader, MAX_PATH } from './paths-in-text.ts';
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
  refused,
  refusedCode,
  requireNoState,
  textsIn,
  WORD_ENDS,
} from './state-arguments.ts';
import { cureOf, modeOf, rootsKeyOf, rootsOf } from './surroundings.ts';

/** Inputs for preparing one call. */
export interface Preparation {
  readonly call: ToolCall;
  readonly run: ShellRun;
  readonly plan: CommandPlan;
  readonly ports: ShellPorts;
  findSandbox(): Promise<FoundSandbox>;
}

/** A call resolved for this machine. */
export interface ResolvedCall {
  readonly sandbox: Sandbox | undefined;
  readonly folders: AllowedFolders;
  readonly cwd: string;
  /** The arguments with all paths resolved. */
  readonly input: JsonObject;
}

/** A folder that is private to each sandbox. */
export const OWN_FOLDER = '/tmp';

/** Resolves a call without side effects. Throws if it must not run. */
export async function resolveCall(preparation: Preparation): Promise<ResolvedCall> {
  const { call, run, plan, ports } = preparation;
  const sandbox = await requireSandbox(preparation);
  const roots = rootsOf(run, ports.settings(call.spec.source), ports.folder);
  // The default working folder.
  const base = roots[0]?.path ?? (sandbox === undefined ? ports.folder : OWN_FOLDER);
  const needsFolders = sandbox !== undefined || plan.pathNames.size > 0 || plan.cwd !== undefined;
  const folders = findFolders(needsFolders ? roots : [], ports.hidden());
  const opensMore = rootsKeyOf(run);
  const use = { folders, intent: intentOf(call), isSandboxed: sandbox !== undefined, opensMore };
  fillArguments(plan, call.input); // checks the raw arguments before paths are resolved
  const { cwd, input } = needsFolders
    ? resolveFolders(preparation, { ...use, base: realpathSync.native(base), spend: createWork(call.input) })
    : { cwd: base, input: call.input };
  if (sandbox === undefined) {
    const spend = createWork(call.input);
    const bare = {
      plan,
      given: call.input,
      filled: input,
      cwd,
      spend,
      pathsIn: createPathReader(spend),
      ...use,
    };
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
  // With `preferred`, a command must not lose its sandbox because the machine is busy or bubblewrap was removed.
  if (found.mayPass)
    throw new ToolcribError('no_sandbox', `its sandbox cannot be created at the moment: ${found.reason}`);
  if (mode === 'preferred') return undefined;
  const cure = cureOf(run, settings);
  throw new ToolcribError('no_sandbox', `it requires a sandbox, but none is available: ${found.reason}; ${cure}`);
}

/** A text that a program may join to a folder. */
interface Piece {
  readonly name: string;
  readonly path: string;
  /** False for a word of a longer text, and for a text that the program only reads or gets as a whole path. */
  readonly mayBeWritten: boolean;
}

/** A folder that an argument names, possibly relative to another one. */
interface NamedFolder {
  readonly path: string;
  readonly mayBeWritten: boolean;
}

/** The cost of matching a pattern, compared to inspecting a name. */
const MATCH = 300;

/**
 * A program may join one argument to a folder that another one names: tar -C FOLDER NAME. So no argument may lead from
 * such a folder to a private or protected path of the crib, nor may several in sequence.
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
  for (const base of own) known.delete(base); // arguments were checked from there
  // Folders found on the way are checked in turn: iterating a map includes entries added meanwhile.
  for (const [path, folder] of known)
    for (const piece of relative) {
      call.spend(1);
      if (!isThere(piece, path)) continue;
      call.spend(isPattern(piece.path) ? MATCH : 1);
      requireHarmless(piece, folder, call);
      note(piece, path, piece.mayBeWritten && folder.mayBeWritten);
    }
}

/** Most texts are not paths. Only a text that climbs, or starts with an existing name, can lead to a new place. */
function isThere({ path }: Piece, base: string): boolean {
  return isAbsolute(path) || climbs(path) || isPattern(path) || existsSync(join(base, path.split('/', 1)[0] ?? ''));
}

function requireHarmless(piece: Piece, folder: NamedFolder, { folders, intent, spend }: BareCall): void {
  const { name, path } = piece;
  const from = { cwd: folder.path, spend };
  const { hidden, kept, fixed } = folders;
  const isState = leadsToState(path, from, kept);
  if (isState || mayMatch(path, from, [...hidden.folders, ...hidden.files])) throw refused(name);
  const mayWrite = intent !== 'read' && piece.mayBeWritten && folder.mayBeWritten;
  if (mayWrite && leadsTo(path, from, fixed)) throw refusedCode(name);
}

/** All texts that may be joined. In long texts only paths that climb count. */
function piecesOf({ plan, given, filled, pathsIn }: BareCall): readonly Piece[] {
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
