import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DraftRow } from '../../src/core/ports/stored-audit.ts';
import { packRows, unpackRows } from '../../src/store/audit-append.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ',"number":0,', '\ud800', '\\"', '\0', 'größer', '🧰'),
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const usual = fc.record(
  {
    at: number,
    callId: text,
    caller: text,
    conversation: text,
    door: text,
    durationMs: number,
    kind: fc.constant('call'),
    outcome: fc.constant('done'),
    profile: text,
    roles: fc.array(text),
    source: text,
    tokens: fc.nat(),
    tool: text,
    turn: text,
  },
  { requiredKeys: ['at', 'callId', 'door', 'kind', 'outcome', 'profile', 'source', 'tool'] },
);
const rare = fc.record(
  {
    approval: fc.record({ by: text, id: text }),
    argumentsHash: text,
    cancels: fc.constant(true),
    count: fc.nat(),
    intents: fc.nat(),
    isReplayed: fc.constant(true),
    note: text,
    operator: fc.constant(true),
    parentId: text,
    resultHash: text,
    target: text,
    traceId: text,
    until: number,
  },
  { requiredKeys: [] },
);
const row = fc.record({ usual, rare: fc.option(rare, { nil: undefined }) });
const toDraft = (one: { readonly usual: object; readonly rare: object | undefined }): DraftRow =>
  ({ ...one.usual, rare: one.rare }) as DraftRow; // of these members

const sorted = (entry: object) => Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));

it('rows that were packed are the same rows with numbers, as JSON with sorted keys, whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), fc.nat(), (rows, first) => {
      const numbered = rows.map((one, index) => ({ ...one.usual, ...one.rare, number: first + index }));
      const unpacked = unpackRows(packRows(rows.map(toDraft)), first);
      expect(unpacked.map((one) => one.text)).toEqual(numbered.map((one) => JSON.stringify(sorted(one))));
      expect(unpacked.map(({ entry }) => entry)).toEqual(numbered);
    }),
  );
});

it('texts of arguments and results become their hashes', () => {
  const sha = (of: string) => createHash('sha256').update(of).digest('hex');
  fc.assert(
    fc.property(usual, text, text, (one, argumentsText, resultText) => {
      const [unpacked] = unpackRows(
        packRows([{ ...toDraft({ usual: one, rare: undefined }), argumentsText, resultText }]),
        7,
      );
      const hashes = { argumentsHash: sha(argumentsText), resultHash: sha(resultText) };
      expect(unpacked?.text).toBe(JSON.stringify(sorted({ ...one, ...hashes, number: 7 })));
    }),
  );
});
