import { claimsReservedName, clashWords, type HeldBack, resolve, type SourceList } from '../../core/catalog.ts';
import { isRecord } from '../../core/json.ts';
import { isReservedName, META_SOURCE } from '../../core/meta-tools.ts';
import type { Redact } from '../../core/redact-result.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type Slot, useListing } from './source-slot.ts';

/** Treatment of a discovered or remote tool whose name is taken: skip the tool, or reject the list that brings it. */
export type OnDuplicate = 'skip' | 'error';

const MANY = 5;

/** Throws for a name that is reserved for a tool of the crib itself. For tools that can be renamed. */
export function requireUnreserved(name: string, source: string): void {
  if (!isReservedName(name)) return;
  throw new ToolcribError(
    'reserved_name',
    `Tool "${name}" of ${source}: the name is reserved for a tool of Toolcrib itself; choose another name.`,
  );
}

/** Returns the tool of a source. Throws if a name in it contains the value of a secret, since names are listed, stored and logged as they are. */
export function requireCleanName(tool: ToolSpec, { name, isLocal }: Source, redact: Redact): ToolSpec {
  if (isLocal === true) return tool;
  const { properties } = tool.input;
  const named = [...tool.tags, ...(isRecord(properties) ? Object.keys(properties) : [])];
  if ([tool.name, tool.origin, ...named].every((one) => redact(one) === one)) return tool;
  throw new ToolcribError(
    'secret_in_name',
    `A tool of ${name} has the value of a secret in its name, a tag or an argument.`,
  );
}

/** Names that two lists claim. Reserved names do not count: their tools are skipped regardless of `onDuplicate`. */
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
    `${held.slice(0, MANY).map(clashWords).join(' ')}${more} Set onDuplicate to skip to leave out the later one instead.`,
  );
}

/** The current list of a source, and the next one. */
export interface Claim extends SourceList {
  readonly next?: readonly ToolSpec[] | undefined;
}

type Refused = Map<Claim, string>;

interface Judging {
  readonly onDuplicate: OnDuplicate;
  warn(message: string): void;
}

/** Applies or rejects waiting lists. Rejected lists are checked again, as the name may be free by now. */
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
  const rest = slot.wasListed ? ' The previous list stays in use.' : '';
  slot.failure = `its new list is rejected, because onDuplicate is error: ${clash}${rest}`;
  warn(`Source "${slot.source.name}": ${slot.failure}`);
}

/** The claims whose next lists must be rejected, with the reasons. Without them no name is claimed twice, if none was before. */
export function refuseClashing(claims: readonly Claim[]): ReadonlyMap<Claim, string> {
  const refused: Refused = new Map();
  // A source that keeps its old list may block another one, so reject one at a time until no clash is left.
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

/** The current owner keeps the name; without one, the first source in configuration order gets it. */
function refuseEither(rivals: readonly [Claim, Claim], name: string, refused: Refused): boolean {
  const changing = rivals.filter((claim) => claim.next !== undefined && !refused.has(claim));
  const isNewTo = ({ specs }: Claim) => !specs.some((spec) => spec.name === name);
  const loser = changing.findLast(isNewTo) ?? changing.at(-1);
  if (loser === undefined) return false;
  const [owner] = rivals.filter((claim) => claim !== loser);
  refused.set(loser, clashWords({ name, owner: (owner ?? loser).source, heldBack: loser.source }));
  return true;
}
