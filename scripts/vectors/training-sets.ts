import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A tool as the data sets describe it. */
export interface SetTool {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly server?: string;
  readonly category?: string;
  readonly schema?: { readonly properties?: Readonly<Record<string, { readonly description?: unknown } | null>> };
}

/** A request and the ids of the tools that answer it. */
export interface SetQuery {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

/** One data set: a folder with `tools.jsonl.gz` and, unless it is a plain corpus, `queries.jsonl.gz`. */
export interface TrainingSet {
  readonly name: string;
  readonly tools: readonly SetTool[];
  readonly queries: readonly SetQuery[];
}

/** Every set below `folder`, by name. */
export function readTrainingSets(folder: string): readonly TrainingSet[] {
  return readdirSync(folder)
    .toSorted()
    .filter((name) => existsSync(join(folder, name, 'tools.jsonl.gz')))
    .map((name) => readTrainingSet(folder, name));
}

function readTrainingSet(folder: string, name: string): TrainingSet {
  return {
    name,
    tools: readLines(join(folder, name, 'tools.jsonl.gz')) as readonly SetTool[], // the README of the sets says so
    queries: readLines(join(folder, name, 'queries.jsonl.gz')) as readonly SetQuery[], // likewise
  };
}

function readLines(path: string): readonly unknown[] {
  if (!existsSync(path)) return [];
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown); // JSON.parse says any
}
