import { it } from 'vitest';
import { fuzzGateway } from '../doors/mcp/fuzz.ts';

it('whatever an MCP client sends, thousands of times, the answer is decent and the gateway lives', async () => {
  await fuzzGateway(20_000);
});
