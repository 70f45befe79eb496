import { describe, expect, it } from 'vitest';
import { type Content, createCrib, type DoneResult, done, failed, toolError } from '../../src/index.ts';

async function answering(answer: unknown, maxResultBytes = 10) {
  const crib = await createCrib({
    tools: [{ name: 'tool', description: '', policy: { maxResultBytes }, run: () => answer }],
  });
  return (await crib.open()).call('tool');
}

describe('the size of a result', () => {
  it('as large as allowed passes', async () => {
    expect(await answering('0123456789')).toMatchObject({ ok: true });
  });

  it('larger than allowed is too_large, saying both sizes', async () => {
    expect(await answering('0123456789a')).toMatchObject({
      ok: false,
      error: { code: 'too_large', message: expect.stringMatching(/11 bytes.*10/), retryable: false },
    });
  });

  it('is counted in bytes, not in letters', async () => {
    expect(await answering('ääääää')).toMatchObject({ error: { code: 'too_large' } });
  });

  it('is that of all parts together', async () => {
    const parts = [
      { type: 'text', text: '123456' } as const,
      { type: 'image', data: 'AAAAAA', mimeType: 'image/png' } as const,
    ];
    expect(await answering(done(parts))).toMatchObject({ error: { code: 'too_large' } });
  });

  it('includes data, not only what is shown', async () => {
    expect(await answering(done('short', { much: 'x'.repeat(1000) }))).toMatchObject({ error: { code: 'too_large' } });
  });

  const LONG = 'x'.repeat(1000);
  it.each<readonly [string, Partial<DoneResult>]>([
    ['_meta', { meta: { note: LONG } }],
    ['a name in _meta', { meta: { [LONG]: 1 } }],
    ['_meta of a text', { content: [{ type: 'text', text: '', _meta: { a: [{ b: LONG }] } }] }],
    ['an unknown member of a text', { content: [{ type: 'text', text: '', more: LONG } as Content] }],
    ['an unknown name in a text', { content: [{ type: 'text', text: '', [LONG]: true } as Content] }],
    ['annotations', { content: [{ type: 'text', text: '', annotations: { lastModified: LONG } }] }],
    ['the type of an image', { content: [{ type: 'image', data: '', mimeType: LONG }] }],
    ['the name of a link', { content: [{ type: 'resource_link', uri: 'a:b', name: LONG }] }],
    ['the description of a link', { content: [{ type: 'resource_link', uri: 'a:b', name: 'n', description: LONG }] }],
    ['the address of a resource', { content: [{ type: 'resource', resource: { uri: LONG, text: '' } }] }],
    ['both forms of a resource', { content: [{ type: 'resource', resource: { uri: 'a:b', text: '', blob: LONG } }] }],
    ['many numbers', { meta: { all: Array.from({ length: 1000 }, () => 1) } }],
  ])('includes %s, whose size a server chooses', async (_, more) => {
    const answer = { ...done('short'), ...more };
    expect(await answering(answer, 500)).toMatchObject({ ok: false, error: { code: 'too_large' } });
    expect(await answering(answer, 5000)).toEqual(answer);
  });

  it('of a promised result is measured, too', async () => {
    expect(await answering(Promise.resolve('x'.repeat(11)))).toMatchObject({ error: { code: 'too_large' } });
  });

  it('of a failure without content does not matter', async () => {
    expect(await answering(failed(toolError('conflict', 'a message longer than that')))).toMatchObject({
      error: { code: 'conflict' },
    });
  });

  it('without a limit does not matter', async () => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run: () => 'x'.repeat(1_000_000) }] });
    expect(await (await crib.open()).call('tool')).toMatchObject({ ok: true });
  });

  it('the stricter of tool and profile applies', async () => {
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', policy: { maxResultBytes: 100 }, run: () => 'x'.repeat(50) }],
      profiles: { narrow: { policy: { maxResultBytes: 10 } }, wide: { policy: { maxResultBytes: 1000 } } },
    });
    expect(await (await crib.open('narrow')).call('tool')).toMatchObject({ error: { code: 'too_large' } });
    expect(await (await crib.open('wide')).call('tool')).toMatchObject({ ok: true });
  });
});
