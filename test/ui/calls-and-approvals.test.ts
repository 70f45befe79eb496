import { describe, expect, it } from 'vitest';
import { matches, readFilters, toQuery, withFilters } from '../../ui/src/pages/calls/call-filters.ts';
import { createCallLog, mergeRows } from '../../ui/src/pages/calls/call-log.ts';
import type { CallRow } from '../../ui/src/pages/calls/call-types.ts';
import { summaryWords, toTimeline } from '../../ui/src/pages/calls/conversation-groups.ts';
import { toCsvLine } from '../../ui/src/pages/calls/csv-line.ts';
import { momentAt, placeOf, toStretches, toTickTexts, toTree } from '../../ui/src/pages/calls/waterfall-layout.ts';
import type { PreviousCall } from '../../ui/src/parts/approval/approval-types.ts';
import { compareWith, toRows } from '../../ui/src/parts/approval/argument-rows.ts';
import { countSuspicious, toPieces } from '../../ui/src/parts/visible-characters.ts';

const NOON = Date.parse('2026-11-16T12:00:00Z');
const row = (callId: string, afterMs: number, more: Partial<CallRow> = {}): CallRow => ({
  callId,
  tool: 'look',
  profile: 'desk',
  door: 'rest',
  outcome: 'done',
  at: new Date(NOON + afterMs).toISOString(),
  durationMs: 10,
  ...more,
});

describe('the log', () => {
  const all = { isWanted: () => true };

  it('patches known calls in place and holds new ones', () => {
    const log = createCallLog();
    log.reset([row('b', 1, { outcome: 'running' }), row('a', 0)]);
    log.receive([row('c', 2), row('b', 1)], { place: 'held', ...all });
    expect(log.state().rows.map(({ callId, outcome }) => [callId, outcome])).toEqual([
      ['b', 'done'],
      ['a', 'done'],
    ]);
    expect(log.state().held.map(({ callId }) => callId)).toEqual(['c']);
    log.showHeld();
    expect(log.state().rows.map(({ callId }) => callId)).toEqual(['c', 'b', 'a']);
    log.receive([row('d', 3)], { place: 'top', ...all });
    expect(log.state().rows[0]?.callId).toBe('d');
  });

  it('does not let a late event of its start reopen an ended call, and stays the same object without news', () => {
    const log = createCallLog();
    log.reset([row('a', 0)]);
    const before = log.state();
    log.receive([row('x', 1)], { place: 'top', isWanted: () => false });
    expect(log.state()).toBe(before);
    log.receive([row('a', 0, { outcome: 'running' })], { place: 'top', ...all });
    expect(log.state().rows[0]?.outcome).toBe('done');
  });

  it('shows one row for a call that waited, with the time it waited', () => {
    const [merged, ...rest] = mergeRows([row('a', 5000), row('a', 0, { outcome: 'waiting' })]);
    expect(merged).toMatchObject({ outcome: 'done', waitedMs: 5000 });
    expect(rest).toEqual([]);
  });
});

describe('filters', () => {
  it('are read from the address; what an address cannot mean is left out', () => {
    const filters = readFilters(new URLSearchParams('tool=%20add%20&status=odd&time=9y&since=never&caller=bob'));
    expect(filters).toEqual({ tool: 'add', caller: 'bob' });
    expect(`${withFilters(new URLSearchParams('view=log&tool=add'), { tool: '', code: 'denied' })}`).toBe(
      'view=log&code=denied',
    );
    expect(toQuery({ time: '1h', tool: 'add' }, NOON)).toEqual({ tool: 'add', since: '2026-11-16T11:00:00.000Z' });
  });

  it('decide whether a call of an event belongs to the log', () => {
    expect(matches(row('a', 0, { caller: 'bob', outcome: 'denied' }), { caller: 'bob', status: 'failed' })).toBe(true);
    expect(matches(row('a', 0, { outcome: 'denied' }), { code: 'timeout' })).toBe(false);
    expect(matches(row('a', 0), { since: new Date(NOON + 1).toISOString() })).toBe(false);
  });
});

it('a timeline has conversations, turns and calls in order, with a summary in words', () => {
  const said = { conversation: 'chat', turn: 'one' };
  const rows = [
    row('d', 400),
    row('e', 350, { ...said, tokens: 1, waitedMs: 150.5 }),
    row('c', 300, { ...said, outcome: 'denied' }),
    row('b', 200, { ...said, tokens: 1200 }),
    row('a', 100, { ...said, tool: 'search_tools', tokens: 300 }),
  ];
  const items = toTimeline(rows);
  expect(items.map((item) => (item.kind === 'entry' ? item.row.callId : `${item.kind} ${item.id}`))).toEqual([
    'conversation chat',
    'turn one',
    'a',
    'e',
    'b',
    'c',
    'conversation undefined',
    'turn undefined',
    'd',
  ]);
  const [, turn] = items;
  if (turn?.kind !== 'turn') expect.unreachable('the second line is the turn');
  expect(summaryWords(turn.summary, String)).toBe('1 search, 2 calls, 1 denied, waited 150.5, 1,501 tokens');
});

