import type { SqlValue, Statement, Survival } from './engines/engine.ts';
import type { Group } from './engines/group-commit.ts';

/**
 * Groups on their way to the writer thread. Flat, with each SQL text once: cloning nested objects for every row
 * would cost more than inserting them.
 */
export interface PackedGroups {
  readonly ids: readonly number[];
  /** How many statements each group has. */
  readonly sizes: readonly number[];
  readonly texts: readonly string[];
  /** Of each statement, in order: which text, and how many of the values are its parameters. */
  readonly textIndexes: readonly number[];
  readonly paramCounts: readonly number[];
  readonly values: readonly SqlValue[];
  /** Of all of them, the most that one asks for. */
  readonly survives: Survival;
}

/** Lays groups out flat. */
export function packGroups(groups: readonly Group[]): PackedGroups {
  const indexOf = new Map<string, number>();
  const textIndexes: number[] = [];
  const paramCounts: number[] = [];
  const values: SqlValue[] = [];
  for (const { statements } of groups) {
    for (const { sql, params } of statements) {
      const index = indexOf.get(sql) ?? indexOf.size;
      indexOf.set(sql, index);
      textIndexes.push(index);
      paramCounts.push(params.length);
      for (const param of params) values.push(param);
    }
  }
  const sizes = groups.map(({ statements }) => statements.length);
  const ids = groups.map(({ id }) => id);
  const survives = groups.some((group) => group.survives === 'power loss') ? 'power loss' : 'process';
  return { ids, sizes, texts: [...indexOf.keys()], textIndexes, paramCounts, values, survives };
}

/** The groups that were packed. */
export function unpackGroups(packed: PackedGroups): readonly Group[] {
  const { ids, sizes, texts, textIndexes, paramCounts, values, survives } = packed;
  let statement = 0;
  let value = 0;
  const nextStatement = (): Statement => {
    const params = values.slice(value, value + (paramCounts[statement] ?? 0));
    value += params.length;
    return { sql: texts[textIndexes[statement++] ?? 0] ?? '', params };
  };
  return ids.map((id, index) => ({
    id,
    statements: Array.from({ length: sizes[index] ?? 0 }, nextStatement),
    survives,
  }));
}
