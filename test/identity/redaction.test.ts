import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cribWith } from './world.ts';

/** What a tool is made to say, and what its caller is told. */
async function tell(make: (key: string, token: string) => string) {
  let said = '';
  const run = () => {
    throw new Error(said);
  };
  const crib = await cribWith({ keys: true }, { tools: [{ name: 'tool', description: '', run }] });
  const { key } = await crib.keys.create({ name: 'ci', profiles: ['*'] }, 'ann');
  const token = await crib.operatorToken();
  said = make(key, token);
  const result = await (await crib.open('assistant')).call('tool');
  return { key, token, said, told: result.status === 'failed' ? result.error.message : '' };
}

describe('answers to callers', () => {
  it('never contain an API key; its id stays', async () => {
    const { key, told } = await tell((key) => `bad header: Bearer ${key}!`);
    expect(told).toContain(`bad header: Bearer [secret API key ${key.slice(4, 14)}]!`);
  });

  it('never contain the operator token', async () => {
    expect((await tell((_, token) => `it is ${token}`)).told).toContain('it is [secret operator token]');
  });

  it('never contain it in base64', async () => {
    const { said, told } = await tell((_, token) => Buffer.from(`operator:${token}`).toString('base64'));
    expect(told).not.toContain(said.slice(20, 50));
  });

  it('never contain the one of the environment', async () => {
    vi.stubEnv('TOOLCRIB_OPERATOR_TOKEN', 'correct-horse-battery');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await tell(() => 'env: correct-horse-battery')).told).toContain('env: [secret operator token]');
  });
});
