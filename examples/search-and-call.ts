// A model that searches for tools instead of being shown all of them: with any vendor, and where the vendor loads what was found.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createCrib, defineBundle, defineTool } from 'toolcrib';
import { fromAnthropicCalls, toAnthropic, toAnthropicResults } from 'toolcrib/formats/anthropic';
import { z } from 'zod';

const notes = defineTool({
  name: 'read_note',
  description: 'Read a note',
  input: z.object({ title: z.string() }),
  run: ({ title }) => `Nothing is written about ${title}.`,
});
const invoice = defineTool({
  name: 'send_invoice',
  description: 'Send an invoice to a customer',
  input: z.object({ customer: z.string(), euros: z.number() }),
  run: ({ customer, euros }) => ({ sent: `${euros} € to ${customer}` }),
});

const crib = await createCrib({
  bundles: [
    defineBundle({ name: 'notes', description: 'What was written down', tools: [notes] }),
    defineBundle({ name: 'billing', description: 'Invoices and what is owed', tools: [invoice] }),
  ],
  profiles: { agent: { expose: 'search', essential: ['notes'] } },
});
const chest = await crib.open('agent', { id: 'alice' });
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name).sort();
assert.deepEqual(namesOf(chest.list()), ['call_tool', 'list_bundles', 'read_note', 'search_tools']);

// Any vendor: the model searches, reads name and schema of what was found, and calls it through call_tool.
const found = await chest.call('search_tools', { query: 'send_invoice', limit: 1 });
assert.match(JSON.stringify(found), /send_invoice.*customer/);
const called = await chest.call('call_tool', { name: 'send_invoice', arguments: { customer: 'Bob', euros: 7 } });
assert.deepEqual(called.ok && called.data, { sent: '7 € to Bob' });

// A job of several steps: the best tool of each step first.
const job = await chest.search({ goal: 'read the note about Bob, then send him an invoice', limit: 2 });
assert.deepEqual(namesOf(job), ['read_note', 'send_invoice']);

// Anthropic: all tools are sent, the deferred ones stay out of the prompt until a search refers to them.
// const said = await anthropic.messages.create({ model, max_tokens, messages, tools });
const tools = toAnthropic(chest.list(), { deferred: chest.listActive() });
const turns: unknown[] = JSON.parse(readFileSync(new URL('./recorded/anthropic-search.json', import.meta.url), 'utf8'));
const replies = [];
for (const said of turns) {
  const answers = await chest.callAll(fromAnthropicCalls(said));
  replies.push(...toAnthropicResults(answers, { tools }));
}
assert.deepEqual(replies[0]?.content, [{ type: 'tool_reference', tool_name: 'send_invoice' }]);
assert.match(JSON.stringify(replies[1]), /40 € to Ann/);
console.log(JSON.stringify(replies, null, 2));
await crib.close();
