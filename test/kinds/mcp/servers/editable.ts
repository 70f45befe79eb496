// A server of the older era whose environment says what it lists, how long it takes to start, and what it answers.
import { createInterface } from 'node:readline';
import { showPresence } from './present.ts';

const { MARK = '', DELAY_MS = '0', TOOLS = 'mark,pid,wipe', ABOUT = 'A tool' } = process.env;
type Fields = Readonly<Record<string, unknown>>;

const say = (message: Fields) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name: string) => ({
  name,
  description: ABOUT,
  inputSchema: { type: 'object', properties: { note: { type: 'string' }, secret: { type: 'string' } } },
  annotations: { destructiveHint: name === 'wipe' },
});
const ANSWERS: Readonly<Record<string, () => string>> = { mark: () => MARK, pid: () => String(process.pid) };

function answer({ id, method, params }: Fields & { readonly params?: { readonly name?: string } }): void {
  if (method === 'server/discover') say({ id, error: { code: -32601, message: 'Method not found' } });
  if (method === 'initialize') {
    const serverInfo = { name: 'editable', version: '1' };
    say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') say({ id, result: { tools: TOOLS.split(',').filter(Boolean).map(tool) } });
  if (method === 'tools/call') {
    const text = ANSWERS[params?.name ?? '']?.() ?? `${params?.name} by ${MARK}`;
    say({ id, result: { content: [{ type: 'text', text }] } });
  }
}

showPresence('server');
setTimeout(() => {
  createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)));
}, Number(DELAY_MS));
