import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { configNode } from '../../../src/crib/config/config-schema.ts';
import { removePrograms } from '../../kinds/shell/shell-shop.ts';
import { agentRows } from './agent-rows.ts';
import { extensionRows } from './extension-rows.ts';
import { outsideRows } from './outside-rows.ts';
import { type Row, showCrib } from './rows.ts';
import { runningRows } from './running-rows.ts';
import { scheduleRows } from './schedule-rows.ts';
import { keysApart, keysOf } from './schema-keys.ts';
import { scriptRows } from './script-rows.ts';
import { KINDS_OF_SOURCES, settingRows, showKind } from './setting-rows.ts';
import { sourceRows } from './source-rows.ts';
import { taskRows } from './task-rows.ts';
import { toolRows } from './tool-rows.ts';
import { viewRows } from './view-rows.ts';

afterAll(removePrograms);

/** Keys that change nothing, and why. */
const EXCEPTIONS = {
  $schema: 'it is for editors',
  'sources.*(mcp).mcp(command).type': 'its one value says what command says',
  'sources.*(python).trust': 'a Python function says nothing about effects, policy, tags and category',
};

/** Keys of specs: these are copied as a whole, for the reader of spec files. */
const IN_SPECS = /^(tools\(|policy\.|effects\.|when\.)/;

const ROWS: readonly Row[] = [
  ...toolRows,
  ...viewRows,
  ...extensionRows,
  ...outsideRows,
  ...sourceRows,
  ...runningRows,
  ...scheduleRows,
  ...taskRows,
  ...scriptRows,
  ...agentRows,
];

describe('every key of the configuration counts', () => {
  it.each(ROWS)('$key', async (row) => {
    const { key, before, after, readAs = key } = row;
    expect([...keysApart(configNode, before, after)]).toEqual([key]);
    const prepared = row.prepare?.();
    onTestFinished(() => prepared?.mockRestore());
    const first = await showCrib(before, row);
    const again = await showCrib(before, row);
    expect(first.text).not.toContain('"refused"');
    expect(again.text).toBe(first.text);
    const changed = await showCrib(after, row);
    expect(changed.text).not.toBe(first.text);
    if (!IN_SPECS.test(key)) expect(changed.read).toContain(readAs);
  });

  it.each(KINDS_OF_SOURCES)('each setting of a source: %s', async (kind) => {
    const [first, changed] = [await showKind(kind, 'before'), await showKind(kind, 'after')];
    const isSame = (part: string) => JSON.stringify(first.parts[part]) === JSON.stringify(changed.parts[part]);
    const rows = settingRows.filter(({ part }) => part.startsWith(`${kind}_`));
    const control = `${kind}_control`;
    expect(first.parts).toHaveProperty(control);
    expect(changed.parts[control]).toEqual(first.parts[control]);
    expect(rows.filter(({ part }) => isSame(part)).map(({ key }) => key)).toEqual([]);
    expect(rows.filter(({ key, readAs = key }) => !changed.read.has(readAs)).map(({ key }) => key)).toEqual([]);
    for (const { key, before, after } of rows) expect([...keysApart(configNode, before, after)]).toEqual([key]);
  });

  it('and has a row, or a key beneath it has', () => {
    const shown = [...[...ROWS, ...settingRows].map(({ key }) => key), ...Object.keys(EXCEPTIONS)];
    const isShown = (key: string) =>
      shown.some((one) => one === key || one.startsWith(`${key}.`) || one.startsWith(`${key}(`));
    expect(keysOf(configNode).filter((key) => !isShown(key))).toEqual([]);
  });
});
