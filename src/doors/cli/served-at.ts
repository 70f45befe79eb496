import type { Crib } from '../../crib/crib.ts';
import type { RunningServer } from '../rest/start-server.ts';
import { paint, toLine } from './output/output.ts';

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
