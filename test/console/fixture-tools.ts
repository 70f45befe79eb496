/** A tool of the fixture, as the text of its source has it. */
interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly input: object;
  readonly effects: object;
}

const ID = { type: 'string', pattern: '^[a-z]+-[0-9]+$', description: 'For example "order-1042".' };
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** What is done to a thing: words of the description, effects, and arguments. */
const VERBS: Readonly<Record<string, readonly [words: string, effects: object, input: object]>> = {
  list: [
    'List %s, newest first',
    { readOnly: true },
    object({
      state: { type: 'string', enum: ['open', 'closed', 'all'], default: 'open' },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 20 },
    }),
  ],
  get: ['Read one of the %s by its id', { readOnly: true }, object({ id: ID }, ['id'])],
  search: ['Find %s by words', { readOnly: true }, object({ query: { type: 'string', minLength: 2 } }, ['query'])],
  create: [
    'Create one of the %s',
    { readOnly: false, destructive: false },
    object(
      {
        title: { type: 'string', maxLength: 120 },
        dueAt: { type: 'string', format: 'date-time' },
        amount: { type: 'number', minimum: 0, description: 'In euros.' },
        labels: { type: 'array', items: { type: 'string' }, maxItems: 8 },
        notify: { type: 'boolean', default: true },
      },
      ['title'],
    ),
  ],
  update: [
    'Change fields of one of the %s',
    { readOnly: false, destructive: false, idempotent: true },
    object({ id: ID, changes: { type: 'object', additionalProperties: { type: ['string', 'number', 'null'] } } }, [
      'id',
      'changes',
    ]),
  ],
  delete: [
    'Delete one of the %s for good',
    { readOnly: false, destructive: true },
    object({ id: ID, reason: { type: 'string' } }, ['id']),
  ],
  export: [
    'Export %s as a table',
    { readOnly: true },
    object({ from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } }),
  ],
  assign: ['Assign one of the %s to an employee', {}, object({ id: ID, to: { type: 'string' } }, ['id', 'to'])],
};

/** The tools of a list of things: `order` and `orders` give `order_list` to `order_assign`. */
export function toolsOf(category: string, things: Readonly<Record<string, string>>): readonly FixtureTool[] {
  return Object.entries(things).flatMap(([thing, plural]) =>
    Object.entries(VERBS).map(([verb, [words, effects, input]]) => ({
      name: `${thing}_${verb}`,
      description: words.replace('%s', plural),
      category,
      tags: [thing, 'readOnly' in effects && effects.readOnly === true ? 'read' : 'write'],
      input,
      effects,
    })),
  );
}

/** The text of a module with these tools. They answer with made-up rows; ids that end in 13 fail. */
export function toModule(tools: readonly FixtureTool[]): string {
  const begin = `const rows = (n) => Array.from({ length: n }, (_, i) => ({ id: 'order-' + (1040 + i), customer: ['Ada', 'Grace', 'Alan'][i % 3], total: 12.5 * (i + 1), state: i % 4 ? 'open' : 'closed' }));
const answer = async (verb, input) => {
  if (String(input.id ?? '').endsWith('13')) throw new Error('The warehouse did not answer: connection reset.');
  await new Promise((resolve) => setTimeout(resolve, verb === 'export' ? 30 : 1));
  if (verb === 'list' || verb === 'search' || verb === 'export') return rows(input.limit ?? 6);
  return { id: input.id ?? 'order-1042', state: verb === 'delete' ? 'deleted' : 'open', changedBy: 'console' };
};`;
  const exports = tools.map((tool) => {
    const text = JSON.stringify(tool);
    const verb = tool.name.replace(/^.*_/, '');
    return `export const ${tool.name} = { ...${text}, execute: (input) => answer('${verb}', input) };`;
  });
  return [begin, ...exports, ''].join('\n');
}

/** The text of a spec file with these tools, as HTTP requests to a server that does not exist. */
export function toSpecs(tools: readonly FixtureTool[]): string {
  const specs = tools.map((tool) => ({
    ...tool,
    run: { kind: 'http', method: 'POST', url: `http://127.0.0.1:9/${tool.name}` },
  }));
  return JSON.stringify({ tools: specs }, null, 1);
}

/** Tools of other forms: a nested schema with a union, and tools without arguments. */
export const REPORTS: readonly FixtureTool[] = [
  {
    name: 'report_build',
    description: 'Build a report of sales for a period, and send it',
    category: 'sales',
    tags: ['report', 'write'],
    effects: { readOnly: false, destructive: false },
    input: object(
      {
        title: { type: 'string', minLength: 3, maxLength: 120 },
        period: object({ from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } }, [
          'from',
          'to',
        ]),
        groupBy: { type: 'array', items: { type: 'string', enum: ['day', 'week', 'product', 'customer'] } },
        currency: { type: 'string', enum: ['EUR', 'USD', 'GBP'], default: 'EUR' },
        send: {
          oneOf: [
            object({ email: { type: 'string', format: 'email' } }, ['email']),
            object({ folder: { type: 'string', description: 'A folder of the archive.' } }, ['folder']),
          ],
        },
        includeTaxes: { type: 'boolean', default: false },
      },
      ['title', 'period'],
    ),
  },
  {
    name: 'shop_status',
    description: 'Tell whether the shop takes orders',
    category: 'sales',
    tags: ['read'],
    effects: { readOnly: true },
    input: object({}),
  },
  {
    name: 'shop_close',
    description: 'Take no more orders until the shop is opened again',
    category: 'sales',
    tags: ['write'],
    effects: { readOnly: false, destructive: false, idempotent: true },
    input: object({ until: { type: 'string', format: 'date-time' } }),
  },
  {
    name: 'shop_open',
    description: 'Take orders again',
    category: 'sales',
    tags: ['write'],
    effects: { readOnly: false, destructive: false, idempotent: true },
    input: object({}),
  },
];
