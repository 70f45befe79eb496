import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../../src/core/ports/stored-journals.ts';
import { createCrib, defineTool, type ToolResult } from '../../../src/index.ts';
import { openEngine } from '../../../src/store/engines/open-engine.ts';
import { jsonOf, type Statement, sql } from '../../../src/store/engines/sql-engine.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

const OPERATOR = { id: 'boss', operator: true } as const;
type Entries = readonly JournalEntry[];

/** Lets a script wait, changes its journal as another run would have left it, and approves. */
async function replay(
  code: string,
  change: (entries: Entries) => Entries,
  { pins = {}, last = [] }: { readonly pins?: object; readonly last?: readonly Statement[] } = {},
) {
  const url = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
  const made: string[] = [];
  const note = (name: string, effects: object) =>
    defineTool({
      name,
      description: `Notes ${name}`,
      input: { type: 'object' },
      effects,
      run: (input: unknown) => {
        made.push(`${name} ${JSON.stringify(input)}`);
        return name;
      },
    });
  const tools = [note('read', { readOnly: true }), note('write', { destructive: true }), note('send', {})];
  const crib = await createCrib({ tools, store: url, profiles: { agent: { expose: 'script' } } });
  onTestFinished(() => crib.close());
  const chest = await crib.open('agent', { id: 'alice' });
  const waiting = await chest.call('execute_script', { code }, { park: true });
  if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
  const { callId = '', id } = waiting.waiting;
  const { engine } = await openEngine({ url, env: {} });
  const rows = await engine.read(sql`SELECT entry FROM toolcrib_journal_entries ORDER BY place`);
  const entries = change(rows.map((row) => jsonOf(row, 'entry') as JournalEntry));
  await engine.write([
    sql`DELETE FROM toolcrib_journal_entries`,
    ...entries.map(
      (entry) => sql`
      INSERT INTO toolcrib_journal_entries (id, place, entry) VALUES (${callId}, ${entry.index}, ${JSON.stringify(entry)})`,
    ),
  ]);
  const begun = { ...(await begunOf(engine)), ...pins };
  await engine.write([sql`UPDATE toolcrib_journals SET begun = ${JSON.stringify(begun)}`, ...last]);
  await engine.close();
  made.length = 0;
  await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
  return { result: (await crib.tasks.wait(callId)) as ToolResult, made };
}

async function begunOf(engine: Awaited<ReturnType<typeof openEngine>>['engine']) {
  const [row = {}] = await engine.read(sql`SELECT begun FROM toolcrib_journals`);
  return jsonOf(row, 'begun') as object;
}

const CODE = `
  const first = await tools.read({ n: 1 });
  await tools.write({ n: 2 });
  try { return [first, await tools.send({ n: 3 })] } catch (error) { return [first, error.code, error.message] }`;

describe('a script that takes another path than its journal ends with a conflict, and makes no call', () => {
  it.each<[string, (entries: Entries) => Entries, string]>([
    [
      'another tool',
      ([first, ...rest]) => [{ ...(first as JournalEntry), name: 'send' }, ...rest],
      'Call 1 was "send", and is now "read"',
    ],
    [
      'a search',
      ([first, ...rest]) => [{ ...(first as JournalEntry), kind: 'search', name: 'x' }, ...rest],
      'Call 1 was a search for "x", and is now "read"',
    ],
    [
      'other arguments',
      ([first, second]) => [first as JournalEntry, { ...(second as JournalEntry), hash: '?' }],
      'Call 2, "write", has other arguments than before',
    ],
  ])('%s', async (_, change, words) => {
    const { result, made } = await replay(CODE, change);
    expect(result).toMatchObject({ error: { code: 'conflict', message: expect.stringContaining(words) } });
    expect(made).toEqual([]);
  });

  it('an end that is too early', async () => {
    const lost = { index: 2, kind: 'call', name: 'send', hash: '?', isRepeatable: true } as const;
    const { result } = await replay('await tools.read({}); return tools.write({})', (entries) => [
      ...entries.map((entry) => ({ ...entry, answer: { order: entry.index, isOk: true, text: '1', now: 1 } })),
      lost,
    ]);
    expect(result).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('without call 3, "send"') },
    });
  });

  it.each(['code', 'input'])('other %s', async (pin) => {
    const { result, made } = await replay(CODE, (entries) => entries, { pins: { [pin]: 'another hash' } });
    expect(result).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining(`its ${pin} was changed`) },
    });
    expect(made).toEqual([]);
  });
});

