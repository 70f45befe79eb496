// An extension takes part in every call it applies to: as a gate that wraps, or as an observer that watches.
import assert from 'node:assert/strict';
import { createCrib, defineExtension, defineTool, done, type Extension } from 'toolcrib';

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: ({ city }) => {
    if (city === 'Atlantis') throw new Error('no station there');
    return { city, celsius: 21 };
  },
});

// Hooks, for those who think in before and after.
const politeness = defineExtension({
  name: 'politeness',
  priority: 'high',
  veto: (call) => (call.input.city === 'Mordor' ? 'One does not simply ask for that.' : undefined),
  before: () => ({ askedAt: 'noon' }),
  onError: (_call, error) => (error.code === 'tool_error' ? done(`No report: ${error.message}.`) : undefined),
});

// The full shape: a gate further in sees what an outer one left in the context; calling `next` again would retry.
const contexts: unknown[] = [];
const contextReader: Extension = {
  name: 'contextReader',
  priority: 'low',
  applies: (spec) => spec.name === 'weather',
  wrap: (call, next) => {
    contexts.push(call.context.askedAt);
    return next(call);
  },
};

// An observer sees every call, refused and unknown ones too, and can break none.
const seen: string[] = [];
const journal = defineExtension({
  name: 'journal',
  onEnd: (call, result) => void seen.push(`${call.spec.name}: ${result.status}`),
});

const crib = await createCrib({ tools: [weather], extensions: [politeness, contextReader, journal] });
const chest = await crib.open();

assert((await chest.call('weather', { city: 'Rome' })).ok);
const recovered = await chest.call('weather', { city: 'Atlantis' });
assert(recovered.ok && recovered.recovered);
const vetoed = await chest.call('weather', { city: 'Mordor' });
assert(vetoed.status === 'failed' && vetoed.error.code === 'denied');
await chest.call('wether', { city: 'Rome' });

// Added and removed at run time: the next call sees it.
crib.extensions.remove('politeness');
assert((await chest.call('weather', { city: 'Mordor' })).ok);

assert.deepEqual(contexts, ['noon', 'noon', undefined]);
assert.deepEqual(seen, ['weather: done', 'weather: done', 'weather: failed', 'wether: failed', 'weather: done']);
console.log(seen);
await crib.close();
