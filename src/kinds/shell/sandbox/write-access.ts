import { existsSync } from 'node:fs';
import { whyAsk } from '../../../core/approval.ts';
import type { JsonObject } from '../../../core/json.ts';
import { FACTS, type ToolCall } from '../../../core/tool-call.ts';
import { UnfitArgument } from '../fill-command.ts';
import { type AllowedFolders, type AllowedPath, isInWritableRoot } from './allowed-folders.ts';

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
export interface PathUse {
  readonly folders: AllowedFolders;
  readonly intent: Intent;
  readonly isSandboxed: boolean;
}

const HELP = 'a tool that only reads says effects: { readOnly: true }, or names the argument under reads';
const ROOTS = `name a folder under sandbox.write of the tool or executors.shell.roots; ${HELP}`;
/** Ends a sentence about a path that is protected. */
export const FIXED = `decides what the crib runs, and no tool may write it; ${HELP}`;

/** Why a command may not be given a path that it may read; undefined where it may. */
export function whyNotUsed(path: AllowedPath, { folders, intent, isSandboxed }: PathUse): string | undefined {
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
