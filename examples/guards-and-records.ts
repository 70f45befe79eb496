// What lets a platform team say yes: rules over arguments, budgets, approvals that wait in the store, and a record of it all.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib, defineTool } from 'toolcrib';

const paid: number[] = [];
const pay = defineTool({
  name: 'pay_invoice',
  description: 'Pay an invoice',
  input: { type: 'object', properties: { amount: { type: 'number', minimum: 0 } }, required: ['amount'] } as const,
  policy: { price: 1 },
  run: ({ amount }) => {
    paid.push(amount);
    return `paid ${amount}`;
  },
});

const folder = mkdtempSync(join(tmpdir(), 'toolcrib-example-'));
writeFileSync(
  join(folder, 'toolcrib.yaml'),
  `
profiles:
  clerk:
    rules: [{ tools: ["pay_*"], when: { properties: { amount: { maximum: 100 } } }, otherwise: approve }]
    policy: { budgets: [{ scope: caller, amount: 2, perMs: 3600000 }] }
`,
);
const crib = await createCrib({ tools: [pay], configFile: folder, watch: false });
const clerk = await crib.open('clerk', { id: 'ann' });

// A small payment meets the rule.
assert((await clerk.call('pay_invoice', { amount: 40 })).ok);

// A large one waits for a person, in the store: it could be answered tomorrow, and by another process.
const parked = await clerk.call('pay_invoice', { amount: 400 }, { park: true });
assert(parked.status === 'waiting');
const [request] = await crib.approvals.list({ state: 'waiting' });
assert(request !== undefined && request.caller.id === 'ann');
console.log(`${request.tool} ${JSON.stringify(request.arguments)} asks because ${request.reason}`);

// Whoever asked cannot say yes; an operator can. Approving runs nothing.
const own = await crib.approvals.answer(request.id, { decision: 'approve' }, { id: 'ann' });
assert(!own.ok && own.error.code === 'denied');
assert((await crib.approvals.answer(request.id, { decision: 'approve' }, { id: 'olga', operator: true })).ok);
assert.deepEqual(paid, [40]);

// The same call takes the approval up, once.
assert((await clerk.call('pay_invoice', { amount: 400 }, { park: true })).ok);
assert.deepEqual(paid, [40, 400]);

// Two calls have cost what the budget of an hour holds.
const broke = await clerk.call('pay_invoice', { amount: 1 });
assert(broke.status === 'failed' && broke.error.code === 'rate_limited');

// Every call is on record, with who approved it, and the record shows whether it was changed.
const calls = await crib.calls.list({ tool: 'pay_invoice' });
console.log(calls.map(({ outcome, approval }) => `${outcome}${approval === undefined ? '' : ` by ${approval.by}`}`));
assert((await crib.audit.verify()).ok);
assert((await crib.metrics()).includes('toolcrib_calls_total'));

await crib.close();
rmSync(folder, { recursive: true });
