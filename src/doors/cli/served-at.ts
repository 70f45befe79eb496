import type { Crib } from '../../crib/crib.ts';
import type { RunningServer } from '../rest/start-server.ts';
import { paint } from './output.ts';

/** Where to look and what to paste, line by line. The operator's token is in the first link and nowhere else. */
export async function describeServer(crib: Crib, server: RunningServer): Promise<readonly string[]> {
  const url = toOpen(server);
  const isOwnToken = (process.env.TOOLCRIB_OPERATOR_TOKEN ?? '').trim() !== '';
  const query = isOwnToken ? '' : `?token=${encodeURIComponent(await crib.operatorToken())}`;
  const hint = isOwnToken ? '?token= and your TOOLCRIB_OPERATOR_TOKEN' : "the operator's link: keep it to yourself";
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
    'Paste this into an MCP client:',
    `  { "mcpServers": { "toolcrib": { "type": "http", "url": "${url}/mcp"${headers} } } }`,
    'Or try:',
    `  curl${authorization} ${url}/api/tools`,
  ];
}

/** An address that can be opened: one that stands for every interface cannot. */
function toOpen({ url, host }: RunningServer): string {
  if (host === '0.0.0.0') return url.replace('0.0.0.0', '127.0.0.1');
  return host === '::' ? url.replace('[::]', '[::1]') : url;
}
