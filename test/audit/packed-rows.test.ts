import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packRows, toDraftRow, unpackRows } from '../../src/audit/packed-rows.ts';
import type { AuditEntry } from '../../src/core/ports/stored-audit.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ',"number":0,', '"number":0', '\ud800', '\\"', 'größer', '🧰'),
);
/** An entry as the audit builds it: keys sorted, number 0. */
const entry: fc.Arbitrary<AuditEntry> = fc
  .tuple(fc.array(text, { minLength: 6, maxLength: 6 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map(([[by = '', callId = '', caller = '', door = '', tool = '', turn = ''], at]) => ({
    approval: { by, id: '1' },
    at,
    callId,
    caller: caller === '' ? undefined : caller,
    door,
    kind: 'call',
    number: 0,
    outcome: 'done',
    profile: door,
    source: 'code',
    tool,
    turn,
  }));

it('rows that were packed are the same rows, whatever texts they hold', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), fc.nat(), (entries, number) => {
      const rows = unpackRows(packRows(entries.map(toDraftRow)));
      expect(rows.map(({ head, tail }) => `${head}${number}${tail}`)).toEqual(
        entries.map((one) => JSON.stringify({ ...one, number })),
      );
      expect(rows.map(({ at, callId, tool, caller, outcome }) => [at, callId, tool, caller, outcome])).toEqual(
        entries.map(({ at, callId, tool, caller = '', outcome }) => [at, callId, tool, caller, outcome]),
      );
    }),
  );
});
