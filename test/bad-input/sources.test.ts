import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Crib, createCrib, type LiveSource, type Source } from '../../src/index.ts';
import { unhandledDuring, wrong } from './wrong.ts';

const LIVE: LiveSource = {
  specs: () => [],
  onChange: () => () => {},
  status: () => ({ state: 'ready' }),
  close: async () => {},
};
const source = (start: Source['start'], name = 'bad'): Source => ({ name, start });
const listing = (tools: unknown, more: Partial<LiveSource> = {}) =>
  source(async () => ({ ...LIVE, specs: () => wrong(tools), ...more }));
const FINE = { name: 'fine', description: '', run: () => 1 };
const fine = source(async () => ({ ...LIVE, specs: () => [wrong(FINE)] }), 'fine');

async function startWith(bad: Source): Promise<Crib> {
  const made: Crib[] = [];
  const unhandled = await unhandledDuring(async () => {
    made.push(await createCrib({ sources: [bad, fine] }));
  });
  expect(unhandled).toEqual([]);
  const [crib] = made;
  if (crib === undefined) throw new Error('no crib was made');
  return crib;
}

const names = (crib: Crib) => crib.catalog.specs.map((spec) => spec.name);
const report = (crib: Crib) => crib.sources().find((one) => one.name === 'bad');

describe('a source that fails affects no other source', () => {
  it.each<[string, Source['start']]>([
    ['rejects', () => Promise.reject(new Error('no such host'))],
    ['rejects with nothing', () => Promise.reject()],
    ['rejects with what cannot be printed', () => Promise.reject(Object.create(null))],
    [
      'throws',
      () => {
        throw new Error('no such host');
      },
    ],
    ['returns nothing', () => wrong(undefined)],
    ['promises nothing', async () => wrong(undefined)],
    ['promises something else', async () => wrong({ tools: [] })],
    ['has nothing to tell about changes', async () => wrong({ ...LIVE, onChange: undefined })],
    [
      'throws when it is listened to',
      async () => ({
        ...LIVE,
        onChange() {
          throw new Error('deaf');
        },
      }),
    ],
    [
      'throws when it is listed',
      async () => ({
        ...LIVE,
        specs() {
          throw new Error('lost');
        },
      }),
    ],
    [
      'throws when it is asked how it is',
      async () => ({
        ...LIVE,
        status() {
          throw new Error('lost');
        },
      }),
    ],
  ])('that %s', async (_, start) => {
    const crib = await startWith(source(start));
    expect(names(crib)).toEqual(['fine']);
    expect(['failed', 'down']).toContain(report(crib)?.state);
  });

  it('its reason is reported', async () => {
    const crib = await startWith(source(() => Promise.reject(new Error('no such host'))));
    expect(report(crib)?.reason).toContain('no such host');
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'tools'],
    ['an object', { name: 'tool', run: () => 1 }],
  ])('that lists %s instead of a list', async (_, listed) => {
    const crib = await startWith(listing(listed));
    expect(names(crib)).toEqual(['fine']);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 5],
    ['a text', 'tool'],
    ['a list', []],
    ['an empty object', {}],
    ['a tool without a run', { name: 'idle' }],
    ['a tool with a bad name', { name: 'a b', run: () => 1 }],
    ['a tool with an unknown field', { name: 'odd', runn: () => 1, run: () => 1 }],
    ['a tool whose run is not JSON', { name: 'odd', run: { kind: 'http', body: 5n } }],
    ['a tool whose schema is a text', { name: 'odd', input: 'object', run: () => 1 }],
    [
      'a tool whose name throws',
      {
        get name() {
          throw new Error('sprung');
        },
      },
    ],
    [
      'a tool whose schema throws',
      {
        name: 'odd',
        input: {
          get properties() {
            throw new Error('sprung');
          },
        },
        run: () => 1,
      },
    ],
  ])('that lists %s among others: the others are listed', async (_, entry) => {
    const good = { name: 'good', description: '', run: () => 1 };
    const crib = await startWith(listing([entry, good]));
    expect(names(crib)).toEqual(['good', 'fine']);
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/^bad: /));
  });

  it('that lists a hostile pattern: the tool is listed without the pattern, and check reports it', async () => {
    const input = { type: 'object', properties: { a: { type: 'string', pattern: '(x+x+)+\\1y' } } };
    const crib = await startWith(listing([{ name: 'slow', description: '', input, run: () => 'ran' }]));
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"slow" of bad: pattern/));
    expect(await (await crib.open()).call('slow', { a: 'x'.repeat(1000) })).toMatchObject({ ok: true });
  });

  it('whose tools change while other sources still start', async () => {
    const others = Promise.withResolvers<LiveSource>();
    const thrown: unknown[] = [];
    const eager = source(async () => ({
      ...LIVE,
      onChange(listener) {
        try {
          listener();
        } catch (error) {
          thrown.push(error);
        }
        others.resolve(LIVE);
        return () => {};
      },
    }));
    const crib = await createCrib({ sources: [eager, source(() => others.promise, 'slow')] });
    expect(thrown).toEqual([]);
    expect(report(crib)?.state).toBe('ready');
  });

  it('that cannot be refreshed keeps its list when the crib is reloaded', async () => {
    const refresh = () => Promise.reject(new Error('gone'));
    const crib = await startWith(listing([{ name: 'kept', description: '', run: () => 1 }], { refresh }));
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(names(crib)).toEqual(['kept', 'fine']);
    expect(report(crib)).toMatchObject({ state: 'down', reason: expect.stringContaining('gone') });
  });
});

