import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectMetrics, pointsOf, stopMetrics } from '../../extensions/collected-metrics.ts';
import { cribWith, realServer, serverOf } from '../../kinds/mcp/upstream.ts';
import { ERAS } from './eras.ts';
import { serveCrib } from './gateway.ts';

beforeEach(() => collectMetrics());
afterEach(stopMetrics);

describe.each(Object.entries(ERAS))('metrics of a gateway before real servers, for a client of %s', (_era, connect) => {
  it('have the waiting times of clients and the durations of servers, under the names of the MCP conventions', async () => {
    const crib = await cribWith({
      every: { mcp: realServer('server-everything') },
      own: { mcp: serverOf('modern.ts') },
    });
    const client = await connect((await serveCrib(crib)).url());
    await client.call('every_echo', { message: 'hello' });
    await client.call('own_fail');
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'mcp.method.name': 'tools/call' };
    const both = [
      { attributes: { ...attributes, 'gen_ai.tool.name': 'every_echo' }, value: { count: 1 } },
      {
        attributes: { ...attributes, 'gen_ai.tool.name': 'own_fail', 'error.type': 'tool_error' },
        value: { count: 1 },
      },
    ];
    expect(await pointsOf('mcp.server.operation.duration')).toMatchObject(both);
    expect(await pointsOf('mcp.client.operation.duration')).toMatchObject(both);
    expect(await pointsOf('toolcrib.calls.in_flight')).toMatchObject([{ value: 0 }, { value: 0 }]);
  });
});
