import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Caller } from '../../../core/caller.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import { packageVersion } from '../../../system/package-version.ts';
import type { StdioConnection } from '../../mcp/serve-stdio.ts';
import type { ExitCode } from '../commands.ts';
import { type Flags, findConfig, usage } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, note, noteReview, reportFailure, takeStdout, toLines } from '../output.ts';

/** The variable with the key or token of who is served; without it, whoever is at this machine. */
const CREDENTIAL = 'TOOLCRIB_KEY';

/** `toolcrib serve --stdio`: MCP for one client on stdin and stdout, by a crib that listens if there is one of this configuration. */
export async function serveOnStdio(flags: Flags): Promise<ExitCode> {
  const { config, profile, host, port, insecure } = flags;
  if ([host, port, insecure].some((flag) => flag !== undefined))
    throw usage('--stdio listens nowhere, so it takes neither --host nor --port nor --insecure.', 'serve');
  const stdout = takeStdout();
  const credential = process.env[CREDENTIAL]?.trim() || undefined;
  // Somebody without a credential gets the default profile from a server; who starts this here may choose.
  const mayAttach = profile === undefined || credential !== undefined;
  const url = mayAttach ? await findServer(config ?? findConfig(process.cwd()) ?? process.cwd()) : undefined;
  if (url !== undefined) return attach(url, { profile, credential, stdout });
  let isServed = false;
  const onServed = () => {
    isServed = true;
  };
  // Whoever starts this asks for the list at once, and many never again.
  const staying = { watch: true, background: false };
  try {
    return await withCrib(flags, (crib) => serve(crib, { flags, profile, credential, stdout, onServed }), staying);
  } catch (cause) {
    return isServed ? reportFailure(cause) : refuse(cause, stdout);
  }
}

/** A client shows its user what it is answered, and seldom what stands on stderr. */
async function refuse(cause: unknown, stdout: Writable): Promise<ExitCode> {
  const code = reportFailure(cause);
  if (process.stdin.isTTY) return code; // a person, who has read it
  const said = cause instanceof ToolcribError ? toLines(cause.message) : 'it is told on stderr.';
  const { refuseStdio } = await import('../../mcp/serve-stdio.ts');
  await refuseStdio({ stdin: process.stdin, stdout, reason: `Toolcrib cannot be used: ${said}` });
  return code;
}

/** Throws where there is neither a configuration nor a tool: a client would show an empty list and no reason. */
function requireTools(crib: Crib, { config }: Flags): void {
  const folder = process.cwd();
  if (config !== undefined || findConfig(folder) !== undefined || crib.catalog.specs.length > 0) return;
  throw new ToolcribError(
    'no_configuration',
    `There is no toolcrib.yaml in "${folder}", so there are no tools. Add "--config" and the path of your toolcrib.yaml to the arguments of the client's entry for toolcrib, or write one there by "toolcrib init".`,
  );
}

interface Served {
  readonly profile: string | undefined;
  readonly credential: string | undefined;
  readonly stdout: Writable;
}

interface ServedHere extends Served {
  readonly flags: Flags;
  /** Told when the client can be answered. */
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
    note('Closing; what is under way may end. A second signal ends it at once.');
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
  if (!identity.ok) throw new ToolcribError('unauthenticated', `${identity.error.message} Set ${CREDENTIAL} to it.`);
  if (profile === undefined || credential !== undefined) return identity.caller;
  const { profiles: _profiles, ...caller } = identity.caller;
  return caller;
}

/** A client that is gone waits for nothing; one that is there has its answers before the end. */
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
