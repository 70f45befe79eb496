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

/** Where a description is loaded from, and who is told what it says. */
export interface FollowedDescription {
  readonly place: DescriptionPlace;
  readonly settings: ApiSettings;
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly signal: AbortSignal;
}

const FROM_BEFORE = 'The tools of its last description are shown and cannot be called.';

/** Makes what loads the description and shows its operations. Until one has come, the last one that is kept stands in for it. */
export function createFollowing(followed: FollowedDescription): () => Promise<void> {
  const { place, listing, kept, told, signal } = followed;
  const show = createShow(followed);
  let known: KnownDescription | undefined;
  let waiting: Description | undefined; // what is kept, until it is confirmed
  return async () => {
    try {
      if (known === undefined) {
        const stored = toLoaded(await kept.read());
        [known, waiting] = [stored, stored?.description];
      }
      const loaded = await loadDescription(place, known, signal);
      if (signal.aborted) return;
      const problems = show(loaded?.description ?? waiting);
      waiting = undefined;
      if (loaded !== undefined) {
        const { hash, validators, description } = loaded;
        known = { hash, validators };
        kept.write([description.written ?? description.root], { hash, about: { validators } });
      }
      told.forget();
      for (const problem of problems) told.tell(problem);
    } catch (cause) {
      // Whatever it is, an address or header that cannot be made too: the last list stays.
      if (signal.aborted) return;
      if (waiting !== undefined && listing.specs().length === 0) showKept(waiting, followed);
      const reason = waiting === undefined ? messageOf(cause) : `${messageOf(cause)} ${FROM_BEFORE}`;
      listing.fail(reason);
      told.tell(reason);
    }
  };
}

/** Shows what a description says, or what is shown already, and tells what of it could not be used. */
function createShow({ settings, place, listing }: FollowedDescription) {
  let before: readonly ToolSpec[] = []; // what was kept is not among them: it is not confirmed
  let problems: readonly string[] = [];
  return (description: Description | undefined): readonly string[] => {
    if (description !== undefined) {
      const read = readOperations(description, { settings, url: addressOf(place), before });
      [before, problems] = [read.specs, read.problems];
    }
    listing.show(before, { leftOut: problems[0] });
    return problems;
  };
}

function showKept(description: Description, { settings, place, listing }: FollowedDescription): void {
  try {
    const { specs } = readOperations(description, { settings, url: addressOf(place) });
    listing.show(specs.map(toUnconfirmed));
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause; // else somebody else wrote it
  }
}

function addressOf(place: DescriptionPlace): URL | undefined {
  return 'url' in place ? new URL(place.url) : undefined;
}

/** The operations of an API as specs, and what of its description could not be used, as sentences. */
interface ReadOperations {
  readonly specs: readonly ToolSpec[];
  readonly problems: readonly string[];
}

/** Where a description comes from, and what was read of it before. */
interface ReadOptions {
  readonly settings: ApiSettings;
  /** Where it was fetched from; absent for a file. */
  readonly url?: URL | undefined;
  /** A spec that says what it said before stays the same object. */
  readonly before?: readonly ToolSpec[];
}

/** Makes specs of the operations of a description. A bad operation is reported and left out; a bad description throws. */
function readOperations(description: Description, options: ReadOptions): ReadOperations {
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

const MAX_TOLD = 20;

function summarize(problems: readonly string[]): readonly string[] {
  const rest = problems.length - MAX_TOLD;
  return rest <= 0 ? problems : [...problems.slice(0, MAX_TOLD), `And ${rest} more of its operations or parts.`];
}
