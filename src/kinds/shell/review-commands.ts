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

/** What the owner should know about all commands on this machine: which cannot run, which run unconfined, and which may write what decides what the crib runs. */
export function reviewCommands(specs: readonly ToolSpec[], ports: ShellPorts, found: FoundSandbox): ExecutorReview {
  const refused = new Map<string, string[]>();
  const unconfined: string[] = [];
  const writing = new Map<string, string[]>();
  const keeping = new Map<string, string[]>();
  const hidden = ports.hidden();
  const kept = [...hidden.folders, ...hidden.files].map(realOf);
  for (const spec of specs) {
    const run = spec[RUN] as ShellRun; // of its kind, and checked when it was let in
    const settings = ports.settings(spec.source);
    const mode = modeOf(run, settings);
    const isWanted = mode === 'required' || (mode === 'preferred' && !found.ok && found.mayPass); // no call does without one then
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
          `${countOf(names)} cannot be run, because there is no sandbox here (${reason}): ${listOf(names)}. To mend it: ${cure}.`,
      ),
      ...Array.from(
        keeping,
        ([path, names]) =>
          `${whoOf(names)}: the command names ${path}, which the crib keeps for itself, and takes arguments. Without a sandbox relative ones are refused; in a sandbox nothing is found there. Name another path.`,
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

/** The paths that a command names itself, and to which its program may join what a caller says. */
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

/** Which paths of a writable folder decide what the crib runs. */
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
      `${who} cannot write ${show(root)}: it lies in ${listOf(around.map(show))}, which decides what the crib runs. Name another folder.`,
    ];
  const loose = linksIn(root, surroundings);
  const replaced = `${who} cannot be run in a sandbox: ${show(root)} can be written, and holds links by which the crib finds its files: ${listOf(loose.map(show))}. Name what they lead to, or another folder.`;
  if (within.length === 0) return loose.length === 0 ? [] : [replaced];
  return [
    ...(loose.length === 0 ? [] : [replaced]),
    `${who} may write ${show(root)}, which contains what decides what the crib runs: ${listOf(within.map(show))}. In a sandbox these stay as they are; without one only arguments are checked. Name a folder without them under executors.shell.roots or sandbox.write.`,
  ];
}

function linksIn(root: string, { hidden, system }: Surroundings): readonly string[] {
  try {
    return looseLinks(withSystem(findFolders([{ path: root, isWritable: true }], hidden), system));
  } catch (cause) {
    if (cause instanceof ToolcribError) return []; // a folder that no command can use: each call says why
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
