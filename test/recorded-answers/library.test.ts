import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.ts';

const { createCrib, defineBundle, defineExtension, defineTool, done, ToolcribError } = library;
const keep = (name: string, recording: unknown) =>
  expect(`${JSON.stringify(recording, null, 2)}\n`).toMatchFileSnapshot(`recordings/library/${name}.txt`);

const ENTRIES = {
  toolcrib: async () => library,
  'formats/ai-sdk': () => import('../../src/formats/ai-sdk.ts'),
  'formats/anthropic': () => import('../../src/formats/anthropic.ts'),
  'formats/gemini': () => import('../../src/formats/gemini.ts'),
  'formats/langchain': () => import('../../src/formats/langchain.ts'),
  'formats/mcp': () => import('../../src/formats/mcp.ts'),
  'formats/openai': () => import('../../src/formats/openai.ts'),
  search: () => import('../../src/search/tool-search.ts'),
  testing: () => import('../../src/testing/index.ts'),
};

const TOOL = { name: 'add', description: 'Add', run: () => 1 };
const make = (options: unknown) => () => createCrib(options as library.CribOptions); // wrong on purpose

/** Mistakes of a developer: what is thrown for each. */
const MISTAKES: Readonly<Record<string, () => unknown>> = {
  'an unknown option': make({ tolls: [] }),
  'tools that are not a list': make({ tools: 'add' }),
  'a tool without a name': make({ tools: [{ run: () => 1 }] }),
  'a tool without a run': make({ tools: [{ name: 'add', description: 'Add' }] }),
  'a name that vendors refuse': make({ tools: [{ ...TOOL, name: 'a b' }] }),
  'a reserved name': make({ tools: [{ ...TOOL, name: 'search_tools' }] }),
  'a name twice': make({ tools: [TOOL, TOOL] }),
  'a schema that is none': make({ tools: [{ ...TOOL, input: { type: 'nonsense' } }] }),
  'an unknown key of a policy': make({ tools: [{ ...TOOL, policy: { timeout: 5 } }] }),
  'a bad value of a policy': make({ tools: [{ ...TOOL, policy: { timeoutMs: -1 } }] }),
  'an unknown kind': make({ tools: [{ ...TOOL, run: { kind: 'teleport' } }] }),
  'an unknown default profile': make({ defaultProfile: 'nobody' }),
  'an unknown bundle in a profile': make({ profiles: { a: { essential: ['nothing'] } } }),
  'a bad selector': make({ profiles: { a: { include: ['colour:red'] } } }),
  'a bundle that needs itself': make({ bundles: [{ name: 'a', requires: ['a'] }] }),
  'an extension without a name': make({ extensions: [{}] }),
  'an extension among the guards': make({ extensions: [{ name: 'mine', priority: 900, wrap: () => {} }] }),
  'a configuration that is not there': make({ configFile: '/nowhere/toolcrib.yaml' }),
  'an unknown key of the configuration': make({ config: { sorces: {} } }),
  'a configuration of the wrong type': make({ config: { defaultProfile: 5, results: { offloadBytes: 'many' } } }),
  'defineTool of nothing': () => defineTool({} as never), // wrong on purpose
  'defineBundle of nothing': () => defineBundle({} as never), // wrong on purpose
  'defineExtension of nothing': () => defineExtension({} as never), // wrong on purpose
};

describe('the library answers as it was recorded', () => {
  it('with its public names', async () => {
    const names = Object.entries(ENTRIES).map(async ([entry, load]) => [entry, Object.keys(await load()).toSorted()]);
    await keep('public-names', Object.fromEntries(await Promise.all(names)));
  });

  it('with the order of extensions', () => keep('extension-order', library.EXTENSION_ORDER));

  it('with the errors for mistakes of a developer', async () => {
    const thrown: Record<string, unknown> = {};
    for (const [mistake, run] of Object.entries(MISTAKES)) thrown[mistake] = await thrownBy(run);
    await keep('mistakes', thrown);
  });

  it('with results of calls, explain, search and listings', async () => {
    const crib = await createCrib({
      tools: [
        { ...TOOL, effects: { readOnly: true }, tags: ['math'], run: () => done('three', 3) },
        { name: 'wipe', description: 'Wipe', effects: { destructive: true }, run: () => 'wiped' },
        { name: 'fail', description: 'Fail', policy: { retries: 1 }, run: () => Promise.reject(new TypeError('no')) },
        {
          name: 'nested',
          description: 'Call add',
          run: (_: unknown, call: library.ToolCall) => call.tools.call('add', {}),
        },
      ],
      bundles: [{ name: 'math', description: 'Numbers', include: ['tag:math'], instructions: 'Count.' }],
      profiles: { small: { include: ['add', 'wipe'], policy: { timeoutMs: 1000 } }, usual: {} },
      defaultProfile: 'usual',
    });
    try {
      const chest = await crib.open();
      const results: Record<string, unknown> = {};
      for (const name of ['add', 'wipe', 'fail', 'nested', 'nothing']) {
        const {
          callId: _,
          durationMs: __,
          ...rest
        } = (await chest.call(name, {})) as unknown as Record<string, unknown>; // fields differ
        results[name] = rest;
      }
      results['wipe, approved'] = (await (await crib.open(undefined, { approve: () => true })).call('wipe', {})).ok;
      results['wipe, denied'] = {
        ...(await (await crib.open(undefined, { approve: () => false })).call('wipe', {})),
        callId: 0,
        durationMs: 0,
      };
      results['after the call was cancelled'] = {
        ...(await chest.call('add', {}, { signal: AbortSignal.abort() })),
        callId: 0,
        durationMs: 0,
      };
      await keep('results', results);
      await keep('listings', {
        list: (await crib.open('small')).list(),
        explain: crib.explain({ id: 'ann' }, 'small', 'fail'),
        explainUnknown: crib.explain({}, undefined, 'nothing'),
        search: await chest.search('add'),
      });
    } finally {
      await crib.close();
    }
  });
});

/** Code and message of what a function throws or rejects with. */
async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
    return 'nothing was thrown';
  } catch (cause) {
    if (cause instanceof ToolcribError) return { code: cause.code, message: cause.message };
    return { name: cause instanceof Error ? cause.name : typeof cause, message: String(cause) };
  }
}
