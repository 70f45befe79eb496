import { realpathSync } from 'node:fs';
import { delimiter } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import { CERTIFICATES, childEnvironment } from '../../system/processes/child-environment.ts';
import type { Program } from '../../system/processes/programs.ts';
import type { AllowedFolders } from './allowed-folders.ts';
import { LOADER_VARIABLE } from './caller-code.ts';
import { fillArguments } from './command-plan.ts';
import { fillEnvironment, fillInput } from './fill-call.ts';
import { OWN_FOLDER, type Preparation, resolveCall } from './resolve-call.ts';
import type { Sandbox } from './sandbox.ts';
import { findCover, sandboxArguments } from './sandbox-arguments.ts';
import { findProgram, limiterOf, limitsOf } from './surroundings.ts';
import { isInside } from './trace-path.ts';

/** A program ready to start. It is contained if it runs in a sandbox. */
export interface PreparedProgram {
  readonly program: Omit<Program, 'maxBytes'>;
  /** Removes what was created for this run; called when it has ended. */
  release(): void;
}

/** Prepares a program; throws if it must not start. */
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
    ...(sandbox !== undefined && { HOME: OWN_FOLDER, TMPDIR: OWN_FOLDER }), // the real ones are hidden
    ...own,
    TRACEPARENT: call.traceparent,
  });
  const inside = sandbox === undefined ? undefined : { sandbox, folders };
  return wrap({ command: plan.program, args, cwd, env, stdin, isContained: false }, preparation, inside);
}

/** Removes variables that name hidden certificates: with them, a program could not use those of the system. */
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

/** Puts the limiter and the sandbox in front of the program. */
function wrap(bare: PreparedProgram['program'], { run, ports }: Preparation, inside?: Inside): PreparedProgram {
  const limiter = limiterOf(limitsOf(run, inside !== undefined), ports.env.PATH);
  if (limiter === undefined && run.sandbox?.limits !== undefined)
    throw new ToolcribError('no_limits', 'it has limits, but prlimit, which sets them, is not installed');
  const [prlimit, ...options] = limiter ?? [];
  if (inside === undefined && prlimit === undefined) return { program: bare, release: nothing };
  const { command, cwd, env } = bare;
  const file = findProgram(command, { path: env.PATH, cwd });
  if (file === undefined) throw new ToolcribError('missing_program', `program "${command}" not found`);
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
    // Otherwise the loader of bubblewrap would obey them outside the sandbox.
    env: pick(env, (name) => !LOADER_VARIABLE.test(name)),
    isContained: true,
  };
  return { program, release };
}

function nothing(): void {}

/** A program that could overwrite bubblewrap could escape its sandbox the next time. */
function requireOutOfReach({ bubblewrap, system }: Sandbox, { roots }: AllowedFolders): void {
  const writable = roots.filter(({ isWritable }) => isWritable).map(({ path }) => path);
  const nearest = (file: string, folders: readonly string[]) =>
    Math.max(0, ...folders.filter((folder) => isInside(file, folder)).map(({ length }) => length));
  // System folders are read-only, except for roots inside them. A link to bubblewrap may lie elsewhere.
  const isSafe = (file: string) => nearest(file, writable) === 0 || nearest(file, system) > nearest(file, writable);
  if (isSafe(bubblewrap) && isSafe(realOf(bubblewrap))) return;
  throw new ToolcribError('no_sandbox', 'bubblewrap, which makes its sandbox, is in a folder that it may write');
}

function realOf(bubblewrap: string): string {
  try {
    return realpathSync.native(bubblewrap);
  } catch (cause) {
    throw new ToolcribError('no_sandbox', 'bubblewrap, which makes its sandbox, was removed', { cause });
  }
}

type Variables = Readonly<Record<string, string>>;

function pick(env: Variables, isPicked: (name: string) => boolean): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPicked(name)));
}
