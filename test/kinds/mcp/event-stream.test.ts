import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createExchange } from '../../../src/kinds/mcp/http-exchange.ts';
import { keptConnections } from '../../../src/system/fetch/agent-pool.ts';
import { startHttp } from './http-servers.ts';

/** Reads an event stream as the SDK does, and counts the turns that the event loop has meanwhile. */
async function readStream(sent: string) {
  const server = await startHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent);
  });
  const url = new URL(server.url);
  const { fetch } = createExchange({
    address: { url, headers: () => ({}) },
    agent: keptConnections(url.protocol),
    onAnswer: () => {},
    onMessage: () => {},
    lose: () => {},
    hasSession: () => true,
    isClosed: () => false,
  });
  const { body } = await fetch(url);
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns++) await turn();
  })();
  const pieces: Buffer[] = [];
  for await (const piece of body ?? []) pieces.push(Buffer.from(piece));
  isOver = true;
  await counting;
  return { pieces, turns, text: Buffer.concat(pieces).toString() };
}

it.each(['\n', '\r\n', '\r'])(
  'short events are passed on in small portions, with a turn for others in between: %j',
  async (end) => {
    const sent = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}${end}${end}`.repeat(10_000);
    const { pieces, turns, text } = await readStream(sent);
    expect(text).toBe(sent);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(4096);
    expect(turns).toBeGreaterThan(pieces.length / 2);
  },
);

it('a long event is not cut into small portions', async () => {
  const sent = `data: "${'x'.repeat(5_000_000)}"\n\n`;
  const { pieces, text } = await readStream(sent);
  expect(text).toBe(sent);
  expect(pieces.length).toBeLessThan(1000);
});
