import { once } from 'node:events';
import { defined } from '../../../core/read-options.ts';
import type { Crib } from '../../../crib/crib.ts';
import { packageVersion } from '../../../system/package-version.ts';
import type { RunningServer } from '../../rest/start-server.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, usage } from '../flags.ts';
import { surviveStrays, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, note, noteReview, paint, toLine } from '../output.ts';

/** `toolcrib serve`: serves REST and MCP until a signal; a second signal stops it at once. */
export async function serveCrib({ flags }: Invocation): Promise<ExitCode> {
  const port = readPort(flags.port);
  if (flags.stdio === true) return (await import('./serve-on-stdio.ts')).serveOnStdio(flags);
  return withCrib(flags, (crib) => serve(crib, flags, port), { watch: true });
}

async function serve(crib: Crib, flags: Flags, port: number | undefined): Promise<ExitCode> {
  const { host, insecure } = flags;
  surviveStrays(crib, 'server');
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
  const stopListening = crib.server.onListings(() => {}); // reads changed lists at once, so that name conflicts are reported immediately
  await noteReview(crib, flags);
  warnIfOpen(server, insecure === true && (await crib.identify()).ok);
  if (!interruption.signal.aborted) await once(interruption.signal, 'abort');
  note('Shutting down: waiting for running calls. Send the signal again to stop at once.');
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
  const warning = `WARNING: --insecure: every client that can reach ${host} can call tools without a credential.`;
  note(paint('red', warning, process.stderr));
}

/** The lines that are printed at start: addresses and examples. The operator token appears only in the first link, and only on a terminal. */
export async function describeServer(crib: Crib, server: RunningServer): Promise<readonly string[]> {
  const url = toOpen(server);
  const { query, hint } = await operatorLink(crib);
  const anonymous = await crib.identify();
  const isGuarded = !anonymous.ok;
  const withoutCredential = anonymous.ok ? anonymous.profiles : [];
  const note = (name: string) => (isGuarded || withoutCredential.includes(name) ? '' : '  (requires a credential)');
  const headers = isGuarded ? ', "headers": { "Authorization": "Bearer YOUR_KEY" }' : '';
  const authorization = isGuarded ? ` -H 'Authorization: Bearer YOUR_KEY'` : '';
  return [
    `${paint('bold', 'Toolcrib', process.stderr)} listens on ${url}`,
    `  tools  ${url}/tools${query}  (${hint})`,
    `  MCP    ${url}/mcp`,
    ...crib.profiles().map((name) => `         ${url}/mcp/${encodeURIComponent(name)}${note(name)}`),
    `  REST   ${url}/api  (OpenAPI: ${url}/openapi.json)`,
    ...retentionOf(crib),
    'Paste this into an MCP client:',
    `  { "mcpServers": { "toolcrib": { "type": "http", "url": "${url}/mcp"${headers} } } }`,
    'Or try:',
    `  curl${authorization} ${url}/api/tools`,
  ];
}

/** The link with the operator token, or the file of the token if stderr is not a terminal: other users may read a log. */
async function operatorLink(crib: Crib): Promise<{ readonly query: string; readonly hint: string }> {
  if ((process.env.TOOLCRIB_OPERATOR_TOKEN ?? '').trim() !== '')
    return { query: '', hint: 'append ?token= with your TOOLCRIB_OPERATOR_TOKEN' };
  const token = await crib.server.operatorToken(); // creates the file if it does not exist
  if (process.stderr.isTTY)
    return { query: `?token=${encodeURIComponent(token)}`, hint: 'link for the operator; do not share it' };
  const file = crib.server.operatorTokenFile();
  if (file !== undefined) return { query: '', hint: `append ?token= with the operator token from ${toLine(file)}` };
  return {
    query: '',
    hint: 'the operator token cannot be saved to a file; set TOOLCRIB_OPERATOR_TOKEN or TOOLCRIB_OPERATOR_TOKEN_FILE',
  };
}

/** Disk space of one call in the audit log, measured with small arguments on SQLite. */
const ROW_KILOBYTES = 0.67;

function retentionOf(crib: Crib): readonly string[] {
  const { isRecorded, days } = crib.audit.retention();
  if (!isRecorded) return [];
  const each = `about ${ROW_KILOBYTES} kB per call`;
  return days === undefined
    ? [`  audit  rows are never deleted, ${each}; set extensions.audit.retentionDays to limit them`]
    : [`  audit  rows are kept for ${days} day${days === 1 ? '' : 's'}, ${each}`];
}

/** A URL that a browser can open: the wildcard address is replaced by the loopback address. */
function toOpen({ url, host }: RunningServer): string {
  if (host === '0.0.0.0') return url.replace('0.0.0.0', '127.0.0.1');
  return host === '::' ? url.replace('[::]', '[::1]') : url;
}
