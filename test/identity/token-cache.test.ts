import { describe, expect, it } from 'vitest';
import { createTokenCache } from '../../src/identity/jwt.ts';

describe('the cache of verified tokens', () => {
  it('drops the oldest when it is full, so that tokens cannot fill the memory', () => {
    const cache = createTokenCache<number>(3);
    for (const index of [1, 2, 3, 1, 4]) cache.set(`t${index}`, index, 10);
    expect([1, 2, 3, 4].map((index) => cache.get(`t${index}`, 0))).toEqual([1, undefined, 3, 4]);
  });

  it('is valid until its time, not at it', () => {
    const cache = createTokenCache<number>(3);
    cache.set('t', 1, 10);
    expect([cache.get('t', 9), cache.get('t', 10), cache.get('t', 9)]).toEqual([1, undefined, undefined]);
  });
});
