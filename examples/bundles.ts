// Bundles: tools that belong together are found together, shown together and set up once.
import assert from 'node:assert/strict';
import { createCrib, defineBundle, defineTool } from 'toolcrib';

const tool = (name: string, description: string) =>
  defineTool({
    name,
    description,
    input: { type: 'object', properties: {} },
    run: (_input, call) => `${name} on ${call.state ?? 'nothing'}`,
  });

// 1. A bundle and its tools. Nothing is set up yet, and yet everything is listed.
let opened = 0;
const browser = defineBundle({
  name: 'browser',
  description: 'Drive a web page',
  instructions: 'Take a snapshot before you click.',
  tools: [
    tool('browser_click', 'Click a button or link'),
    tool('browser_navigate', 'Open a page'),
    tool('browser_screenshot', 'Take a picture of the page'),
  ],
  // What a setup finds out may be told to the model.
  setup: () => ({ state: `page ${++opened}`, instructions: 'The page is 1280 pixels wide.' }),
});
const notes = defineBundle({ name: 'notes', tools: [tool('note_add', 'Write a note')] });
const crib = await createCrib({ bundles: [browser, notes], profiles: { assistant: { active: ['notes'] } } });
assert.deepEqual(crib.bundles.info('browser')?.toolNames, ['browser_click', 'browser_navigate', 'browser_screenshot']);
assert.equal(opened, 0);

// 2. Expansion: one hit brings its siblings.
assert.deepEqual(crib.bundles.expand(['browser_click']), ['browser_click', 'browser_navigate', 'browser_screenshot']);

// 3. A filter keeps some bundles closed; the hit itself stays.
const onlyNotes = { bundleFilter: (bundle: { name: string }) => bundle.name === 'notes' };
assert.deepEqual(crib.bundles.expand(['browser_click', 'note_add'], onlyNotes), ['browser_click', 'note_add']);

// 4. Search with expansion, inside the view of the caller.
const chest = await crib.open('assistant', { id: 'alice' });
const hits = await chest.search('click a button', { limit: 1, expand: true });
assert.deepEqual(
  hits.map((hit) => hit.name),
  ['browser_click', 'browser_navigate', 'browser_screenshot'],
);

// 5. Tools join a bundle later, several at once; activation shows them and sets the bundle up, once.
crib.bundles.addTools('browser', [tool('browser_back', 'Go back'), tool('browser_reload', 'Load the page again')]);
assert.deepEqual(chest.active(), ['notes']);
const outcome = await chest.activate(['browser', 'brwoser']);
assert.deepEqual(outcome.applied, ['browser']);
assert.match(outcome.rejected[0]?.reason ?? '', /Did you mean "browser"/);
assert.equal(chest.list().length, 6);
assert.equal(chest.instructions(), 'Take a snapshot before you click.\n\nThe page is 1280 pixels wide.');
assert.equal(chest.state('browser'), 'page 1');
const clicks = await Promise.all([chest.call('browser_click'), chest.call('browser_click')]);
assert(
  clicks.every(
    (result) => result.ok && result.content[0]?.type === 'text' && result.content[0].text === 'browser_click on page 1',
  ),
);
assert.equal(opened, 1);

console.log(
  'active:',
  chest.active(),
  'tools:',
  chest.list().map((spec) => spec.name),
);
await crib.close();
