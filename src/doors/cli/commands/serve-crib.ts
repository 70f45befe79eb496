import { once } from 'node:events';
import { defined } from '../../../core/read-options.ts';
import { messageOf } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { packageVersion } from '../../../system/package-version.ts';
import type { RunningServer } from '../../rest/start-server.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { type Flags, usage } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, note, noteReview, paint, toLine } from '../output.ts';

/** `toolcrib serve`: REST and MCP until it is told to end; a second signal ends it at once. */
export async function serveCrib({ flags }: Invocation): Promise<ExitCode> {
  const port = readPort(flags.port);
  if (flags.stdio === true) return (await import('./serve-on-stdio.ts')).serveOnStdio(flags);
  return withCrib(flags, (crib) => serve(crib, flags, port), { watch: true });
}

async function serve(crib: Crib, flags: Flags, port: number | undefined): Promise<ExitCode> {
  const { host, insecure } = flags;
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
  await noteReview(crib, flags);
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

/** Where to look and what to paste, line by line. The operator's token is in the first link and nowhere else, and only where a terminal shows it. */
export async function describeServer(crib: Crib, server: RunningServer): Promise<readonly string[]> {
  const url = toOpen(server);
  const { query, hint } = await operatorLink(crib);
  const anybody = await crib.identify();
  const isGuarded = !anybody.ok;
  const forAnybody = anybody.ok ? anybody.profiles : [];
  const note = (name: string) => (isGuarded || forAnybody.includes(name) ? '' : '  (with a credential)');
  const headers = isGuarded ? ', "headers": { "Authorization": "Bearer YOUR_KEY" }' : '';
  const authorization = isGuarded ? ` -H 'Authorization: Bearer YOUR_KEY'` : '';
  return [
    `${paint('bold', 'Toolcrib', process.stderr)} listens on ${url}`,
    `  tools  ${url}/tools${query}  (${hint})`,
    `  MCP    ${url}/mcp`,
    ...crib.profiles().map((name) => `         ${url}/mcp/${encodeURIComponent(name)}${note(name)}`),
    `  REST   ${url}/api  (described at ${url}/openapi.json)`,
    ...retentionOf(crib),
    'Paste this into an MCP client:',
    `  { "mcpServers": { "toolcrib": { "type": "http", "url": "${url}/mcp"${headers} } } }`,
    'Or try:',
    `  curl${authorization} ${url}/api/tools`,
  ];
}

/** What is not a terminal may be a log that others read: there the file of the token is named instead. */
async function operatorLink(crib: Crib): Promise<{ readonly query: string; readonly hint: string }> {
  if ((process.env.TOOLCRIB_OPERATOR_TOKEN ?? '').trim() !== '')
    return { query: '', hint: '?token= and your TOOLCRIB_OPERATOR_TOKEN' };
  const token = await crib.server.operatorToken(); // made now, so that the file is there
  if (process.stderr.isTTY)
    return { query: `?token=${encodeURIComponent(token)}`, hint: "the operator's link: keep it to yourself" };
  const file = crib.server.operatorTokenFile();
  if (file !== undefined) return { query: '', hint: `?token= and the operator token in ${toLine(file)}` };
  return {
    query: '',
    hint: 'the operator token cannot be kept in a file; set TOOLCRIB_OPERATOR_TOKEN or TOOLCRIB_OPERATOR_TOKEN_FILE',
  };
}

/** What the record of calls takes on disk, measured with small arguments on SQLite. */
const ROW_KILOBYTES = 0.67;

function retentionOf(crib: Crib): readonly string[] {
  const { isRecorded, days } = crib.audit.retention();
  if (!isRecorded) return [];
  const each = `about ${ROW_KILOBYTES} kB for each call`;
  return days === undefined
    ? [`  audit  rows are kept for ever, ${each}; extensions.audit.retentionDays limits that`]
    : [`  audit  rows are kept for ${days} day${days === 1 ? '' : 's'}, ${each}`];
}

/** An address that can be opened: one that stands for every interface cannot. */
function toOpen({ url, host }: RunningServer): string {
  if (host === '0.0.0.0') return url.replace('0.0.0.0', '127.0.0.1');
  return host === '::' ? url.replace('[::]', '[::1]') : url;
}
