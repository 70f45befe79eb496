import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  type Crib,
  createCrib,
  defineBundle,
  defineExtension,
  defineTool,
  done,
  type Executor,
  keep,
  prefix,
  rename,
  type ToolCall,
  type ToolInput,
  tighten,
} from '../../src/index.ts';

/** A word that stands only in how the tool runs. */
const MARK = 'rm-rf-everything';
const shelled: ToolInput = {
  name: 'clean',
  description: 'Cleans',
  needs: 'vault',
  run: { kind: 'secret', command: [MARK], nested: { deep: MARK } },
};
const seen: { call?: ToolCall } = {};
const secret: Executor = {
  kind: 'secret',
  runSchema: { type: 'object' },
  execute(call) {
    seen.call = call;
    return done('ran');
  },
};

async function open(more: { readonly observe?: (call: ToolCall) => void } = {}) {
  const crib = await createCrib({
    tools: [shelled],
    bundles: [defineBundle({ name: 'home', tools: [{ ...shelled, name: 'tidy' } as ToolInput] })], // the same under another name
    executors: [secret],
    services: { vault: {} },
    extensions: [defineExtension({ name: 'log', onEnd: (call) => more.observe?.(call) })],
  });
  return { crib, chest: await crib.open(undefined, { id: 'a', approve: () => true }) };
}

/** Every way in which a value usually gets printed, sent or stored. */
function printed(value: unknown): string {
  const ways = [
    () => JSON.stringify(value),
    () => inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }),
    () => inspect({ ...(value as object) }, { depth: Number.POSITIVE_INFINITY }),
    () => JSON.stringify({ ...(value as object) }),
    () => inspect(structuredClone(value), { depth: Number.POSITIVE_INFINITY }),
    () => String(value),
  ];
  return ways.map((print) => attempt(print)).join('\n');
}

function attempt(print: () => string | undefined): string {
  try {
    return print() ?? '';
  } catch {
    return ''; // what cannot be cloned or serialised leaks nothing
  }
}

describe('no output shows how a tool runs', () => {
  it.each<[string, (parts: Awaited<ReturnType<typeof open>>) => unknown]>([
    ['a spec of the catalog', ({ crib }) => crib.get('clean')],
    ['the catalog', ({ crib }) => crib.catalog],
    ['what match finds', ({ crib }) => crib.match({ kind: 'secret' })],
    ['a spec of a listing', ({ chest }) => chest.list()],
    ['a spec of a chest', ({ chest }) => chest.get('clean')],
    ['what search finds', ({ chest }) => chest.search('clean')],
    ['an explanation', ({ crib }) => crib.explain({}, undefined, 'clean')],
    ['a bundle', ({ crib }) => crib.bundles.get('home')],
    ['what a bundle holds', ({ crib }) => crib.bundles.info('home')],
    ['the crib', ({ crib }) => crib],
    ['the chest', ({ chest }) => chest],
    ['a result', ({ chest }) => chest.call('clean')],
    ['a defined tool', () => defineTool({ name: 'x', description: '', input: {}, run: () => MARK })],
    ['a defined bundle', () => defineBundle({ name: 'home', tools: [shelled] })],
    ['a renamed spec', ({ crib }) => rename(crib.catalog.specs, (name) => `${name}_2`)],
    ['a prefixed spec', ({ crib }) => prefix(crib.catalog.specs, 'my')],
    ['a tightened spec', ({ crib }) => tighten(crib.catalog.specs, { retries: 0 })],
    ['a spec that was kept', ({ crib }) => keep(crib.catalog.specs, () => true)],
    ['a copied spec', ({ crib }) => ({ ...crib.get('clean'), name: 'copy' })],
  ])('%s', async (_, pick) => {
    const value = await pick(await open());
    expect(value).toBeDefined();
    expect(printed(value)).not.toContain(MARK);
  });

  it('a call, as observers and executors see it', async () => {
    const calls: ToolCall[] = [];
    const { chest } = await open({ observe: (call) => calls.push(call) });
    await chest.call('clean');
    expect(calls).toHaveLength(1);
    expect(printed(calls[0])).not.toContain(MARK);
    expect(printed(seen.call)).not.toContain(MARK);
  });

  it('the run of a tool, if its executor logs it', async () => {
    const logged: string[] = [];
    const logging: Executor = {
      ...secret,
      execute(_, run) {
        logged.push(`${JSON.stringify(run)} ${JSON.stringify({ run })} ${inspect(run, { depth: 9 })} ${String(run)}`);
        return done('ran');
      },
    };
    const crib = await createCrib({ tools: [shelled], executors: [logging], services: { vault: {} } });
    await (await crib.open()).call('clean');
    expect(logged).toHaveLength(1);
    expect(logged.join()).not.toContain(MARK);
  });

  it('an approval request', async () => {
    const requests: unknown[] = [];
    const crib = await createCrib({
      tools: [{ ...shelled, policy: { approval: 'always' } } as ToolInput],
      executors: [secret],
    }); // the same, asking first
    const chest = await crib.open(undefined, { approve: (request) => requests.push(request) > 1 });
    await chest.call('clean');
    expect(requests).toHaveLength(1);
    expect(printed(requests[0])).not.toContain(MARK);
  });

  it('the error for a tool without an executor', async () => {
    const crib = await createCrib({
      tools: [{ name: 'clean', description: '', run: { kind: 'agent', host: MARK } }],
    });
    expect(printed(await (await crib.open()).call('clean'))).not.toContain(MARK);
  });

  it('and a copied spec still runs', async () => {
    const { crib } = await open();
    const spec = crib.get('clean');
    const other = await createCrib({
      tools: [{ ...spec, name: 'copy' } as ToolInput],
      executors: [secret],
      services: { vault: 1 },
    }); // a spec under another name
    expect(await (await other.open()).call('copy')).toMatchObject({ ok: true });
  });
});