describe('a waterfall', () => {
  const root = row('root', 0, { durationMs: 10_000 });
  const child = (callId: string, afterMs: number, durationMs: number, parentId = 'root') =>
    row(callId, afterMs, { durationMs, parentId });

  it('folds stretches in which no inner call ran, and keeps the order of time', () => {
    const tree = toTree(root, [child('b', 9000, 1000), child('a', 0, 1000), child('a1', 100, 100, 'a')], 0);
    expect(tree.map(({ row: { callId }, depth }) => [callId, depth])).toEqual([
      ['root', 0],
      ['a', 1],
      ['a1', 2],
      ['b', 1],
    ]);
    const stretches = toStretches(tree);
    expect(stretches.filter(({ isIdle }) => isIdle).map(({ from, to }) => [from - NOON, to - NOON])).toEqual([
      [200, 9000],
    ]);
    const places = [0, 100, 200, 5000, 9000, 10_000].map((ms) => placeOf(NOON + ms, stretches));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect([places[0], places.at(-1)]).toEqual([0, expect.closeTo(1)]);
    expect(places.map((place) => Math.round(momentAt(place, stretches)) - NOON)).toEqual([
      0, 100, 200, 5000, 9000, 10_000,
    ]);
  });

  it('has times along its axis that differ, also around folded stretches', () => {
    const stretches = toStretches(toTree(root, [child('a', 9950, 10), child('b', 9960, 40)], 0));
    const texts = toTickTexts([0, 0.25, 0.5, 0.75, 1], stretches, String);
    expect(new Set(texts).size, texts.join()).toBe(5);
    expect([texts[0], texts[4]]).toEqual(['0', '10.00 s']);
    expect(toTickTexts([0, 0.5, 1], toStretches(toTree(root, [], 0)), String)).toEqual(['0', '5.0 s', '10.0 s']);
    expect(toTickTexts([0, 1], [], String)).toEqual(['0', '0']);
  });

  it('ends with calls that contain each other, and with a call alone', () => {
    expect(toTree(root, [child('a', 1, 1, 'b'), child('b', 1, 1, 'a'), { ...root, parentId: 'root' }], 0)).toHaveLength(
      1,
    );
    expect(toStretches(toTree(root, [], 0))).toMatchObject([{ isIdle: false, left: 0, right: 1 }]);
    expect(toStretches([])).toEqual([]);
  });
});

describe('arguments of an approval', () => {
  const lastCall = (given: PreviousCall['arguments'], more: Partial<PreviousCall> = {}): PreviousCall => ({
    id: 'x',
    arguments: given,
    at: '',
    sameArguments: false,
    sameDefinition: true,
    ...more,
  });

  it('are rows by path; long ones are folded until they are opened', () => {
    const given = { to: { 'a/b': ['x'] }, memo: 'm'.repeat(401), many: Array.from({ length: 300 }, (_, n) => n) };
    const rows = toRows(given, new Set(), undefined);
    expect(rows.map(({ path, isFolded }) => [path, isFolded])).toEqual([
      ['/to', false],
      ['/to/a~1b', false],
      ['/to/a~1b/0', false],
      ['/memo', true],
      ['/many', true],
    ]);
    expect(toRows(given, new Set(['/memo', '/many']), undefined).some(({ isFolded }) => isFolded)).toBe(false);
  });

  it('are compared value by value; what the server has cut is not compared', () => {
    const given = { amount: 2, deep: { same: 1, now: true }, text: 'new text' };
    const earlier = lastCall(
      { amount: 1, deep: { same: 1, old: true }, text: 'old… (900 characters)' },
      { argumentsLength: 5000 },
    );
    expect(compareWith(given, earlier)).toEqual({
      gone: [{ path: '/deep/old', before: 'true' }],
      counts: { changed: 1, fresh: 1, gone: 1, same: 2 },
    });
    const changed = toRows(given, new Set(), earlier).flatMap(({ path, change }) =>
      change ? [[path, change.kind]] : [],
    );
    expect(changed).toEqual([
      ['/amount', 'changed'],
      ['/deep/now', 'new'],
    ]);
  });

  it('never read members of the prototype', () => {
    const given = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}');
    expect(toRows(given, new Set(), lastCall({})).map(({ path, change }) => [path, change?.kind])).toEqual([
      ['/__proto__', 'new'],
      ['/__proto__/x', 'new'],
      ['/constructor', 'new'],
    ]);
  });
});

it('suspicious characters are marked by name, and nothing of a text is lost', () => {
  const text = 'ok \u202eevil\u200b p\u0430y\r\n\tend \u00a0 e\u0301';
  const pieces = toPieces(text);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  expect(Object.fromEntries(countSuspicious(text))).toEqual({
    'right-to-left override': 1,
    'zero width space': 1,
    'letter of another script': 1,
    'carriage return': 1,
    'no-break space': 1,
  });
  expect(toPieces('Привет, мир')).toHaveLength(1);
});

it('a line of CSV is quoted, and no cell is a formula', () => {
  const line = toCsvLine(row('=1+1', 0, { tool: 'a "b", c', caller: '@cmd', conversation: '-x' }));
  expect(line).toMatch(/^2026-11-16T12:00:00\.000Z,'=1\+1,"a ""b"", c",,desk,rest,'@cmd,'-x,/);
});