describe('a source that could not be started', () => {
  it('still reports the reason after a reload', async () => {
    const crib = await startWith(source(() => Promise.reject(new Error('no such host'))));
    await crib.reload();
    expect(report(crib)).toMatchObject({ state: 'failed', reason: expect.stringContaining('no such host') });
  });
});

describe('a source that hangs at start', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('delays the others by at most eleven seconds, and is failed after a minute', async () => {
    const made = createCrib({ sources: [source(() => new Promise(() => {})), fine] });
    await vi.advanceTimersByTimeAsync(11_000);
    const crib = await made;
    expect(names(crib)).toEqual(['fine']);
    expect(report(crib)).toMatchObject({ state: 'starting' });
    await vi.advanceTimersByTimeAsync(49_000);
    expect(report(crib)).toMatchObject({ state: 'failed', reason: expect.stringContaining('60000 ms') });
  });

  it('and starts late is available from then on', async () => {
    const late = Promise.withResolvers<LiveSource>();
    const made = createCrib({ sources: [source(() => late.promise), fine] });
    await vi.advanceTimersByTimeAsync(11_000);
    const crib = await made;
    late.resolve({ ...LIVE, specs: () => [wrong({ name: 'late', description: '', run: () => 1 })] });
    await vi.advanceTimersByTimeAsync(0);
    expect(names(crib)).toEqual(['late', 'fine']);
    expect(report(crib)?.state).toBe('ready');
  });

  it('and starts after the crib was closed is closed', async () => {
    const late = Promise.withResolvers<LiveSource>();
    const close = vi.fn(async () => {});
    const made = createCrib({ sources: [source(() => late.promise)] });
    await vi.advanceTimersByTimeAsync(11_000);
    await (await made).close();
    late.resolve({ ...LIVE, close });
    await vi.advanceTimersByTimeAsync(0);
    expect(close).toHaveBeenCalledOnce();
  });

  it('and starts after the crib was closed and fails to close has no further effect', async () => {
    const late = Promise.withResolvers<LiveSource>();
    const made = createCrib({ sources: [source(() => late.promise)] });
    await vi.advanceTimersByTimeAsync(11_000);
    await (await made).close();
    const unhandled = await unhandledDuring(() => {
      late.resolve({ ...LIVE, close: () => Promise.reject(new Error('stuck')) });
    });
    expect(unhandled).toEqual([]);
  });

  it('receives an abort signal when the crib closes', async () => {
    const signals: AbortSignal[] = [];
    const hanging = source((context) => {
      signals.push(context.signal);
      return new Promise(() => {});
    });
    const made = createCrib({ sources: [hanging] });
    await vi.advanceTimersByTimeAsync(11_000);
    await (await made).close();
    expect(signals[0]?.aborted).toBe(true);
  });
});
