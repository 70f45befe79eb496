import { describe, expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { type SqlEngine, sql } from '../../src/store/engines/sql-engine.ts';
import { migrate } from '../../src/store/open-store.ts';
import { MIGRATIONS } from '../../src/store/tables.ts';

const CREATE = sql`CREATE TABLE claims (id TEXT PRIMARY KEY, state TEXT NOT NULL)`;

/** What tables may expect of an engine; `place` names an empty one each time. */
export function engineContract(place: () => Promise<string>): void {
  const opened = async (url?: string): Promise<SqlEngine> => {
    const { engine } = await openEngine({ url: url ?? (await place()), env: {} });
    onTestFinished(() => engine.close());
    return engine;
  };
  describe('writing', () => writingContract(opened));
  describe('migrations', () => migrationContract(opened));
}

type Opened = () => Promise<SqlEngine>;

function writingContract(opened: Opened): void {
  it('writes all statements of a group or none', async () => {
    const engine = await opened();
    await engine.write([CREATE]);
    const first = sql`INSERT INTO claims (id, state) VALUES ('a', 'open')`;
    await expect(engine.write([first, first])).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await engine.read(sql`SELECT id FROM claims`)).toEqual([]);
  });

  it('a failing group affects no other, however many are written at once', async () => {
    const engine = await opened();
    await engine.write([CREATE]);
    const put = (id: string) => engine.write([sql`INSERT INTO claims (id, state) VALUES (${id}, 'open')`]);
    const settled = await Promise.allSettled(['a', 'b', 'a', 'c', 'a', 'd'].map(put));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(2);
    const rows = await engine.read(sql`SELECT id FROM claims`);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('returns the rows of each statement', async () => {
    const engine = await opened();
    const answers = await engine.write([
      CREATE,
      sql`INSERT INTO claims (id, state) VALUES ('a', 'open'), ('b', 'open') RETURNING id`,
      sql`UPDATE claims SET state = 'claimed' WHERE id = 'c' RETURNING id`,
    ]);
    expect(answers.map((rows) => rows.map((row) => ({ ...row })))).toEqual([[], [{ id: 'a' }, { id: 'b' }], []]);
  });

  it('lets one of many claim a row', async () => {
    const engine = await opened();
    await engine.write([CREATE, sql`INSERT INTO claims (id, state) VALUES ('a', 'open')`]);
    const claim = sql`UPDATE claims SET state = 'claimed' WHERE id = 'a' AND state = 'open' RETURNING id`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => engine.write([claim])));
    expect(answers.filter(([rows]) => rows?.length === 1)).toHaveLength(1);
  });

  it('reads written values, numbers as numbers', async () => {
    const engine = await opened();
    await engine.write([
      sql`CREATE TABLE numbers (id BIGINT PRIMARY KEY, name TEXT)`,
      sql`INSERT INTO numbers (id, name) VALUES (${1_700_000_000_000}, ${null})`,
    ]);
    const rows = await engine.read(sql`SELECT id, name FROM numbers`);
    expect(rows.map((row) => ({ ...row }))).toEqual([{ id: 1_700_000_000_000, name: null }]);
  });
}

function migrationContract(opened: Opened): void {
  it('upgrades an empty database, and does nothing the second time', async () => {
    const engine = await opened();
    await migrate(engine);
    await migrate(engine);
    expect(await engine.read(sql`SELECT id FROM toolcrib_migrations`)).toHaveLength(MIGRATIONS.length);
    expect(await engine.read(engine.dialect.tableNamed('toolcrib_specs'))).toHaveLength(1);
  });

  it('continues where an older version stopped, and keeps the data', async () => {
    const engine = await opened();
    const older = [['CREATE TABLE notes (id BIGINT PRIMARY KEY)', 'INSERT INTO notes (id) VALUES (1)']];
    await migrate(engine, older);
    await migrate(engine, [...older, ['ALTER TABLE notes ADD COLUMN text TEXT'], ["UPDATE notes SET text = 'kept'"]]);
    expect((await engine.read(sql`SELECT id, text FROM notes`)).map((row) => ({ ...row }))).toEqual([
      { id: 1, text: 'kept' },
    ]);
  });

  it('runs each step once although many start together', async () => {
    const engine = await opened();
    const steps = [['CREATE TABLE notes (id BIGINT)'], ['INSERT INTO notes (id) VALUES (1)']];
    await Promise.all(Array.from({ length: 8 }, () => migrate(engine, steps)));
    expect(await engine.read(sql`SELECT id FROM notes`)).toHaveLength(1);
  });

  it('leaves nothing of an upgrade that fails, and says why', async () => {
    const engine = await opened();
    const broken = migrate(engine, [
      ['CREATE TABLE notes (id BIGINT)'],
      ['CREATE TABLE more (id BIGINT)', 'INSERT INTO nowhere (id) VALUES (1)'],
    ]);
    await expect(broken).rejects.toMatchObject({ message: expect.stringContaining('nowhere') });
    for (const name of ['notes', 'more', 'toolcrib_migrations'])
      expect(await engine.read(engine.dialect.tableNamed(name))).toEqual([]);
  });

  it('refuses a database of a newer version, with one sentence', async () => {
    const engine = await opened();
    await migrate(engine, [['CREATE TABLE notes (id BIGINT)'], ['CREATE TABLE more (id BIGINT)']]);
    const refused = migrate(engine, [['CREATE TABLE notes (id BIGINT)']]);
    await expect(refused).rejects.toMatchObject({
      code: 'store_too_new',
      message: `The store ${engine.location} was written by a newer version of Toolcrib (schema 2, this one knows 1); update Toolcrib or set store.url to another store.`,
    });
  });
}
