import { ToolcribError } from '../../../core/tool-error.ts';
import type { ToolSpec } from '../../../core/tool-spec.ts';
import { createEntryReader } from '../../../specs/spec-entry.ts';
import { keepKnown } from '../../../specs/spec-list.ts';
import type { Description } from './description.ts';
import { toEntry } from './operation-entry.ts';
import { chooseOperations, listOperations, type NamedOperation, OPERATION, shortPath } from './operations.ts';
import type { ApiSettings, Reading } from './reading.ts';
import { createSchemaConversion } from './schemas/schema-conversion.ts';
import { createWork, TooMuchWorkError } from './schemas/work.ts';
import { unknownSchemes } from './security.ts';

/** The operations of an API as specs, and what of its description could not be used, as sentences. */
export interface ReadOperations {
  readonly specs: readonly ToolSpec[];
  readonly problems: readonly string[];
}

/** Where a description comes from, and what was read of it before. */
export interface ReadOptions {
  readonly settings: ApiSettings;
  /** Where it was fetched from; absent for a file. */
  readonly url?: URL | undefined;
  /** A spec that says what it said before stays the same object. */
  readonly before?: readonly ToolSpec[];
}

/** Makes specs of the operations of a description. A bad operation is reported and left out; a bad description throws. */
export function readOperations(description: Description, options: ReadOptions): ReadOperations {
  const { settings, url, before = [] } = options;
  const notes = new Set<string>();
  const note = (sentence: string) => void notes.add(sentence);
  const found = listOperations(description);
  const chosen = chooseOperations(found.operations, settings);
  const work = createWork();
  const conversionOf = (direction: 'request' | 'response') =>
    createSchemaConversion(description, { direction, work, onLoss: note });
  const [requests, responses] = [conversionOf('request'), conversionOf('response')];
  const reading: Reading = { description, url, settings, requests, responses, note };
  const toSpec = createReader(reading, note);
  const entries = chosen.operations.flatMap((operation) => toSpec(operation) ?? []).map((spec) => ({ spec }));
  for (const scheme of unknownSchemes(reading)) note(`auth names the scheme "${scheme}", which it does not have.`);
  const problems = [...found.problems, ...chosen.problems, ...notes];
  return { specs: keepKnown(before, { entries, problems: [] }), problems: summarize(problems) };
}

function createReader(reading: Reading, note: (sentence: string) => void) {
  const readEntry = createEntryReader({ source: reading.settings.source });
  return (operation: NamedOperation): ToolSpec | undefined => {
    try {
      const spec = readEntry(toEntry(operation, reading));
      const { method, path } = operation;
      return Object.freeze({ ...spec, origin: operation.name, [OPERATION]: { method, path } });
    } catch (cause) {
      if (!(cause instanceof ToolcribError) || cause instanceof TooMuchWorkError) throw cause;
      note(`${operation.method} ${shortPath(operation.path)} is left out: ${cause.message.replace(/\.$/, '')}.`);
      return undefined;
    }
  };
}

const MAX_TOLD = 20;

function summarize(problems: readonly string[]): readonly string[] {
  const rest = problems.length - MAX_TOLD;
  return rest <= 0 ? problems : [...problems.slice(0, MAX_TOLD), `And ${rest} more of its operations or parts.`];
}
