import { countTokens } from 'gpt-tokenizer';
import { type Chest, createCrib, defineTool } from 'toolcrib';
import { fromOpenAICalls, toOpenAI, toOpenAIResults } from 'toolcrib/formats/openai';
import { printTable } from './measure.ts';

const text = { type: 'string' } as const;
const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object' as const,
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const orders = Array.from({ length: 25 }, (_, n) => ({
  id: `o-${1000 + n}`,
  customer: 'c-7',
  placed: `2026-0${1 + (n % 9)}-14`,
  total: 20 + n,
  currency: 'EUR',
  items: [{ sku: `sku-${n}`, title: 'Garden chair, folding, oak', quantity: 1 + (n % 3) }],
}));

/** The five tools of the job. */
const JOB_TOOLS = [
  {
    name: 'customer_find',
    description: 'Find a customer by e-mail address',
    input: object({ email: text }),
    run: () => ({ id: 'c-7', name: 'Ann Berg', city: 'Oslo', phone: '+47 22 00 00 00', language: 'nb' }),
  },
  {
    name: 'order_list',
    description: 'List the orders of a customer',
    input: object({ customer: text }),
    run: () => orders,
  },
  {
    name: 'shipment_get',
    description: 'Get the shipment of an order with all its events',
    input: object({ order: text }),
    run: () => ({
      carrier: 'Posten',
      destination: 'Oslo',
      events: orders.map(({ placed, id }) => ({ at: `${placed}T08:00:00Z`, what: `Scanned at hub ${id}` })),
    }),
  },
  {
    name: 'weather_forecast',
    description: 'Forecast the weather of a city for ten days',
    input: object({ city: text }),
    run: () => orders.slice(0, 10).map(({ placed }) => ({ day: placed, low: 1, high: 7, rain: 0.4, wind: 'NW 5' })),
  },
  {
    name: 'note_add',
    description: 'Add a note to an order',
    input: object({ order: text, note: text }),
    run: () => ({ id: 'n-1' }),
  },
];

/** The other tools of such a catalogue: a job needs few of those that there are. */
const OTHERS = ['invoice', 'refund', 'supplier', 'stock', 'price', 'campaign', 'ticket', 'employee', 'room'].flatMap(
  (thing) =>
    ['create', 'update', 'delete', 'list', 'export'].map((verb) => ({
      name: `${thing}_${verb}`,
      description: `${verb} one or several records of the kind ${thing}, with filters by date, state and owner`,
      input: object({ id: text, from: text, until: text, state: { enum: ['open', 'closed'] }, owner: text }),
      run: () => ({}),
    })),
);

type Call = readonly [name: string, input: object];
/** What the model does in its turns. The last turn is its answer in words. */
type Turns = readonly (readonly Call[])[];

const ORDER = { order: 'o-1024' };
const STEPS: readonly Call[] = [
  ['customer_find', { email: 'ann@example.com' }],
  ['order_list', { customer: 'c-7' }],
  ['shipment_get', ORDER],
  ['weather_forecast', { city: 'Oslo' }],
  ['note_add', { ...ORDER, note: 'Rain is likely (40 %) when it arrives in Oslo.' }],
];
const WISHES = [
  'find a customer by e-mail',
  'list orders of a customer',
  'get the shipment of an order',
  'forecast the weather of a city',
  'add a note to an order',
];
const SEARCHES: readonly Call[] = WISHES.map((query) => ['search_tools', { query, limit: 1 }] as const);

/** The same job as code. */
const CODE = `const { id } = await tools.customer_find({ email: 'ann@example.com' });
const orders = await tools.order_list({ customer: id });
const { id: order } = orders.at(-1);
const { destination } = await tools.shipment_get({ order });
const [{ rain }] = await tools.weather_forecast({ city: destination });
await tools.note_add({ order, note: \`Rain is likely (\${rain * 100} %) when it arrives in \${destination}.\` });
return { order, destination, rain };`;

const WAYS: readonly (readonly [way: string, expose: 'all' | 'search' | 'script', turns: Turns])[] = [
  ['direct calls', 'all', STEPS.map((step) => [step])],
  [
    'search and call',
    'search',
    [SEARCHES, ...STEPS.map(([name, input]) => [['call_tool', { name, arguments: input }] as const])],
  ],
  ['a script', 'script', [SEARCHES, [['execute_script', { code: CODE }]]]],
];

interface Cost {
  readonly trips: number;
  readonly input: number;
  readonly output: number;
}

const REQUEST = {
  role: 'user',
  content: 'Will the last order of ann@example.com arrive in the rain? Add a note to it.',
};
const ANSWER = { role: 'assistant', content: 'Order o-1024 goes to Oslo, where rain is likely. I added a note.' };

/** Plays the turns of a model: each request carries all definitions and all messages so far. */
async function play(chest: Chest, turns: Turns): Promise<Cost> {
  const definitions = countTokens(JSON.stringify(toOpenAI(chest.list())));
  const messages: unknown[] = [REQUEST];
  const cost = { trips: 0, input: 0, output: 0 };
  const request = (answer: object) => {
    cost.trips++;
    cost.input += definitions + countTokens(JSON.stringify(messages));
    cost.output += countTokens(JSON.stringify(answer));
    messages.push(answer);
  };
  for (const [turn, calls] of turns.entries()) {
    const toolCalls = calls.map(([name, input], index) => ({
      id: `call_${turn}_${index}`,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = { role: 'assistant' as const, content: null, tool_calls: toolCalls };
    request(message);
    const answers = await chest.callAll(fromOpenAICalls(message));
    for (const { name, result } of answers) if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result)}`);
    messages.push(...toOpenAIResults(answers));
  }
  request(ANSWER);
  return cost;
}

/** The same job of five steps in three ways: round trips to the model, and the tokens that it reads and writes. */
export async function benchJob(): Promise<void> {
  const tools = [...JOB_TOOLS, ...OTHERS].map((tool) => defineTool(tool));
  const profiles = { all: {}, search: { expose: 'search' }, script: { expose: 'script' } } as const;
  const crib = await createCrib({ tools, profiles });
  const rows: string[][] = [];
  for (const [way, expose, turns] of WAYS) {
    const { trips, input, output } = await play(await crib.open(expose, { id: 'alice' }), turns);
    rows.push([way, String(trips), String(input), String(output)]);
  }
  await crib.close();
  printTable(`A job of five steps, ${tools.length} tools, as a model would do it (tokens: o200k)`, [
    ['', 'round trips', 'tokens read', 'tokens written'],
    ...rows,
  ]);
}
