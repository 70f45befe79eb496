import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Caller } from '../../../core/caller.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import { packageVersion } from '../../../system/package-version.ts';
import type { StdioConnection } from '../../mcp/serve-stdio.ts';
import type { ExitCode } from '../command.ts';
import { type Flags, findConfig, usage } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, note, noteReview, reportFailure, takeStdout, toLines } from '../output.ts';

/** The variable with the key or token of the caller; without it, the caller is local. */
const CREDENTIAL = 'TOOLCRIB_KEY';

/** `toolcrib serve --stdio`: serves MCP to one client on stdin and stdout. Attaches to a running server of this configuration if there is one. */
export async function serveOnStdio(flags: Flags): Promise<ExitCode> {
  const { config, profile, host, port, insecure } = flags;
  if ([host, port, insecure].some((flag) => flag !== undefined))
    throw usage('--stdio cannot be combined with --host, --port or --insecure: it does not listen on a port.', 'serve');
  const stdout = takeStdout();
  const credential = process.env[CREDENTIAL]?.trim() || undefined;
  // A server gives a caller without a credential only the default profile; the user who starts a crib here can choose.
  const mayAttach = profile === undefined || credential !== undefined;
  const url = mayAttach ? await findServer(config ?? findConfig(process.cwd()) ?? process.cwd()) : undefined;
  if (url !== undefined) return attach(url, { profile, credential, stdout });
  let isServed = false;
  const onServed = () => {
    isServed = true;
  };
  // Clients ask for the list at once, and many never again.
  const staying = { watch: true, background: false };
  try {
    return await withCrib(flags, (crib) => serve(crib, { flags, profile, credential, stdout, onServed }), staying);
  } catch (cause) {
    return isServed ? reportFailure(cause) : refuse(cause, stdout);
  }
}

/** Answers every request with the error: clients show answers to their user, but rarely stderr. */
async function refuse(cause: unknown, stdout: Writable): Promise<ExitCode> {
  const code = reportFailure(cause);
  if (process.stdin.isTTY) return code; // the user has seen the error on stderr
  const said = cause instanceof ToolcribError ? toLines(cause.message) : 'see stderr for the error.';
  const { refuseStdio } = await import('../../mcp/serve-stdio.ts');
  await refuseStdio({ stdin: process.stdin, stdout, reason: `Toolcrib could not start: ${said}` });
  return code;
}

/** Throws if there is neither a configuration nor a tool: a client would show an empty list without a reason. */
function requireTools(crib: Crib, { config }: Flags): void {
  const folder = process.cwd();
  if (config !== undefined || findConfig(folder) !== undefined || crib.catalog.specs.length > 0) return;
  throw new ToolcribError(
    'no_configuration',
    `No toolcrib.yaml found in "${folder}", so no tools are available. Add "--config" and the path of your toolcrib.yaml to the arguments of the client's entry for toolcrib, or create one there with "toolcrib init".`,
  );
}

interface Served {
  readonly profile: string | undefined;
  readonly credential: string | undefined;
  readonly stdout: Writable;
}

interface ServedHere extends Served {
  readonly flags: Flags;
  /** Called when the client can be answered. */
  onServed(): void;
}

async function attach(url: string, { profile, credential, stdout }: Served): Promise<ExitCode> {
  const { attachStdio } = await import('../../mcp/attach-stdio.ts');
  note(`Attached to ${url}.`);
  const connection = await attachStdio({
    url: `${url}/mcp${profile === undefined ? '' : `/${encodeURIComponent(profile)}`}`,
    ...(credential !== undefined && { credential }),
    stdin: process.stdin,
    stdout,
    warn: note,
  });
  return untilEnded(connection);
}

async function serve(crib: Crib, { flags, profile, credential, stdout, onServed }: ServedHere): Promise<ExitCode> {
  requireTools(crib, flags);
  const { serveStdio } = await import('../../mcp/serve-stdio.ts');
  const connection = await serveStdio(crib, {
    caller: await whoIsServed(crib, profile, credential),
    ...(profile !== undefined && { profile }),
    version: packageVersion(),
    stdin: process.stdin,
    stdout,
    warn: crib.server.warn,
  });
  onServed();
  const { quiet } = flags;
  await noteReview(crib, { ...(quiet === true && { quiet }) });
  const stopRunning = crib.server.runParked();
  const code = await untilEnded(connection, async () => {
    stopRunning();
    note('Shutting down: waiting for running calls. Send the signal again to stop at once.');
    await crib.server.idle(crib.server.serverSettings().graceMs ?? USUAL_GRACE_MS);
    crib.server.endCalls();
    await connection.flushed();
  });
  stopRunning();
  return code;
}

const USUAL_GRACE_MS = 10_000;

async function whoIsServed(crib: Crib, profile: string | undefined, credential: string | undefined): Promise<Caller> {
  const identity = await crib.identify(credential);
  if (!identity.ok)
    throw new ToolcribError('unauthenticated', `${identity.error.message} Set ${CREDENTIAL} to a valid credential.`);
  if (profile === undefined || credential !== undefined) return identity.caller;
  const { profiles: _profiles, ...caller } = identity.caller;
  return caller;
}

/** Waits until the client is gone or a signal arrives. After a signal, running calls are answered first. */
async function untilEnded(
  { ended, close }: Pick<StdioConnection, 'ended' | 'close'>,
  drain: () => Promise<void> = async () => {},
): Promise<ExitCode> {
  const { signal } = cancelOnInterrupt();
  await Promise.race([ended, signal.aborted ? undefined : once(signal, 'abort')]);
  if (signal.aborted) await Promise.race([ended, drain()]);
  await close();
  return 0;
}
