import { setImmediate } from 'node:timers/promises';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { type ToolSpec, toUnconfirmed } from '../../../core/tool-spec.ts';
import { createEntryReader } from '../../../specs/spec-entry.ts';
import { keepKnown } from '../../../specs/spec-list.ts';
import type { KeptList, SpecListing, WarnOnce } from '../../../specs/spec-listing.ts';
import {
  type Description,
  type DescriptionPlace,
  type KnownDescription,
  loadDescription,
  toLoaded,
} from './load-description.ts';
import { createWork, DescriptionWorkError } from './local-refs.ts';
import { toEntry } from './operation-entry.ts';
import { chooseOperations, listOperations, type NamedOperation, OPERATION, shortPath } from './operations.ts';
import type { ApiSettings, Reading } from './reading.ts';
import { createSchemaConversion } from './schema-conversion.ts';
import { unknownSchemes } from './security.ts';

/** Options for loading a description and showing its operations. */
export interface FollowedDescription {
  readonly place: DescriptionPlace;
  readonly settings: ApiSettings;
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly signal: AbortSignal;
}

const FROM_BEFORE = 'The tools of its last description are listed, but cannot be called.';

/** Returns a function that loads the description and shows its operations. Until a first load succeeds, the stored description is the fallback. */
export function createFollowing(followed: FollowedDescription): () => Promise<void> {
  const { place, listing, kept, told, signal } = followed;
  const show = createShow(followed);
  let known: KnownDescription | undefined;
  let waiting: Description | undefined; // the stored description, until it is confirmed
  return async () => {
    try {
      if (known === undefined) {
        const stored = toLoaded(await kept.read());
        [known, waiting] = [stored, stored?.description];
      }
      const loaded = await loadDescription(place, known, signal);
      if (signal.aborted) return;
      const problems = await show(loaded?.description ?? waiting);
      if (signal.aborted) return;
      waiting = undefined;
      if (loaded !== undefined) {
        const { hash, validators, description } = loaded;
        known = { hash, validators };
        kept.write([description.written ?? description.root], { hash, about: { validators } });
      }
      told.forget();
      for (const problem of problems) told.tell(problem);
    } catch (cause) {
      // Any failure, including an invalid URL or header, leaves the last list in place.
      if (signal.aborted) return;
      if (waiting !== undefined && listing.specs().length === 0) await showKept(waiting, followed);
      const reason = waiting === undefined ? messageOf(cause) : `${messageOf(cause)} ${FROM_BEFORE}`;
      listing.fail(reason);
      told.tell(reason);
    }
  };
}

/** Shows the operations of a description, or again the last ones; returns the problems found. */
function createShow({ settings, place, listing }: FollowedDescription) {
  let before: readonly ToolSpec[] = []; // without stored operations, which are not confirmed
  let problems: readonly string[] = [];
  return async (description: Description | undefined): Promise<readonly string[]> => {
    if (description !== undefined) {
      const read = await readOperations(description, { settings, url: addressOf(place), before });
      [before, problems] = [read.specs, read.problems];
    }
    listing.show(before, { leftOut: problems[0] });
    return problems;
  };
}

async function showKept(description: Description, { settings, place, listing }: FollowedDescription): Promise<void> {
  try {
    const { specs } = await readOperations(description, { settings, url: addressOf(place) });
    listing.show(specs.map(toUnconfirmed));
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause; // an invalid stored description is ignored
  }
}

function addressOf(place: DescriptionPlace): URL | undefined {
  return 'url' in place ? new URL(place.url) : undefined;
}

/** The operations of an API as specs, with the problems of its description as sentences. */
interface ReadOperations {
  readonly specs: readonly ToolSpec[];
  readonly problems: readonly string[];
}

/** Options for reading the operations of a description. */
interface ReadOptions {
  readonly settings: ApiSettings;
  /** The URL it was fetched from; absent for a file. */
  readonly url?: URL | undefined;
  /** Earlier specs; an unchanged spec keeps its object. */
  readonly before?: readonly ToolSpec[];
}

/** Converts operations to specs. A bad operation is reported and left out; a bad description throws. */
async function readOperations(given: Description, options: ReadOptions): Promise<ReadOperations> {
  const description = { ...given, work: createWork() };
  const { settings, url, before = [] } = options;
  const notes = new Set<string>();
  const note = (sentence: string) => void notes.add(sentence);
  const found = listOperations(description);
  const chosen = chooseOperations(found.operations, settings);
  const conversionOf = (direction: 'request' | 'response') =>
    createSchemaConversion(description, { direction, onLoss: note });
  const [requests, responses] = [conversionOf('request'), conversionOf('response')];
  const reading: Reading = { description, url, settings, requests, responses, note };
  const toSpec = createReader(reading, note);
  const entries: { readonly spec: ToolSpec }[] = [];
  const pause = createPause();
  for (const operation of chosen.operations) {
    await pause();
    const spec = toSpec(operation);
    if (spec !== undefined) entries.push({ spec });
  }
  for (const scheme of unknownSchemes(reading))
    note(`auth names the security scheme "${scheme}", which the description does not define.`);
  const problems = [...(description.problems ?? []), ...found.problems, ...chosen.problems, ...notes];
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
      if (!(cause instanceof ToolcribError) || cause instanceof DescriptionWorkError) throw cause;
      note(`${operation.method} ${shortPath(operation.path)} is left out: ${cause.message.replace(/\.$/, '')}.`);
      return undefined;
    }
  };
}

const MAX_PART_MS = 20;

/** Lets calls run in between: a large description takes seconds. */
function createPause(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_PART_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

const MAX_TOLD = 20;

function summarize(problems: readonly string[]): readonly string[] {
  const rest = problems.length - MAX_TOLD;
  return rest <= 0 ? problems : [...problems.slice(0, MAX_TOLD), `And ${rest} more problems.`];
}
