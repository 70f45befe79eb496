import { describe, expect, it } from 'vitest';
import {
  type Crib,
  createCrib,
  defineExtension,
  EXTENSION_ORDER,
  type Extension,
  type PriorityName,
  type ToolInput,
} from '../../src/index.ts';

const tool: ToolInput = { name: 'tool', description: '', run: () => 'ran' };

/** Writes its name down on the way in and on the way out. */
function tracer(
  name: string,
  priority: number | PriorityName,
  log: string[],
  more: Partial<Extension> = {},
): Extension {
  return {
    name,
    priority,
    async wrap(call, next) {
      log.push(`${name} in`);
      const result = await next(call);
      log.push(`${name} out`);
      return result;
    },
    ...more,
  };
}

async function callTool(crib: Crib) {
  return (await crib.open()).call('tool');
}

describe('order', () => {
  it('extensions run from the highest to the lowest priority; the result climbs back in reverse', async () => {
    const log: string[] = [];
    const run = () => void log.push('tool');
    const extensions = [tracer('low', 400, log), tracer('high', 600, log), tracer('middle', 500, log)];
    await callTool(await createCrib({ tools: [{ ...tool, run } as ToolInput], extensions })); // the same tool with another function
    expect(log).toEqual(['high in', 'middle in', 'low in', 'tool', 'low out', 'middle out', 'high out']);
  });

  it('equal ones run in registration order', async () => {
    const log: string[] = [];
    const crib = await createCrib({ tools: [tool], extensions: [tracer('b', 500, log), tracer('a', 'normal', log)] });
    crib.extensions.add(tracer('c', 500, log));
    await callTool(crib);
    expect(log.slice(0, 3)).toEqual(['b in', 'a in', 'c in']);
  });

  it.each<[PriorityName, number]>([
    ['highest', 700],
    ['high', 600],
    ['normal', 500],
    ['low', 400],
    ['lowest', 300],
  ])('a name is accepted: %s is %i', async (name, number) => {
    const log: string[] = [];
    const extensions = [
      tracer('below', number - 1, log, { unsafeOrder: true }),
      tracer('named', name, log),
      tracer('above', number + 1, log, { unsafeOrder: true }),
    ];
    await callTool(await createCrib({ tools: [tool], extensions }));
    expect(log.slice(0, 3)).toEqual(['above in', 'named in', 'below in']);
  });

  it.each([['hihgest'], [Number.NaN], [undefined], ['toString']])(
    '%s is not a priority, and the error lists the valid ones',
    async (priority) => {
      const odd = { name: 'odd', priority, onStart() {} } as Extension; // plain JavaScript writes anything
      await expect(createCrib({ extensions: [odd] })).rejects.toMatchObject({
        name: 'ToolcribError',
        message: expect.stringContaining('highest, high, normal, low, lowest'),
      });
    },
  );

  it('an extension with hooks and without a priority has normal priority', () => {
    expect(defineExtension({ name: 'mine', after: () => undefined }).priority).toBe('normal');
  });

  it.each([[701], [299], [1000], [0]])(
    'a gate at %i, where the built-in order gives its guarantees, must say unsafeOrder: true',
    async (priority) => {
      const gate = tracer('mine', priority, []);
      await expect(createCrib({ extensions: [gate] })).rejects.toMatchObject({
        message: expect.stringMatching(/"mine".*unsafeOrder: true/),
      });
      await expect(createCrib({ extensions: [{ ...gate, unsafeOrder: true }] })).resolves.toBeDefined();
    },
  );

  it('an observer may have any priority', async () => {
    await expect(createCrib({ extensions: [{ name: 'record', priority: 1000, onEnd() {} }] })).resolves.toBeDefined();
  });

  it('the built-in ones have the priorities of the published table', async () => {
    const crib = await createCrib();
    const actual = crib.extensions.list().map(({ name, priority }) => ({ name, priority }));
    expect(actual).toEqual(
      EXTENSION_ORDER.filter(({ isOptional }) => isOptional !== true).map(({ name, priority }) => ({ name, priority })),
    );
  });

  it('an extension with the name of a built-in one replaces it', async () => {
    const crib = await createCrib({
      tools: [tool],
      extensions: [{ name: 'validate', priority: 500, wrap: (call, next) => next(call) }],
    });
    expect(crib.extensions.list().filter((extension) => extension.name === 'validate')).toHaveLength(1);
  });
});

describe('adding and removing', () => {
  it('the same extension name twice is an error', async () => {
    const twice = createCrib({ extensions: [tracer('mine', 500, []), tracer('mine', 400, [])] });
    await expect(twice).rejects.toMatchObject({ code: 'duplicate', message: expect.stringContaining('"mine"') });
  });

  it('the same extension name twice is an error at run time, and nothing changes', async () => {
    const log: string[] = [];
    const crib = await createCrib({ tools: [tool], extensions: [tracer('mine', 500, log)] });
    expect(() => crib.extensions.add(tracer('mine', 400, []))).toThrow(/"mine"/);
    await callTool(crib);
    expect(log).toEqual(['mine in', 'mine out']);
  });

  it('removing an unknown one is a no-op', async () => {
    const crib = await createCrib({ tools: [tool] });
    const before = crib.extensions.list();
    crib.extensions.remove('nobody');
    expect(crib.extensions.list()).toBe(before);
  });

  it('added at run time, the next call sees it', async () => {
    const log: string[] = [];
    const crib = await createCrib({ tools: [tool] });
    const chest = await crib.open();
    await chest.call('tool');
    crib.extensions.add(tracer('late', 500, log));
    await chest.call('tool');
    expect(log).toEqual(['late in', 'late out']);
  });

  it('removed at run time, the next call does not see it', async () => {
    const log: string[] = [];
    const crib = await createCrib({ tools: [tool], extensions: [tracer('mine', 500, log)] });
    const chest = await crib.open();
    await chest.call('tool');
    crib.extensions.remove('mine');
    await chest.call('tool');
    expect(log).toEqual(['mine in', 'mine out']);
  });

  it('a running call keeps the extensions it began with', async () => {
    const log: string[] = [];
    const answer = Promise.withResolvers<void>();
    const crib = await createCrib({
      tools: [{ ...tool, run: () => answer.promise } as ToolInput],
      extensions: [tracer('mine', 500, log)],
    }); // the same tool with another function
    const result = callTool(crib);
    await Promise.resolve();
    crib.extensions.remove('mine');
    answer.resolve();
    await result;
    expect(log).toEqual(['mine in', 'mine out']);
  });

  it('an extension takes part only in calls it applies to', async () => {
    const log: string[] = [];
    const extensions = [tracer('picky', 500, log, { applies: (spec) => spec.name === 'other' })];
    const crib = await createCrib({ tools: [tool, { ...tool, name: 'other' } as ToolInput], extensions }); // the same tool under another name
    const chest = await crib.open();
    await chest.call('tool');
    expect(log).toEqual([]);
    await chest.call('other');
    expect(log).toHaveLength(2);
  });

  it('extensions are closed with the crib, and one that cannot be closed does not keep the others open', async () => {
    const closed: string[] = [];
    const extensions = [
      { ...tracer('bad', 600, []), close: () => Promise.reject(new Error('stuck')) },
      { ...tracer('good', 500, []), close: async () => void closed.push('good') },
    ];
    const crib = await createCrib({ extensions });
    await crib.close();
    expect(closed).toEqual(['good']);
  });
});
