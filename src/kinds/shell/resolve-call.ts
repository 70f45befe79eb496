import { realpathSync } from 'node:fs';
import type { JsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { CommandPlan } from './command-plan.ts';
import { findCwd, type Place, resolvePaths } from './fill-call.ts';
import { fillArguments } from './fill-command.ts';
import type { ShellPorts } from './kind.ts';
import { type AllowedFolders, findFolders } from './sandbox/allowed-folders.ts';
import { requireNoJoin } from './sandbox/joined-arguments.ts';
import type { FoundSandbox, Sandbox } from './sandbox/sandbox.ts';
import { requireNoState } from './sandbox/state-arguments.ts';
import { cureOf, modeOf, rootsOf } from './sandbox/surroundings.ts';
import { createWork, intentOf } from './sandbox/write-access.ts';
import type { ShellRun } from './shell-run.ts';

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
  const use = { folders, intent: intentOf(call), isSandboxed: sandbox !== undefined };
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

function resolveFolders({ call: { input }, plan }: Preparation, place: Place) {
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
