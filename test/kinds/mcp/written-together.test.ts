import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { childTransport } from '../../../src/kinds/mcp/child-transport.ts';
import { createOutputTail } from '../../../src/system/processes/child-output.ts';
import { folderWith } from '../../crib/workshop.ts';

const SERVER = join(import.meta.dirname, 'servers', 'breaks-off.ts');
/** More than a pipe holds. */
const LONG = 'x'.repeat(2_000_000);
const message = (text: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'call', params: { text } });

it('a message that a server read before it ended counts as sent, whatever else was queued', async () => {
  const folder = folderWith({});
  const [signal, noted] = [join(folder, 'signal'), join(folder, 'noted')];
  const command = { command: process.execPath, args: [SERVER, signal, noted], env: { PATH: process.env.PATH ?? '' } };
  const transport = childTransport(command, createOutputTail());
  onTestFinished(() => transport.close());
  await transport.start();
  const sending = [LONG, 'the last one', LONG, 'short', 'another', LONG, 'the end'].map((text) =>
    transport.send(message(text)),
  );
  const settled = Promise.allSettled(sending);
  writeFileSync(signal, '');
  const [first, taken, ...others] = await settled;
  expect(others).toHaveLength(5);
  expect(readFileSync(noted, 'utf8')).toBe('ran\n');
  expect([first?.status, taken?.status]).toEqual(['fulfilled', 'fulfilled']);
  for (const other of others) expect(other).toMatchObject({ status: 'rejected', reason: { isUnsent: true } });
});

it('a server that takes a line separator of Unicode for the end of a line reads every message', async () => {
  const program = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(line))`;
  const command = { command: process.execPath, args: ['-e', program], env: { PATH: process.env.PATH ?? '' } };
  const transport = childTransport(command, createOutputTail());
  onTestFinished(() => transport.close());
  const heard: unknown[] = [];
  const isLast = Promise.withResolvers<void>();
  transport.onmessage = (one) => void (heard.push(one) === 2 && isLast.resolve());
  await transport.start();
  const sent = ['a\u2028b\u2029c\r\n', 'the end'].map(message);
  await Promise.all(sent.map((one) => transport.send(one)));
  await isLast.promise;
  expect(heard).toEqual(sent);
}, 10_000);
