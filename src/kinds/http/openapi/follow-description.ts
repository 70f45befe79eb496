import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { type ToolSpec, toUnconfirmed } from '../../../core/tool-spec.ts';
import type { KeptList } from '../../../specs/kept-list.ts';
import type { SpecListing } from '../../../specs/spec-listing.ts';
import type { WarnOnce } from '../../../specs/warn-once.ts';
import type { Description } from './description.ts';
import { type DescriptionPlace, type KnownDescription, loadDescription, toLoaded } from './load-description.ts';
import { readOperations } from './read-operations.ts';
import type { ApiSettings } from './reading.ts';

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
        kept.write([description.root], { hash, about: { validators } });
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