describe('a call that was begun and has no end when its process died', () => {
  it('is an unknown outcome for the script, and not made again', async () => {
    const begun = ({ answer: _answer, ...entry }: JournalEntry): JournalEntry => ({ ...entry, isRepeatable: false });
    const { result, made } = await replay(
      `try { await tools.read({}) } catch (error) { return [error.code, error.tool] } finally { await tools.write({}) }`,
      ([first, ...rest]) => [begun(first as JournalEntry), ...rest.map((entry) => ({ ...entry }))],
    );
    expect(result).toMatchObject({ ok: true, data: ['unknown_outcome', 'read'] });
    expect(made).toEqual(['write {}']);
  });

  it('is made again if its tool is read-only, unless the tool was changed since', async () => {
    const again = ([{ answer: _answer, ...first }, ...rest]: readonly [JournalEntry, ...JournalEntry[]]) => [
      first,
      ...rest,
    ];
    const code = `const n = await tools.read({}).catch((error) => error.code); await tools.write({}); return n`;
    const same = await replay(code, (entries) => again(entries as never));
    expect(same).toMatchObject({ result: { content: [{ text: 'read' }] }, made: ['read {}', 'write {}'] });
    const changed = await replay(code, (entries) =>
      again(entries.map((entry) => ({ ...entry, definition: 'another hash' })) as never),
    );
    expect(changed).toMatchObject({ result: { content: [{ text: 'unknown_outcome' }] }, made: ['write {}'] });
  });

  it('is made if its approval was not used: a call runs only after it has claimed it', async () => {
    const { result, made } = await replay(CODE, (entries) =>
      entries.map(({ isWaiting: _isWaiting, ...entry }) => entry),
    );
    expect(result).toMatchObject({ ok: true, data: ['read', 'send'] });
    expect(made).toEqual(['write {"n":2}', 'send {"n":3}']);
  });
});

describe('a script whose journal is not whole is not run again from its beginning', () => {
  it.each<[string, (entries: Entries) => Entries]>([
    ['without its entries', () => []],
    ['without an entry in the middle', (entries) => entries.slice(1)],
    ['without the call that waits', (entries) => entries.slice(0, 1)],
    ['with an entry of another form', (entries) => entries.map(({ index }) => ({ index }) as JournalEntry)],
  ])('%s', async (_, change) => {
    const { result, made } = await replay(CODE, change);
    expect(result).toMatchObject({
      error: { code: 'unknown_outcome', message: expect.stringContaining('its journal') },
    });
    expect(made).toEqual([]);
  });

  it('without the journal', async () => {
    const { result, made } = await replay(CODE, (entries) => entries, { last: [sql`DELETE FROM toolcrib_journals`] });
    expect(result).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(made).toEqual([]);
  });
});

it('answers are replayed in the order in which the script got them', async () => {
  const code = `
    const order = [];
    const note = (call) => call.then((one) => order.push(one));
    await Promise.all([note(tools.read({ n: 1 })), note(search('notes', { limit: 1 }).then((hits) => hits.length))]);
    await tools.write({ order });
    return order;`;
  const { result } = await replay(code, (entries) =>
    entries.map((entry) => {
      const { answer, index } = entry;
      return answer === undefined ? entry : { ...entry, answer: { ...answer, order: 1 - index } };
    }),
  );
  // The order decides what the script asks next: its write has other arguments than before.
  expect(result).toMatchObject({ error: { code: 'conflict', message: expect.stringContaining('other arguments') } });
});

it('an answer is in the journal of a background call before the script gets it', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<string>();
  const tool = (name: string, run: () => unknown) =>
    defineTool({ name, description: name, input: { type: 'object' }, effects: {}, run });
  const crib = await createCrib({
    tools: [tool('send', () => 'sent'), tool('hold', () => held)],
    store: 'memory',
    profiles: { agent: { expose: 'script' } },
  });
  onTestFinished(() => crib.close());
  const chest = await crib.open('agent', { id: 'alice' });
  const code = 'const last = tools.hold(); console.log(await tools.send()); return last';
  const submitted = await chest.submit('execute_script', { code });
  const id = submitted.status === 'waiting' ? submitted.waiting.id : '';
  await expect.poll(() => crib.tasks.get(id)).toMatchObject({ progress: 'sent' });
  const entries = (await crib.store?.journals.get(id))?.entries.map(({ name, answer }) => [name, answer?.text]);
  release('held');
  expect(entries).toEqual([
    ['hold', undefined],
    ['send', '"sent"'],
  ]);
  expect(await crib.tasks.wait(id)).toMatchObject({ ok: true, content: [{ text: 'held' }] });
});
