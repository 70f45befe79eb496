import { text } from 'node:stream/consumers';
import { readConfigFile, readConfigText } from '../../../config/config-text.ts';
import { copyJson, type JsonObject, NotJsonError } from '../../../core/json.ts';
import type { Store } from '../../../core/ports/store.ts';
import { describe } from '../../../core/read-options.ts';
import { messageOf, notAvailable, ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { EntryMistake } from '../../../crib/sources/check-stored.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, usage } from '../flags.ts';
import { whoIsHere, withCrib, withStore } from '../open-crib.ts';
import { note, print, printJson } from '../output.ts';
import { printTable } from '../table.ts';

/** The context of a subcommand. */
interface Command {
  readonly crib: Crib;
  readonly specs: Store['specs'];
  readonly flags: Flags;
  readonly by: string;
}

const ACTIONS: Readonly<Record<string, (command: Command, subject: string) => Promise<ExitCode>>> = {
  add: addSpecs,
  remove: removeSpec,
  export: exportSpecs,
  history: showHistory,
};

/** `toolcrib specs`: lists, adds, removes and exports stored specs, and shows their history. */
export function editSpecs({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb, subject] = words;
  const run = verb === undefined ? listSpecs : ACTIONS[verb];
  if (run === undefined) throw usage(`specs takes add, remove, export or history, not "${verb}".`);
  if (verb !== undefined && verb !== 'export' && subject === undefined) {
    throw usage(`"toolcrib specs ${verb}" needs ${verb === 'add' ? 'a FILE, or - for stdin' : 'a NAME'}.`);
  }
  const open = verb === 'add' ? withCrib : withStore;
  return open(flags, async (crib) => {
    if (crib.store === undefined) throw notAvailable('The store', 'keep specs in files');
    return run({ crib, specs: crib.store.specs, flags, by: whoIsHere() }, subject ?? '');
  });
}

async function listSpecs({ specs, flags }: Command): Promise<ExitCode> {
  const stored = (await specs.list()).map(({ name, by, at }) => ({ name, by, at: toTime(at) }));
  if (flags.json === true) printJson({ specs: stored });
  else if (stored.length === 0) note('No specs are stored. "toolcrib specs add FILE" adds some.');
  else
    printTable(
      ['NAME', 'CHANGED', 'BY'],
      stored.map(({ name, at, by }) => [name, at, by]),
    );
  return 0;
}

async function addSpecs({ crib, specs, flags, by }: Command, file: string): Promise<ExitCode> {
  const given = await readSpecs(file);
  refuseMistakes(given, await crib.server.checkStored(given.entries));
  const outcomes = await specs.putAll(given.entries, by);
  const results = given.entries.map(({ name }, index) => ({ name: String(name), result: outcomes[index] }));
  if (flags.json === true) printJson({ specs: results });
  else for (const { name, result } of results) print(`${name} ${result}`);
  await crib.reload();
  const seen = new Set(crib.catalog.specs.map((spec) => spec.origin)); // a source may give them other names
  const unseen = results.map(({ name }) => name).filter((name) => !seen.has(name));
  if (unseen.length > 0) {
    note(
      `Stored, but not available as tools: ${unseen.join(', ')}. Tools come from the store through a source with "database: true"; "toolcrib check" reports problems.`,
    );
  }
  return 0;
}

const MAX_SHOWN = 20;

/** Throws unless every entry is a valid tool: either all entries are stored, or none. */
function refuseMistakes({ shownAs }: SpecEntries, mistakes: readonly EntryMistake[]): void {
  const shown = mistakes.slice(0, MAX_SHOWN).map(({ index, message }) => `${shownAs}, tools[${index}]: ${message}`);
  if (shown.length === 0) return;
  const rest = mistakes.length - shown.length;
  const more = rest === 0 ? '' : `\n${rest} more problems are not shown.`;
  throw new ToolcribError('invalid_spec', `${shown.join('\n')}${more}\nNothing was stored.`);
}

async function removeSpec({ specs, flags, by }: Command, name: string): Promise<ExitCode> {
  if (!(await specs.remove(name, by)))
    throw new ToolcribError('failed', `The spec "${name}" was not found in the store.`);
  if (flags.json === true) printJson({ specs: [{ name, result: 'removed' }] });
  else print(`${name} removed`);
  return 0;
}

async function exportSpecs({ specs }: Command, name: string): Promise<ExitCode> {
  const stored = (await specs.list()).filter((entry) => name === '' || entry.name === name);
  printJson({ tools: stored.map(({ spec }) => spec) }); // a valid spec file, because JSON is also YAML
  return 0;
}

async function showHistory({ specs, flags }: Command, name: string): Promise<ExitCode> {
  const changes = (await specs.history(name)).map((change) => ({ ...change, at: toTime(change.at) }));
  if (changes.length === 0) throw new ToolcribError('failed', `The spec "${name}" has no history in the store.`);
  if (flags.json === true) printJson({ name, changes });
  else
    printTable(
      ['WHEN', 'WHAT', 'BY'],
      changes.map(({ at, what, by }) => [at, what, by]),
    );
  return 0;
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}

/** The entries of a spec file, and the file name for messages. */
export interface SpecEntries {
  readonly shownAs: string;
  readonly entries: readonly JsonObject[];
}

/** Reads a file, or stdin for `-`: one entry, a list, or `tools:`; an `.ndjson` file has one entry per line. */
export async function readSpecs(file: string): Promise<SpecEntries> {
  const shownAs = file === '-' ? 'stdin' : file;
  const content = file === '-' ? await text(process.stdin) : await readConfigFile(file, file);
  const isLines = /\.(ndjson|jsonl)$/i.test(file);
  const values = isLines ? parseLines(content, shownAs) : listIn((await readConfigText(content, shownAs)).value);
  return { shownAs, entries: values.map((value, index) => requireEntry(value, `${shownAs}, tools[${index}]`)) };
}

function listIn(value: unknown): readonly unknown[] {
  const list = typeof value === 'object' && value !== null && 'tools' in value ? value.tools : value;
  return Array.isArray(list) ? list : [list];
}

function parseLines(content: string, file: string): readonly unknown[] {
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch (cause) {
      throw invalid(`${file}:${index + 1}: ${messageOf(cause)}.`);
    }
  });
}

function requireEntry(value: unknown, place: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${place}: ${describe(value)} is not a tool; a tool has name, description, input and run.`);
  }
  try {
    return copyJson(value) as JsonObject; // a copy of an object is one
  } catch (cause) {
    throw cause instanceof NotJsonError ? invalid(`${place}: ${cause.message}.`) : cause;
  }
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_spec', message);
}
