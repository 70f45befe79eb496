import { expect, it } from 'vitest';
import { endWhenForbidden } from '../../src/doors/while-allowed.ts';

it('a stream that ends, or is left, while its reader is checked stays ended', async () => {
  for (const finish of ['end', 'leave']) {
    const asked = Promise.withResolvers<void>();
    const verdict = Promise.withResolvers<boolean>();
    const source = new TransformStream();
    const writer = source.writable.getWriter();
    const isAllowed = () => {
      asked.resolve();
      return verdict.promise;
    };
    const reader = endWhenForbidden(new Response(source.readable), isAllowed, 1).body?.getReader();
    const read = reader?.read();
    await asked.promise;
    if (finish === 'end') await writer.close();
    else await reader?.cancel();
    expect(await read).toEqual({ done: true, value: undefined });
    verdict.resolve(false); // an error would be an unhandled rejection, which fails the run
    await new Promise(setImmediate);
  }
});
