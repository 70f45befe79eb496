import { once } from 'node:events';
import { defined } from '../../../core/defined.ts';
import { messageOf } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { packageVersion } from '../../../system/package-version.ts';
import type { RunningServer } from '../../rest/start-server.ts';
import type { Flags } from '../arguments/flags.ts';
import { usage } from '../arguments/usage.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { cancelOnInterrupt } from '../interrupt.ts';
import { withCrib } from '../open-crib.ts';
import { noteReview } from '../output/note-review.ts';
import { note, paint } from '../output/output.ts';
import { describeServer } from '../served-at.ts';

/** `toolcrib serve`: REST and MCP until it is told to end; a second signal ends it at once. */
export async function serveCrib({ flags }: Invocation): Promise<ExitCode> {
  const port = readPort(flags.port);
  if (flags.stdio === true) return (await import('./serve-on-stdio.ts')).serveOnStdio(flags);
  return withCrib(flags, (crib) => serve(crib, flags, port), { watch: true });
}

async function serve(crib: Crib, { host, insecure }: Flags, port: number | undefined): Promise<ExitCode> {
  surviveStrays(crib);
  const interruption = cancelOnInterrupt();
  const { startServer } = await import('../../rest/start-server.ts');
  const { createMcpDoor } = await import('../../mcp/mcp-door.ts');
  const mcp = createMcpDoor(crib, { version: packageVersion(), warn: crib.server.warn });
  const server = await startServer(crib, {
    mcp,
    ...defined({ host, port }),
    isInsecure: insecure === true,
  });
  for (const line of await describeServer(crib, server)) note(line);
  const stopListening = crib.server.onListings(() => {}); // a changed list is read at once, so that a name held back in it is reported then
  await noteReview(crib);
  warnIfOpen(server, insecure === true && (await crib.identify()).ok);
  if (!interruption.signal.aborted) await once(interruption.signal, 'abort');
  note('Closing; what is under way may end. A second signal ends it at once.');
  stopListening();
  await server.close();
  await mcp.close();
  return 0;
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw usage(`--port takes a number from 0 to 65535, not "${text}".`, 'serve');
}

function warnIfOpen({ host }: RunningServer, isOpen: boolean): void {
  if (!isOpen) return;
  const warning = `WARNING: --insecure: whoever can reach ${host} can call tools, and nobody asks who they are.`;
  note(paint('red', warning, process.stderr));
}

/** A tool that fails where nobody waits for it must not end a server that others use. */
function surviveStrays(crib: Crib): void {
  const tell = (cause: unknown) => crib.server.warn(`Something failed where nobody waited for it: ${messageOf(cause)}`);
  process.on('unhandledRejection', tell);
  process.on('uncaughtException', tell);
}
