import type { Store } from '../../../core/ports/store.ts';
import { notAvailable, ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { EntryMistake } from '../../../crib/sources/check-stored.ts';
import type { Flags } from '../arguments/flags.ts';
import { readSpecs, type SpecEntries } from '../arguments/read-specs.ts';
import { usage } from '../arguments/usage.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { note, print, printJson } from '../output/output.ts';
import { printTable } from '../output/table.ts';
import { whoIsHere } from '../who-is-here.ts';

/** What is worked with: the store, and who works. */
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

/** `toolcrib specs`: lists, adds, removes and exports specs of the store, and shows who changed what. */
export function editSpecs({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb, subject] = words;
  const run = verb === undefined ? listSpecs : ACTIONS[verb];
  if (run === undefined) throw usage(`specs takes add, remove, export or history, not "${verb}".`);
  if (verb !== undefined && verb !== 'export' && subject === undefined) {
    throw usage(`"toolcrib specs ${verb}" needs ${verb === 'add' ? 'a FILE, or - for stdin' : 'a NAME'}.`);
  }
  return withCrib(flags, async (crib) => {
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
      `Stored, but not among the tools: ${unseen.join(', ')}. "toolcrib check" says why; a source with "database: true" reads the store.`,
    );
  }
  return 0;
}

const MAX_SHOWN = 20;

/** Throws unless every entry could be a tool: all of them are stored, or none. */
function refuseMistakes({ shownAs }: SpecEntries, mistakes: readonly EntryMistake[]): void {
  const shown = mistakes.slice(0, MAX_SHOWN).map(({ index, message }) => `${shownAs}, tools[${index}]: ${message}`);
  if (shown.length === 0) return;
  const rest = mistakes.length - shown.length;
  const more = rest === 0 ? '' : `\nAnd ${rest} more.`;
  throw new ToolcribError('invalid_spec', `${shown.join('\n')}${more}\nNothing was stored.`);
}

async function removeSpec({ specs, flags, by }: Command, name: string): Promise<ExitCode> {
  if (!(await specs.remove(name, by))) throw new ToolcribError('failed', `No spec "${name}" is stored.`);
  if (flags.json === true) printJson({ specs: [{ name, result: 'removed' }] });
  else print(`${name} removed`);
  return 0;
}

async function exportSpecs({ specs }: Command, name: string): Promise<ExitCode> {
  const stored = (await specs.list()).filter((entry) => name === '' || entry.name === name);
  printJson({ tools: stored.map(({ spec }) => spec) }); // a spec file: JSON is YAML, too
  return 0;
}

async function showHistory({ specs, flags }: Command, name: string): Promise<ExitCode> {
  const changes = (await specs.history(name)).map((change) => ({ ...change, at: toTime(change.at) }));
  if (changes.length === 0) throw new ToolcribError('failed', `Nothing was ever stored under "${name}".`);
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
