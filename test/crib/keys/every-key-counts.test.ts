import { describe, expect, it } from 'vitest';
import { configNode } from '../../../src/crib/config/config-schema.ts';
import { type Row, showCrib } from './rows.ts';
import { keysApart, keysOf } from './schema-keys.ts';
import { toolRows } from './tool-rows.ts';

/** Keys that no code reads, and why. */
const EXCEPTIONS = { $schema: 'it is for editors' };

/** Keys of specs: these are copied as a whole, for the reader of spec files. */
const IN_SPECS = /^(tools\(|policy\.|effects\.|when\.)/;

const ROWS: readonly Row[] = [...toolRows];

describe('every key of the configuration counts', () => {
  it.each(ROWS)('$key', async (row) => {
    const { key, before, after, readAs = key } = row;
    expect([...keysApart(configNode, before, after)]).toEqual([key]);
    const first = await showCrib(before, row);
    const again = await showCrib(before, row);
    expect(again.text).toBe(first.text);
    const changed = await showCrib(after, row);
    expect(changed.text).not.toBe(first.text);
    if (!IN_SPECS.test(key)) expect(changed.read).toContain(readAs);
  });

  it('and has a row', () => {
    const shown = [...ROWS.map(({ key }) => key), ...Object.keys(EXCEPTIONS)];
    expect([...keysOf(configNode)].sort()).toEqual(shown.sort());
  });
});
