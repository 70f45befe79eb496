import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecord } from '../../core/json.ts';
import { nearest } from '../../core/read-options.ts';
import { isCodeVariable } from '../../kinds/shell/caller-code.ts';
import { isScriptName, namedInVariables } from '../../kinds/shell/own-code.ts';
import { isInside } from '../../kinds/shell/trace-path.ts';
import { aroundModule } from '../loaded-code.ts';

/** The context of an entry of a list of tools. */
interface EntryPlace {
  /** The folders that its relative paths may start from. */
  readonly bases: readonly string[];
  /** The folder of the configuration. */
  readonly folder: string;
  /** Expands the variables in a text. */
  read(text: string): string;
}

/** A text of an entry that may be a path. */
interface FoundText {
  readonly text: string;
  readonly isModule: boolean;
}

/** Members of a tool that do not say what it runs, or that are not paths. */
const NO_PATHS: ReadonlySet<string> = new Set(
  `name title description input output input_schema output_schema metadata examples instructions effects policy
  category tags meta when requires needs version priority sandbox paths reads allowDashes code`.split(/\s+/),
);
const MAX_PATH_LENGTH = 4096;
const MAX_DEPTH = 50;

/**
 * The files that a refused tool would run once its mistake is corrected. What is wrong with it is unknown, so every
 * text counts that looks like a file, under any key, and also each word of it.
 */
export function pathsOfEntry(entry: unknown, { bases, folder, read }: EntryPlace): readonly string[] {
  const [texts, records] = [[] as FoundText[], [] as Readonly<Record<string, unknown>>[]];
  const collect = (value: unknown, key: string, depth: number): void => {
    if (typeof value === 'string') texts.push({ text: read(value), isModule: nearest(key, ['module']) !== undefined });
    else if (depth > MAX_DEPTH) return;
    else if (Array.isArray(value)) for (const item of value) collect(item, key, depth + 1);
    else if (isRecord(value)) {
      records.push(value);
      for (const [name, member] of Object.entries(value)) if (!NO_PATHS.has(name)) collect(member, name, depth + 1);
    }
  };
  collect(entry, '', 0);
  const all = [...bases, ...foldersIn(records, bases)];
  const words = texts.flatMap(({ text, isModule }) => wordsOf(text).map((word) => ({ text: word, isModule })));
  const paths = all.flatMap((base) => [
    ...words.flatMap((word) => pathsOfWord(word, base)),
    ...records.flatMap((record) => namedInVariables(record, { base, around: folder, isCode: isCodeVariable })),
  ]);
  return [...new Set(paths)].filter((path) => !isInside(folder, path) && !/^\/(usr\/)?s?bin\//.test(path));
}

/** The folders in which its program would start. */
function foldersIn(records: readonly Readonly<Record<string, unknown>>[], bases: readonly string[]): readonly string[] {
  const named = records.flatMap((record) => [record.cwd, record.working_dir, record.working_directory, record.folder]);
  return named.flatMap((path) => (typeof path === 'string' ? bases.map((base) => resolve(base, path)) : []));
}

function wordsOf(text: string): readonly string[] {
  const words = [text, ...text.split(/[\s"'`;|&<>()=,]+/)].map((word) => word.replace(/^file:(\/\/)?/, ''));
  return [...new Set(words)].filter(
    (word) => !/^$|[\0{}]|^[a-z][a-z\d+.-]*:/i.test(word) && word.length <= MAX_PATH_LENGTH,
  );
}

function pathsOfWord({ text, isModule }: FoundText, base: string): readonly string[] {
  const [word = ''] = text.split('#');
  const path = resolve(base, word);
  if (isModule && /^\w[\w.]*$/.test(word)) {
    const [name = ''] = word.split('.');
    return [...ofModule(path), resolve(base, name), ...ofModule(resolve(base, `${name}.py`))];
  }
  const found = kindOf(path);
  const isMeant = found === 'file' || (found === 'folder' && isModule) || (found === 'missing' && looksLikeFile(word));
  if (!isMeant) return [];
  return isModule || isScriptName(word) ? ofModule(path) : [path];
}

function looksLikeFile(word: string): boolean {
  return /[/\\]/.test(word) || isScriptName(word);
}

function ofModule(path: string): readonly string[] {
  return [path, ...aroundModule(path)];
}

function kindOf(path: string): 'file' | 'folder' | 'missing' | 'other' {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
  } catch {
    return 'other'; // the path is too long, or below a file
  }
}
