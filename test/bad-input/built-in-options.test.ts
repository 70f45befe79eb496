import { describe, expect, it } from 'vitest';
import {
  access,
  approval,
  concurrency,
  createCrib,
  idempotency,
  rateLimit,
  retry,
  ToolcribError,
  timeout,
} from '../../src/index.ts';
import { wrong } from './wrong.ts';

describe('a mistake in the options of a built-in extension is an error', () => {
  it.each<[string, () => unknown]>([
    ['approval: an unknown option', () => approval(wrong({ timeout: 5 }))],
    ['approval: an unknown mode', () => approval({ mode: wrong('dangerus') })],
    ['approval: no time to answer', () => approval({ timeoutMs: 0 })],
    ['approval: a time in words', () => approval({ timeoutMs: wrong('5m') })],
    ['approval: a bound of nothing', () => approval({ maxPerCaller: 0 })],
    ['approval: half a request', () => approval({ maxTotal: 1.5 })],
    ['approval: a bound that is none', () => approval({ maxTotalBytes: Number.POSITIVE_INFINITY })],
    ['idempotency: an unknown option', () => idempotency(wrong({ maxKeys: 5 }))],
    ['idempotency: a bound in words', () => idempotency({ maxBytesPerCaller: wrong('16MB') })],
    ['rateLimit: an unknown option', () => rateLimit(wrong({ rate: [] }))],
    ['rateLimit: an unknown scope', () => rateLimit({ rates: [{ scope: wrong('user'), amount: 1, perMs: 1 }] })],
    ['rateLimit: none at all', () => rateLimit({ rates: [{ scope: 'all', amount: 0, perMs: 1 }] })],
    ['rateLimit: no time', () => rateLimit({ rates: [wrong({ scope: 'all', amount: 1 })] })],
    ['concurrency: an unknown option', () => concurrency(wrong({ slot: [] }))],
    ['concurrency: no slot', () => concurrency({ slots: [{ scope: 'all', amount: 0 }] })],
    ['concurrency: a queue below zero', () => concurrency({ maxWaiting: -1 })],
    ['timeout: an unknown option', () => timeout(wrong({ timeout: 5 }))],
    ['timeout: 0', () => timeout({ timeoutMs: 0 })],
    ['retry: an unknown option', () => retry(wrong({ retry: 1 }))],
    ['retry: below zero', () => retry({ retries: -1 })],
    ['access: an unknown option', () => access(wrong({ roles: [] }))],
  ])('%s', (_, make) => {
    expect(make).toThrow(ToolcribError);
  });

  it('a mistyped approval mode never lets a destructive tool run without approval', async () => {
    const make = async () => {
      const extensions = [approval({ mode: wrong('dangerus') })];
      const crib = await createCrib({
        tools: [{ name: 'rm', description: '', effects: { destructive: true }, run: () => 'gone' }],
        extensions,
      });
      return (await (await crib.open()).call('rm')).ok;
    };
    expect(await make().catch(() => 'an error')).not.toBe(true);
  });
});
