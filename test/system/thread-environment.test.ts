import { afterEach, expect, it, vi } from 'vitest';
import { threadEnvironment } from '../../src/system/thread-environment.ts';

afterEach(() => vi.unstubAllEnvs());

it('a thread gets the folder of the compile cache and no other variable', () => {
  vi.stubEnv('SECRET_OF_A_TEST', 'hunter2');
  vi.stubEnv('NODE_COMPILE_CACHE', '/cache');
  expect(threadEnvironment()).toEqual({ NODE_COMPILE_CACHE: '/cache' });
});

it.each([
  ['there is no compile cache', { NODE_COMPILE_CACHE: undefined }],
  ['the compile cache is turned off', { NODE_COMPILE_CACHE: '/cache', NODE_DISABLE_COMPILE_CACHE: '1' }],
])('a thread gets no variable if %s', (_, variables) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  expect(threadEnvironment()).toEqual({});
});
