import { it } from 'vitest';
import { fuzzGateway } from '../doors/mcp/fuzz.ts';

it('any input of an MCP client, thousands of times, gets a valid answer, and the gateway survives', async () => {
  await fuzzGateway(20_000);
});
