import { it } from 'vitest';
import { expectSameBothWays } from '../doors/mcp/both-ways.ts';

it('a call, plain or not, gets the same answer as from the protocol package alone, thousands of times', async () => {
  await expectSameBothWays(20_000);
});
