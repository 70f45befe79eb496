import { claimsReservedName, clashWords, type HeldBack, resolve, type SourceList } from '../../core/catalog.ts';
import { isReservedName, META_SOURCE } from '../../core/meta-tools.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type Slot, useListing } from './source-slot.ts';

/** What becomes of a discovered or remote tool whose name is taken: it is held back, or what brings it is refused. */
export type OnDuplicate = 'skip' | 'error';

const MANY = 5;

/** Throws for the name of a tool of the crib itself. For tools whose author is here to give them another name. */
export function requireUnreserved(name: string, source: string): void {
  if (!isReservedName(name)) return;
  throw new ToolcribError(
    'reserved_name',
    `Tool "${name}" of ${source}: the name is reserved for a tool of Toolcrib itself; give it another one.`,
  );
}

/** Names that two lists claim. A reserved name is not among them: the tool that claims one is held back, whatever `onDuplicate` says. */
export function clashesAmong(lists: readonly SourceList[]): readonly HeldBack[] {
  return resolve(lists).held.filter(({ owner }) => owner !== META_SOURCE);
}

/** Throws if a name is claimed twice. */
export function requireDistinct(lists: readonly SourceList[]): void {
  const held = clashesAmong(lists);
  if (held.length === 0) return;
  const more = held.length > MANY ? ` And ${held.length - MANY} more.` : '';
  throw new ToolcribError(
    'duplicate',
    `${held.slice(0, MANY).map(clashWords).join(' ')}${more} With onDuplicate: skip the later one would be held back.`,
  );
}

/** What a source lists, and the list that is to take its place. */
export interface Claim extends SourceList {
  readonly next?: readonly ToolSpec[] | undefined;
}

type Refused = Map<Claim, string>;

/** What happens to lists that wait, and who is told. */
interface Judging {
  readonly onDuplicate: OnDuplicate;
  warn(message: string): void;
}

/** Puts lists that wait to use, or refuses them. What was refused is judged again: the name that it claims may be free by now. */
export function judgeLists(slots: readonly Slot[], { onDuplicate, warn }: Judging): void {
  if (slots.every(({ next }) => next === undefined)) return;
  const claims = slots.map(({ source, specs, next }): Claim => ({ source: source.name, specs, next: next?.specs }));
  const refused = onDuplicate === 'skip' ? new Map<Claim, string>() : refuseClashing(claims);
  for (const [index, claim] of claims.entries()) {
    const clash = refused.get(claim);
    const slot = slots[index];
    if (slot?.next === undefined) continue;
    if (clash === undefined) useListing(slot, slot.next);
    else refuse(slot, clash, warn);
  }
}

function refuse(slot: Slot, clash: string, warn: Judging['warn']): void {
  const rest = slot.wasListed ? ' The list from before stays.' : '';
  slot.failure = `its new list is refused, since onDuplicate is error: ${clash}${rest}`;
  warn(`Source "${slot.source.name}": ${slot.failure}`);
}

/** The claims whose next lists cannot be taken, and why. Without them no name is claimed twice, as long as none was before. */
export function refuseClashing(claims: readonly Claim[]): ReadonlyMap<Claim, string> {
  const refused: Refused = new Map();
  // Whoever keeps its old list may stand in the way of another: hence one by one, until all go together.
  while (refuseOne(claims, refused));
  return refused;
}

function refuseOne(claims: readonly Claim[], refused: Refused): boolean {
  const owners = new Map<string, Claim>();
  for (const claim of claims) {
    const { specs, next = specs } = claim;
    for (const spec of refused.has(claim) ? specs : next) {
      if (claimsReservedName(claim.source, spec)) continue;
      const { name } = spec;
      const owner = owners.get(name);
      if (owner !== undefined && refuseEither([owner, claim], name, refused)) return true;
      owners.set(name, owner ?? claim);
    }
  }
  return false;
}

/** Who has the name keeps it; if neither has, the first in configuration order gets it. */
function refuseEither(rivals: readonly [Claim, Claim], name: string, refused: Refused): boolean {
  const changing = rivals.filter((claim) => claim.next !== undefined && !refused.has(claim));
  const isNewTo = ({ specs }: Claim) => !specs.some((spec) => spec.name === name);
  const loser = changing.findLast(isNewTo) ?? changing.at(-1);
  if (loser === undefined) return false;
  const [owner] = rivals.filter((claim) => claim !== loser);
  refused.set(loser, clashWords({ name, owner: (owner ?? loser).source, heldBack: loser.source }));
  return true;
}
