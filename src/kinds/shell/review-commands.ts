import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import type { ExecutorReview } from '../../core/executor.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';
import { namesIn } from '../../specs/template.ts';
import { findFolders } from './allowed-folders.ts';
import { planCommand, templatesOf } from './command-plan.ts';
import type { FoundSandbox } from './sandbox.ts';
import { looseLinks, withSystem } from './sandbox-arguments.ts';
import type { ShellPorts } from './shell-kind.ts';
import type { ShellRun } from './shell-run.ts';
import { fixedPathsOf } from './state-arguments.ts';
import { cureOf, modeOf, REPAIR, rootsOf } from './surroundings.ts';
import { isInside, tracePath } from './trace-path.ts';

/** Reviews all commands for the operator: which cannot run, which run without a sandbox, and which may write protected paths. */
export function reviewCommands(specs: readonly ToolSpec[], ports: ShellPorts, found: FoundSandbox): ExecutorReview {
  const refused = new Map<string, string[]>();
  const unconfined: string[] = [];
  const writing = new Map<string, string[]>();
  const keeping = new Map<string, string[]>();
  const hidden = ports.hidden();
  const kept = [...hidden.folders, ...hidden.files].map(realOf);
  for (const spec of specs) {
    const run = spec[RUN] as ShellRun; // of this kind, and checked when it was loaded
    const settings = ports.settings(spec.source);
    const mode = modeOf(run, settings);
    const isWanted = mode === 'required' || (mode === 'preferred' && !found.ok && found.mayPass); // then no call runs without one
    if (isWanted && !found.ok) add(refused, found.mayPass ? REPAIR : cureOf(run, settings), spec.name);
    if (mode === 'none' || (!isWanted && !found.ok)) unconfined.push(spec.name);
    const roots = rootsOf(run, settings, ports.folder);
    for (const { path, isWritable } of roots) if (isWritable) add(writing, path, spec.name);
    for (const path of joinedPathsOf(run, spec, roots[0]?.path ?? ports.folder))
      if (kept.some((place) => isInside(realOf(path), place))) add(keeping, path, spec.name);
  }
  const reason = found.ok ? '' : found.reason;
  const system = found.ok ? found.sandbox.system : [];
  const surroundings = { hidden, system, folder: ports.folder };
  return {
    problems: [
      ...Array.from(
        refused,
        ([cure, names]) =>
          `${countOf(names)} cannot run, because no sandbox is available (${reason}): ${listOf(names)}. To fix it, ${cure}.`,
      ),
      ...Array.from(
        keeping,
        ([path, names]) =>
          `${whoOf(names)}: the command takes arguments and names ${path}, which is private to the crib. Without a sandbox, relative arguments are refused; in a sandbox, the path is empty. Use another path.`,
      ),
      ...Array.from(writing, ([root, names]) => inReach(root, names, surroundings)).flat(),
    ],
    notes:
      unconfined.length === 0
        ? []
        : [
            `${countOf(unconfined)} may run without a sandbox${reason === '' ? '' : ` (${reason})`}: ${listOf(unconfined)}.`,
          ],
  };
}

/** The paths that a command names itself, and to which its program may join caller text. */
function joinedPathsOf(run: ShellRun, spec: ToolSpec, base: string): readonly string[] {
  const plan = planCommand(run, spec);
  const takesArguments = templatesOf(plan).some((template) => namesIn(template).length > 0);
  return takesArguments ? fixedPathsOf(plan, base) : [];
}

function add(lists: Map<string, string[]>, key: string, name: string): void {
  const list = lists.get(key) ?? [];
  list.push(name);
  lists.set(key, list);
}

interface Surroundings {
  readonly hidden: HiddenPaths;
  readonly system: readonly string[];
  readonly folder: string;
}

/** Warns about protected paths in a writable folder. */
function inReach(root: string, tools: readonly string[], surroundings: Surroundings): readonly string[] {
  const { folder } = surroundings;
  const { readOnly: fixed } = surroundings.hidden;
  const place = realOf(root);
  const around = fixed.filter((path) => isInside(place, realOf(path)));
  const within = fixed.filter((path) => isInside(realOf(path), place) && existsSync(path));
  const show = (path: string) => relative(folder, path) || '.';
  const who = whoOf(tools);
  if (around.length > 0)
    return [
      `${who} cannot write ${show(root)}: it is in the protected path ${listOf(around.map(show))}, which controls what the crib runs. Use another folder.`,
    ];
  const loose = linksIn(root, surroundings);
  const replaced = `${who} cannot run in a sandbox: the writable folder ${show(root)} contains links that lead to files of the crib: ${listOf(loose.map(show))}. Configure the targets of the links, or use another folder.`;
  if (within.length === 0) return loose.length === 0 ? [] : [replaced];
  return [
    ...(loose.length === 0 ? [] : [replaced]),
    `${who} may write ${show(root)}, which contains protected paths that control what the crib runs: ${listOf(within.map(show))}. In a sandbox they are read-only; without one, only arguments are checked. Use a folder without them in executors.shell.roots or sandbox.write.`,
  ];
}

function linksIn(root: string, { hidden, system }: Surroundings): readonly string[] {
  try {
    return looseLinks(withSystem(findFolders([{ path: root, isWritable: true }], hidden), system));
  } catch (cause) {
    if (cause instanceof ToolcribError) return []; // a folder that no command can use: each call reports the reason
    throw cause;
  }
}

function realOf(path: string): string {
  try {
    return tracePath(path, '/').real;
  } catch {
    return path;
  }
}

function whoOf(tools: readonly string[]): string {
  return `${tools.length === 1 ? 'Tool' : 'Tools'} ${listOf(tools)}`;
}

const MANY = 50;

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, MANY).join(', ');
  return names.length > MANY ? `${shown} and ${names.length - MANY} more` : shown;
}

function countOf({ length }: readonly string[]): string {
  return length === 1 ? '1 command' : `${length} commands`;
}
