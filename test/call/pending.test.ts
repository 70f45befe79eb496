import { expect, it, onTestFinished } from 'vitest';
import { type Chest, createCrib, done, type Extension, type ToolInput, type ToolResult } from '../../src/index.ts';

async function open(tool: Partial<ToolInput>, options: { extensions?: Extension[]; without?: string[] } = {}) {
  const tools = [{ name: 'tool', description: 'Waits', run: async () => 'ran', ...tool } as ToolInput];
  const crib = await createCrib({ tools, extensions: options.extensions ?? [] });
  onTestFinished(() => crib.close());
  for (const name of options.without ?? []) crib.extensions.remove(name);
  return crib.open(undefined, { id: 'alice' });
}

function gate(name: string, priority: number, wrap: Extension['wrap']): Extension {
  return { name, priority, wrap: wrap as NonNullable<Extension['wrap']>, unsafeOrder: true };
}

const textOf = (result: ToolResult) => (result.ok ? result.content : result.status === 'failed' && result.error.code);

it('a gate of yours gets a promise, wherever it stands', async () => {
  for (const priority of [1005, 500, 190, 170]) {
    let got: unknown;
    const yours = gate('yours', priority, (call, next) => {
      got = next(call);
      return got as Promise<ToolResult>;
    });
    const chest = await open({}, { extensions: [yours] });
    expect(textOf(await chest.call('tool'))).toEqual(done('ran').content);
    expect(got).toBeInstanceOf(Promise);
  }
});

it('what a gate of yours answers is checked and kept, whatever became of the promise that it got', async () => {
  const answers: readonly [Extension['wrap'], unknown][] = [
    [async (call, next) => ((await next(call)).ok ? done('replaced') : done('lost')), done('replaced').content],
    [(call, next) => Promise.resolve(next(call)).then(() => 'no result' as never), 'internal'],
    [(call, next) => Promise.resolve(next(call)).then(() => Promise.reject(new Error('broken'))), 'internal'],
    [
      (call, next) => {
        next(call);
        return done('at once');
      },
      done('at once').content,
    ],
  ];
  for (const [wrap, expected] of answers) {
    const chest = await open({ policy: { timeoutMs: 60_000, retries: 1 } }, { extensions: [gate('yours', 500, wrap)] });
    expect(textOf(await chest.call('tool'))).toEqual(expected);
  }
});

it('a cancelled call holds its slot until its tool has ended, also without a timeout', async () => {
  const release = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const run = async () => {
    begun.resolve();
    await release.promise;
    return 'ran';
  };
  const policy = { concurrency: [{ scope: 'tool' as const, amount: 1 }] };
  const chest = await open({ run, policy }, { without: ['timeout'] });
  const controller = new AbortController();
  const first = chest.call('tool', {}, { signal: controller.signal });
  await begun.promise;
  controller.abort();
  expect(textOf(await first)).toBe('cancelled');
  const second = chest.call('tool');
  expect(await Promise.race([second, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits');
  release.resolve();
  expect(textOf(await second)).toEqual(done('ran').content);
});

it('a call that timed out gives its slot back at once', async () => {
  const policy = { concurrency: [{ scope: 'tool' as const, amount: 1 }], timeoutMs: 5, retries: 0 };
  const never = new Promise<string>(() => {});
  let calls = 0;
  const chest: Chest = await open({ policy, run: () => (calls++ === 0 ? never : Promise.resolve('ran')) });
  const answers = await Promise.all([chest.call('tool'), chest.call('tool')]);
  expect(answers.map(textOf)).toEqual(['timeout', done('ran').content]);
});

it('cancelling a call ends the calls inside it, although the call itself has answered', async () => {
  const begun = Promise.withResolvers<void>();
  const inner = Promise.withResolvers<string>();
  const tools: ToolInput[] = [
    {
      name: 'inner',
      description: 'Waits until it is cancelled',
      run: (_, { signal }) => {
        signal.addEventListener('abort', () => inner.resolve(signal.reason.name));
        begun.resolve();
        return inner.promise;
      },
    },
    {
      name: 'outer',
      description: 'Calls inner a moment later',
      run: async (_, call) => {
        await null;
        return call.tools.call('inner', {});
      },
    },
  ];
  const crib = await createCrib({ tools });
  onTestFinished(() => crib.close());
  for (const name of ['timeout', 'retry']) crib.extensions.remove(name);
  const controller = new AbortController();
  const answer = (await crib.open()).call('outer', {}, { signal: controller.signal });
  await begun.promise;
  controller.abort();
  expect(textOf(await answer)).toBe('cancelled');
  expect(await inner.promise).toBe('AbortError');
});
