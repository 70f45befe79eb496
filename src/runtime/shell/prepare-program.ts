import { realpathSync } from 'node:fs';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { childEnvironment } from '../processes/child-environment.ts';
import type { Program } from '../processes/programs.ts';
import { type AllowedFolders, findFolders, isInside, type Root } from './allowed-folders.ts';
import { LOADER_VARIABLE } from './check-code.ts';
import type { CommandPlan } from './command-plan.ts';
import { fillEnvironment, fillInput, findCwd, resolvePaths } from './fill-call.ts';
import { fillArguments } from './fill-command.ts';
import { findProgram } from './find-program.ts';
import type { FoundSandbox, Sandbox } from './sandbox.ts';
import { sandboxArguments } from './sandbox-arguments.ts';
import type { ShellPorts } from './shell-ports.ts';
import type { ShellRun } from './shell-run.ts';
import { findMasks, limiterOf, limitsOf, modeOf, rootsOf } from './surroundings.ts';

/** Everything that one call is prepared of. */
export interface Preparation {
  readonly call: ToolCall;
  readonly run: ShellRun;
  readonly plan: CommandPlan;
  readonly ports: ShellPorts;
  findSandbox(): Promise<FoundSandbox>;
}

/** A program, ready to be started. It is contained where it runs in a sandbox. */
export type PreparedProgram = Omit<Program, 'maxBytes'>;

/** Everything that has to be known before a program is started. Throws where it must not be. */
export async function prepareProgram(preparation: Preparation): Promise<PreparedProgram> {
  const { call, run, plan, ports } = preparation;
  const sandbox = await requireSandbox(preparation);
  const roots = rootsOf(run, ports.settings(), ports.folder);
  const needsFolders = sandbox !== undefined || plan.pathNames.size > 0 || plan.cwd !== undefined;
  const folders = needsFolders ? findFolders(roots, ports.hidden()) : undefined;
  const inside = sandbox === undefined || folders === undefined ? undefined : { sandbox, folders };
  const filled = await fill(preparation, { base: baseOf(roots, preparation, sandbox), folders });
  const env = childEnvironment(ports.env, {
    ...(sandbox !== undefined && { HOME: OWN_FOLDER, TMPDIR: OWN_FOLDER }), // those of others are hidden
    ...filled.env,
    TRACEPARENT: call.traceparent,
  });
  const { args, cwd, stdin } = filled;
  return wrap({ command: plan.program, args, cwd, env, stdin, isContained: false }, preparation, inside);
}

/** A folder that every sandbox has to itself. */
const OWN_FOLDER = '/tmp';

async function requireSandbox({ run, ports, findSandbox }: Preparation): Promise<Sandbox | undefined> {
  const mode = modeOf(run, ports.settings());
  if (mode === 'none') return undefined;
  const found = await findSandbox();
  if (found.ok) return found.sandbox;
  // Whoever prefers one does not lose it because the machine is busy.
  if (found.mayPass) throw new ToolcribError('no_sandbox', `no sandbox can be made just now: ${found.reason}`);
  if (mode === 'preferred') return undefined;
  throw new ToolcribError('no_sandbox', `it may only run in a sandbox, and there is none here: ${found.reason}`);
}

/** Where a command runs that does not say where. */
function baseOf(roots: readonly Root[], { ports }: Preparation, sandbox: Sandbox | undefined): string {
  return roots[0]?.path ?? (sandbox === undefined ? ports.folder : OWN_FOLDER);
}

interface Filling {
  readonly base: string;
  readonly folders: AllowedFolders | undefined;
}

async function fill({ call, plan, ports: { secrets } }: Preparation, { base, folders }: Filling) {
  if (folders === undefined) return { ...(await fillRest(call.input)), cwd: base };
  const place = { base: realpathSync.native(base), folders };
  const cwd = plan.cwd === undefined ? place.base : findCwd(plan.cwd, call.input, place);
  fillArguments(plan, call.input); // judged as they came, before paths are resolved
  return { ...(await fillRest(resolvePaths(plan, call.input, { ...place, cwd }))), cwd };

  async function fillRest(input: ToolCall['input']) {
    const args = fillArguments(plan, input);
    const [env, stdin] = await Promise.all([fillEnvironment(plan, input, secrets), fillInput(plan, input, secrets)]);
    return { args, env, stdin };
  }
}

interface Inside {
  readonly sandbox: Sandbox;
  readonly folders: AllowedFolders;
}

/** The program behind what limits and contains it. */
function wrap(bare: PreparedProgram, { run, ports }: Preparation, inside?: Inside): PreparedProgram {
  const limiter = limiterOf(limitsOf(run, inside !== undefined), ports.env.PATH);
  if (limiter === undefined && run.sandbox?.limits !== undefined)
    throw new ToolcribError(
      'no_limits',
      'it has limits, and the program that sets them (prlimit) is not installed here',
    );
  const [prlimit, ...options] = limiter ?? [];
  if (inside === undefined && prlimit === undefined) return bare;
  const { command, cwd, env } = bare;
  const file = findProgram(command, { path: env.PATH, cwd });
  if (file === undefined) throw new ToolcribError('missing_program', `there is no program "${command}"`);
  const limited = [...(prlimit === undefined ? [] : [prlimit, ...options]), file, ...bare.args];
  if (inside === undefined) return { ...bare, command: limited[0] ?? file, args: limited.slice(1) };
  const { sandbox, folders } = inside;
  requireOutOfReach(sandbox, folders);
  const sandboxed = sandboxArguments(sandbox, {
    roots: folders.roots,
    masks: findMasks(folders),
    extra: prlimit === undefined ? [file] : [file, prlimit],
    network: run.sandbox?.network !== false,
    cwd,
    env: pick(env, (name) => LOADER_VARIABLE.test(name)),
  });
  return {
    ...bare,
    command: sandbox.bubblewrap,
    args: [...sandboxed, ...limited],
    // Else its loader would do as they say while it is still outside.
    env: pick(env, (name) => !LOADER_VARIABLE.test(name)),
    isContained: true,
  };
}

/** A program that could write what makes its sandbox would be in none the next time. */
function requireOutOfReach({ bubblewrap, system }: Sandbox, { roots }: AllowedFolders): void {
  const writable = roots.filter(({ isWritable }) => isWritable).map(({ path }) => path);
  const nearest = (file: string, folders: readonly string[]) =>
    Math.max(0, ...folders.filter((folder) => isInside(file, folder)).map(({ length }) => length));
  // The system is read-only, but for roots in it. A link to it may lie elsewhere.
  const isSafe = (file: string) => nearest(file, writable) === 0 || nearest(file, system) > nearest(file, writable);
  if (isSafe(bubblewrap) && isSafe(realpathSync.native(bubblewrap))) return;
  throw new ToolcribError('no_sandbox', 'bubblewrap, which would hold it in, lies in a folder that it may write');
}

type Variables = Readonly<Record<string, string>>;

function pick(env: Variables, isPicked: (name: string) => boolean): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPicked(name)));
}
