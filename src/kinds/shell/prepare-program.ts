import { realpathSync } from 'node:fs';
import { delimiter } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import { CERTIFICATES, childEnvironment } from '../../system/processes/child-environment.ts';
import type { Program } from '../../system/processes/programs.ts';
import type { AllowedFolders } from './allowed-folders.ts';
import { LOADER_VARIABLE } from './check-command.ts';
import { fillArguments } from './command-plan.ts';
import { fillEnvironment, fillInput } from './fill-call.ts';
import { OWN_FOLDER, type Preparation, resolveCall } from './resolve-call.ts';
import type { Sandbox } from './sandbox.ts';
import { findCover, sandboxArguments } from './sandbox-arguments.ts';
import { findProgram, limiterOf, limitsOf } from './surroundings.ts';
import { isInside } from './trace-path.ts';

/** A program, ready to be started. It is contained where it runs in a sandbox. */
export interface PreparedProgram {
  readonly program: Omit<Program, 'maxBytes'>;
  /** Clears away what was made for this run alone, when it has ended. */
  release(): void;
}

/** Everything that has to be known before a program is started. Throws where it must not be. */
export async function prepareProgram(preparation: Preparation): Promise<PreparedProgram> {
  const { call, plan, ports } = preparation;
  const { sandbox, folders, cwd, input } = await resolveCall(preparation);
  const args = fillArguments(plan, input);
  const [own, stdin] = await Promise.all([
    fillEnvironment(plan, input, ports.secrets),
    fillInput(plan, input, ports.secrets),
  ]);
  const outside = sandbox === undefined ? ports.env : withoutHiddenCertificates(ports.env, { sandbox, folders });
  const env = childEnvironment(outside, {
    ...(sandbox !== undefined && { HOME: OWN_FOLDER, TMPDIR: OWN_FOLDER }), // those of others are hidden
    ...own,
    TRACEPARENT: call.traceparent,
  });
  const inside = sandbox === undefined ? undefined : { sandbox, folders };
  return wrap({ command: plan.program, args, cwd, env, stdin, isContained: false }, preparation, inside);
}

/** Certificates that cannot be seen inside would keep a program from trusting those of the system. */
function withoutHiddenCertificates(env: Preparation['ports']['env'], { sandbox, folders }: Inside): typeof env {
  const seen = [...sandbox.system, ...folders.roots.map(({ path }) => path)];
  const isSeen = (place: string) => seen.some((folder) => isInside(place, folder));
  const isHidden = (name: string, value = '') => CERTIFICATES.includes(name) && !value.split(delimiter).every(isSeen);
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isHidden(name, value)));
}

interface Inside {
  readonly sandbox: Sandbox;
  readonly folders: AllowedFolders;
}

/** The program behind what limits and contains it. */
function wrap(bare: PreparedProgram['program'], { run, ports }: Preparation, inside?: Inside): PreparedProgram {
  const limiter = limiterOf(limitsOf(run, inside !== undefined), ports.env.PATH);
  if (limiter === undefined && run.sandbox?.limits !== undefined)
    throw new ToolcribError(
      'no_limits',
      'it has limits, and the program that sets them (prlimit) is not installed here',
    );
  const [prlimit, ...options] = limiter ?? [];
  if (inside === undefined && prlimit === undefined) return { program: bare, release: nothing };
  const { command, cwd, env } = bare;
  const file = findProgram(command, { path: env.PATH, cwd });
  if (file === undefined) throw new ToolcribError('missing_program', `there is no program "${command}"`);
  const limited = [...(prlimit === undefined ? [] : [prlimit, ...options]), file, ...bare.args];
  if (inside === undefined)
    return { program: { ...bare, command: limited[0] ?? file, args: limited.slice(1) }, release: nothing };
  const { sandbox, folders } = inside;
  requireOutOfReach(sandbox, folders);
  const { masks, release } = findCover(folders, sandbox.system);
  const sandboxed = sandboxArguments(sandbox, {
    roots: folders.roots,
    masks,
    extra: prlimit === undefined ? [file] : [file, prlimit],
    network: run.sandbox?.network !== false,
    cwd,
    env: pick(env, (name) => LOADER_VARIABLE.test(name)),
  });
  const program = {
    ...bare,
    command: sandbox.bubblewrap,
    args: [...sandboxed, ...limited],
    // Else its loader would do as they say while it is still outside.
    env: pick(env, (name) => !LOADER_VARIABLE.test(name)),
    isContained: true,
  };
  return { program, release };
}

function nothing(): void {}

/** A program that could write what makes its sandbox would be in none the next time. */
function requireOutOfReach({ bubblewrap, system }: Sandbox, { roots }: AllowedFolders): void {
  const writable = roots.filter(({ isWritable }) => isWritable).map(({ path }) => path);
  const nearest = (file: string, folders: readonly string[]) =>
    Math.max(0, ...folders.filter((folder) => isInside(file, folder)).map(({ length }) => length));
  // The system is read-only, but for roots in it. A link to it may lie elsewhere.
  const isSafe = (file: string) => nearest(file, writable) === 0 || nearest(file, system) > nearest(file, writable);
  if (isSafe(bubblewrap) && isSafe(realOf(bubblewrap))) return;
  throw new ToolcribError('no_sandbox', 'bubblewrap, which would hold it in, lies in a folder that it may write');
}

function realOf(bubblewrap: string): string {
  try {
    return realpathSync.native(bubblewrap);
  } catch (cause) {
    throw new ToolcribError('no_sandbox', 'bubblewrap, which would hold it in, was there and is gone', { cause });
  }
}

type Variables = Readonly<Record<string, string>>;

function pick(env: Variables, isPicked: (name: string) => boolean): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPicked(name)));
}