describe('returned objects cannot change the crib', () => {
  /** Tries a change that plain JavaScript allows; a refusal is fine. */
  const tryTo = (change: () => unknown) => attempt(() => String(change()));
  const listed = (value: unknown) => value as unknown[]; // past the readonly types, as plain JavaScript may

  it.each<[string, (crib: Crib) => unknown]>([
    ['the name of a spec', (crib) => Object.assign(crib.get('clean') ?? {}, { name: 'other' })],
    ['the effects of a spec', (crib) => Object.assign(crib.get('clean')?.effects ?? {}, { destructive: false })],
    ['the schema of a spec', (crib) => Object.assign(crib.get('clean')?.input ?? {}, { properties: { evil: {} } })],
    ['the policy of a spec', (crib) => Object.assign(crib.get('clean')?.policy ?? {}, { approval: 'never' })],
    ['the tags of a spec', (crib) => listed(crib.get('clean')?.tags).push('evil')],
    ['the meta of a spec', (crib) => Object.assign(crib.get('clean')?.meta ?? {}, { evil: true })],
    ['the conditions of a spec', (crib) => Object.assign(crib.get('clean')?.when ?? {}, { env: 'TOOLCRIB_NOT_SET' })],
    ['the list of specs', (crib) => listed(crib.catalog.specs).pop()],
    ['the catalog', (crib) => Object.assign(crib.catalog, { get: () => undefined })],
    ['the list of names held back', (crib) => listed(crib.catalog.held).push('evil')],
    ['what match returned', (crib) => listed(crib.match({})).pop()],
    ['the members of a bundle', (crib) => listed(crib.bundles.get('home')?.members).pop()],
    ['the requirements of a bundle', (crib) => listed(crib.bundles.get('home')?.requires).push('evil')],
    ['the definition of a bundle', (crib) => listed(crib.bundles.get('home')?.definition.tools).pop()],
    ['the bundles of a tool', (crib) => listed(crib.bundles.of('tidy')).pop()],
    ['the names of bundles', (crib) => listed(crib.bundles.names()).pop()],
    ['the list of extensions', (crib) => listed(crib.extensions.list()).splice(0)],
    ['the names of profiles', (crib) => listed(crib.profiles()).pop()],
  ])('%s', async (_, change) => {
    const tool = { ...shelled, tags: ['a'], meta: { b: true }, effects: { destructive: true }, when: { env: 'PATH' } };
    const crib = await createCrib({
      tools: [tool as ToolInput], // one of each field
      bundles: [defineBundle({ name: 'home', tools: [{ ...shelled, name: 'tidy' } as ToolInput] })], // the same under another name
      executors: [secret],
      profiles: { only: {} },
    });
    const shown = () =>
      JSON.stringify([
        crib.catalog.specs,
        crib.get('clean'),
        crib.catalog.held,
        crib.bundles.names().map((name) => [crib.bundles.info(name), crib.bundles.get(name)?.requires]),
        crib.bundles.of('tidy').length,
        crib.extensions.list().map((extension) => extension.name),
        crib.profiles(),
      ]);
    const nextGeneration = () => {
      crib.register({ name: 'next', description: 'comes and goes', run: () => 1 });
      crib.unregister('next');
    };
    const before = shown();
    tryTo(() => change(crib));
    expect(shown()).toBe(before);
    nextGeneration();
    expect(shown()).toBe(before);
  });

  it('a listing: removing a tool from it does not change the chest', async () => {
    const { chest } = await open();
    tryTo(() => listed(chest.list()).splice(0));
    expect(chest.list()).toHaveLength(2);
  });

  it('a spec of an untrusted source: a reader of a destructive tool cannot make it harmless', async () => {
    const crib = await createCrib({
      sources: [
        {
          name: 'stranger',
          start: async () => ({
            specs: () => [{ name: 'rm', description: '', effects: { destructive: true }, run: () => 'gone' }] as never, // a plain tool
            onChange: () => () => {},
            status: () => ({ state: 'ready' }),
            close: async () => {},
          }),
        },
      ],
    });
    const chest = await crib.open();
    tryTo(() => Object.assign(chest.get('rm')?.effects ?? {}, { destructive: false }));
    expect(await chest.call('rm')).toMatchObject({ error: { code: 'denied' } });
  });

  it('the list of extensions: emptying it does not open the gates', async () => {
    const crib = await createCrib({
      tools: [{ name: 'pay', description: '', policy: { approval: 'always' }, run: () => 'paid' }],
    });
    tryTo(() => listed(crib.extensions.list()).splice(0));
    expect(await (await crib.open()).call('pay')).toMatchObject({ error: { code: 'denied' } });
  });

  it('a definition: changing it after it was given changes nothing', async () => {
    const definition = {
      name: 'clean',
      description: 'Cleans',
      tags: ['a'],
      input: { type: 'object', properties: { path: { type: 'string' } } },
      run: () => 1,
    };
    const crib = await createCrib({ tools: [definition] });
    const before = JSON.stringify(crib.get('clean'));
    definition.tags.push('b');
    definition.input.properties.path.type = 'number';
    definition.name = 'other';
    expect(JSON.stringify(crib.get('clean'))).toBe(before);
  });
});
