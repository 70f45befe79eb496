import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { type Crib, type CribOptions, createCrib } from '../../src/index.ts';
import { REPORTS, toModule, toolsOf, toSpecs } from './fixture-tools.ts';

const STARTER = join(import.meta.dirname, '../../examples/starter');

const CONFIG = `
defaultProfile: assistant
sources:
  shop: { modules: ./shop }
  billing: { files: ./billing.json }
  people: { files: ./people.json }
  warehouse: { files: ./warehouse.json }
  notes: { mcp: { command: node, args: [${JSON.stringify(join(STARTER, 'notes-server.js'))}, FOLDER] }, trust: true }
  town: { openapi: ./town.openapi.yaml }
  analytics: { mcp: { command: node, args: [./analytics-server.js] } }
  ledger: { mcp: { command: node, args: [./ledger-server.js] }, initTimeoutMs: 600000 } # starting, however long a test takes
executors:
  http: { allowPrivate: ["127.0.0.1:9"] }
profiles:
  assistant: {}
  reader: { include: [{ readOnly: true }] }
  agent: { expose: script, include: ["source:shop"] }
access:
  keys: true
  roles:
    support: { profiles: [assistant, reader] }
    approver: { profiles: [] }
    admin: { profiles: ["*"], operator: true }
`;

/** The sources whose programs are written here: one ends at once, one never answers. */
const PROGRAMS = {
  'analytics-server.js':
    "console.error('analytics 2.4.1'); console.error('Error: connect ECONNREFUSED 10.0.4.17:5432'); process.exitCode = 1;\n",
  'ledger-server.js': [
    "console.error('ledger 5.0.2 (node 24, sqlite 3.50)');",
    "console.error('opening /srv/ledger/2026.db');",
    "console.error('migration 41 of 44: add index entries_by_account');",
    "console.error('migration 42 of 44: recompute balances');",
    "console.error('reading 48,211 entries of 2026');",
    'setInterval(() => {}, 60_000);',
    'process.stdin.resume();',
  ].join('\n'),
};

const SHOP = { order: 'orders', customer: 'customers', coupon: 'coupons', ticket: 'tickets', campaign: 'campaigns' };
const BILLING = {
  invoice: 'invoices',
  payment: 'payments',
  refund: 'refunds',
  subscription: 'subscriptions',
  tax: 'tax returns',
  contract: 'contracts',
};
const PEOPLE = {
  employee: 'employees',
  absence: 'absences',
  interview: 'interviews',
  payroll: 'payrolls',
  team: 'teams',
  badge: 'badges',
};
const WAREHOUSE = {
  product: 'products',
  shipment: 'shipments',
  supplier: 'suppliers',
  pallet: 'pallets',
  carrier: 'carriers',
  stocktake: 'stocktakes',
  shelf: 'shelves',
};

/** Writes the folder of the fixture: 8 sources, of which one is down and one is starting, with 200 tools. */
function writeFixture(isLocal: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-console-'));
  const files: Readonly<Record<string, string>> = {
    'toolcrib.yaml': (isLocal ? CONFIG.replace(/^access:[\s\S]*/m, '') : CONFIG).replace('FOLDER', folder), // so that a test finds its process
    'shop/tools.js': toModule([...toolsOf('sales', SHOP), ...REPORTS]),
    'billing.json': toSpecs(toolsOf('finance', BILLING)),
    'people.json': toSpecs(toolsOf('people', PEOPLE)),
    'warehouse.json': toSpecs(toolsOf('logistics', WAREHOUSE)),
    ...PROGRAMS,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  cpSync(join(STARTER, 'town.openapi.yaml'), join(folder, 'town.openapi.yaml'));
  return folder;
}

/** Options for opening the fixture. */
export interface FixtureOptions {
  /** A folder that `writeFixture` wrote before. */
  readonly folder?: string;
  /** True for a server without `access`: a browser on this machine is the local caller. */
  readonly isLocal?: boolean;
  /** False to leave out the calls, the script and the approvals. */
  readonly hasCalls?: boolean;
  /** Further tools in code. */
  readonly tools?: NonNullable<CribOptions['tools']>;
}

/** An open crib of the fixture. */
export interface Fixture {
  readonly crib: Crib;
  readonly folder: string;
  close(): Promise<void>;
}

/** Opens the crib of the fixture: 200 tools, 500 calls, one script with its calls, and 3 waiting approvals. */
export async function openFixture({
  isLocal = false,
  folder = writeFixture(isLocal),
  hasCalls = true,
  tools,
}: FixtureOptions = {}): Promise<Fixture> {
  const crib = await createCrib({
    configFile: folder,
    store: `sqlite:${join(folder, 'crib.db')}`,
    background: true,
    watch: false,
    ...(tools !== undefined && { tools }),
  });
  while (!isSettled(crib)) await new Promise((resolve) => setTimeout(resolve, 20));
  if (hasCalls) await makeCalls(crib);
  return {
    crib,
    folder,
    async close() {
      await crib.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** True when one source is down, one is starting, and the others have listed their tools. */
function isSettled(crib: Crib): boolean {
  const states = new Map(crib.sources().map(({ name, state }) => [name, state]));
  return states.get('notes') === 'ready' && states.get('analytics') === 'failed' && states.get('ledger') === 'starting';
}

const CALLERS = ['alice', 'bob', 'support-agent', 'nightly-report'];
const CALLS: readonly (readonly [string, object])[] = [
  ['order_list', { limit: 5 }],
  ['customer_get', { id: 'customer-1042' }],
  ['order_search', { query: 'late' }],
  ['ticket_create', { title: 'Parcel is late', labels: ['delivery'] }],
  ['order_update', { id: 'order-1044', changes: { state: 'closed' } }],
  ['coupon_get', { id: 'coupon-13' }],
  ['customer_search', { query: 'x' }],
  ['campaign_list', {}],
];
const SCRIPT = `
const orders = await tools.order_list({ limit: 4 });
const customers = await Promise.all(orders.map((order) => tools.customer_get({ id: 'customer-' + order.id.slice(6) })));
await tools.order_export({});
for (const order of orders.slice(0, 2)) await tools.order_update({ id: order.id, changes: { state: 'closed' } });
return { orders: orders.length, customers: customers.length };
`;

async function makeCalls(crib: Crib): Promise<void> {
  const chests = await Promise.all(CALLERS.map((id) => crib.open('assistant', { id, roles: ['support'] })));
  for (let start = 0; start < 500; start += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        const [name, input] = CALLS[(start + at * 3) % CALLS.length] ?? ['order_list', {}];
        const turn = Math.floor(at / 6);
        return chests[at % chests.length]?.call(name, input, {
          conversation: `chat-${start / 50}`,
          turn: `turn-${turn}`,
        });
      }),
    );
  const agent = await crib.open('agent', { id: 'planning-agent', roles: ['support'] });
  await agent.call('execute_script', { code: SCRIPT }, { conversation: 'chat-script', turn: 'turn-0' });
  const [alice, , support] = chests;
  await alice?.call('order_delete', { id: 'order-1044', reason: 'Ordered twice by mistake' }, { park: true });
  await support?.call(
    'customer_delete',
    { id: 'customer-7', reason: 'Asked for by the customer on 12 November, ticket 4410.' },
    { park: true },
  );
  await support?.call('coupon_delete', { id: 'coupon-20' }, { park: true });
}
