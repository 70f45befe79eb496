import { expect, it } from 'vitest';
import { execute, serve } from './served.ts';

/** Asks for an approval, answers it if told to, and returns its id. */
async function request(
  { ask, token }: Awaited<ReturnType<typeof serve>>,
  what: string,
  decision?: 'approve' | 'deny',
): Promise<string> {
  const { json } = await execute(ask, 'wipe', { what });
  if (decision !== undefined) await ask(`/api/approvals/${json.waiting.id}`, { token, body: { decision } });
  return json.waiting.id;
}

it('a request names what its answer is bound to, and the last approved call of the same tool and caller', async () => {
  const served = await serve();
  const { ask, token } = served;
  const binding = async (id: string) => (await ask(`/api/approvals/${id}/binding`, { token })).json;
  const first = await request(served, 'old', 'approve');
  expect(await binding(first)).toEqual({
    argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    danger: 'destructive',
  });
  await request(served, 'refused', 'deny');
  const second = await request(served, 'new');
  const { argumentsHash, definitionHash, previous } = await binding(second);
  expect(previous).toEqual({
    id: first,
    arguments: { what: 'old' },
    by: 'operator',
    at: expect.stringMatching(/Z$/),
    sameArguments: false,
    sameDefinition: true,
  });
  expect(await binding(first)).toMatchObject({ definitionHash });
  expect((await binding(first)).argumentsHash).not.toBe(argumentsHash);
});

it('a caller that may not see a request learns nothing of what it is bound to', async () => {
  const served = await serve();
  const id = await request(served, 'all');
  const unknown = await served.ask('/api/approvals/0000-0000-0000/binding', { token: served.token });
  expect(unknown).toMatchObject({
    status: 404,
    json: { error: { message: expect.stringContaining('was not found') } },
  });
  const { status } = await served.ask(`/api/approvals/${id}/binding`, { token: 'wrong' });
  expect(status).toBe(401);
});
