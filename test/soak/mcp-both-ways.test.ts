import { it } from 'vitest';
import { expectSameBothWays } from '../doors/mcp/both-ways.ts';

it('a call, plain or not, gets the answer that the package of the protocol alone would give, thousands of times', async () => {
  await expectSameBothWays(20_000);
});
