import { describe, expect, it } from 'vitest';
import { cribOf, folderWith, namesOf } from '../crib/workshop.ts';
import { serve } from '../doors/rest/served.ts';

/** JavaScript cannot make a text of it. */
const NO_TEXT = { toString: 1, valueOf: 1 };
const good = { name: 'good', description: 'd', run: { kind: 'http', url: 'https://x.invalid/' } };
const rate = (scope: unknown) => [{ scope, amount: 1, perMs: 1 }];

const BAD: readonly (readonly [string, object])[] = [
  ['the kind', { run: { kind: NO_TEXT } }],
  ['the name', { name: NO_TEXT }],
  ['the version', { version: NO_TEXT }],
  ['the former kind', { run: undefined, tool_type: NO_TEXT }],
  ...[
    { approval: NO_TEXT },
    { approval: ['never'] },
    { approvers: [NO_TEXT] },
    { approvers: [['role:boss']] },
    { access: { hours: { from: NO_TEXT, to: '10:00' } } },
    { access: { hours: { from: ['08:00'], to: '10:00' } } },
    { access: { hours: { from: '08:00', to: '10:00', timeZone: NO_TEXT } } },
    { rates: rate(NO_TEXT) },
    { budgets: rate(NO_TEXT) },
  ].map((policy) => [`policy ${JSON.stringify(policy)}`, { policy }] as const),
];

describe('a spec with a value that cannot be converted to text affects no other spec', () => {
  it.each(BAD)('in a file: %s', async (_, bad) => {
    const specs = [{ ...good, name: 'bad', ...bad }, good];
    const crib = await cribOf(
      folderWith({
        'toolcrib.json': JSON.stringify({ sources: { a: { files: './tools.json' } } }),
        'tools.json': JSON.stringify({ tools: specs }),
      }),
      { watch: false },
    );
    expect(namesOf(crib)).toEqual(['good']);
  });

  it.each(BAD)('over REST: %s', async (_, bad) => {
    const { ask, token } = await serve();
    const { status, json } = await ask('/api/specs', { token, body: { tools: [{ ...good, name: 'bad', ...bad }] } });
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_input' });
  });
});
