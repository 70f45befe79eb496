import { type Extension, toPriority } from '../core/extension.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** A built-in extension, where it stands and why. */
interface OrderRow {
  readonly priority: number;
  readonly name: string;
  readonly reason: string;
  /** Nothing is unguarded without it. */
  readonly isOptional?: true;
}

/** The order of the built-in extensions, outermost first, and why each stands where it does. */
export const EXTENSION_ORDER: readonly OrderRow[] = [
  {
    priority: 1010,
    name: 'trace',
    reason: 'outermost: its span covers the whole call, and learns of a failure without secrets',
  },
  { priority: 1000, name: 'audit', reason: 'puts every call on record, refused ones and unknown names, too' },
  { priority: 1000, name: 'logging', reason: 'watches: it is told of refusals and unknown names, too' },
  { priority: 1000, name: 'metrics', reason: 'watches: every call is counted once, whatever becomes of it' },
  {
    priority: 1000,
    name: 'usage',
    reason: 'watches: counts what succeeds, to decide between equals in a search',
    isOptional: true,
  },
  { priority: 1000, name: 'redactErrors', reason: 'whatever fails further in, its error leaves without secrets' },
  {
    priority: 950,
    name: 'rateLimit',
    reason: 'counts every attempt, unknown names too; a call it refuses costs no slot',
  },
  { priority: 900, name: 'access', reason: 'who may not call learns nothing about the arguments' },
  { priority: 850, name: 'validate', reason: 'everything further in sees valid, frozen arguments' },
  { priority: 800, name: 'rules', reason: 'judges valid arguments, before anybody is asked about them' },
  { priority: 790, name: 'precheck', reason: 'what its executor would refuse is refused before a person is asked' },
  { priority: 780, name: 'idempotency', reason: 'a call that was made is not made again, and nobody is asked again' },
  { priority: 750, name: 'approval', reason: 'a person is asked once per call, about valid arguments' },
  { priority: 290, name: 'auditIntent', reason: 'what is approved and about to run is on record before it runs' },
  {
    priority: 285,
    name: 'offload',
    reason: 'keeps what the caller would get, outside of cache and output validation',
    isOptional: true,
  },
  { priority: 280, name: 'resultSize', reason: 'measures what the caller would get' },
  {
    priority: 260,
    name: 'cache',
    reason: 'what is known needs no setup, no slot and no time',
  },
  {
    priority: 250,
    name: 'setup',
    reason: 'a bundle is set up only for a call that may run; setting up is not the time of the tool',
  },
  { priority: 240, name: 'breaker', reason: 'what is known to be down costs no slot and no waiting' },
  { priority: 220, name: 'concurrency', reason: 'waiting for a slot is not the time of the tool' },
  { priority: 210, name: 'budget', reason: 'only what is about to run is paid for, once, however often it is tried' },
  { priority: 200, name: 'timeout', reason: 'bounds all attempts together' },
  { priority: 180, name: 'retry', reason: 'repeats the work, not the guards' },
  {
    priority: 160,
    name: 'validateOutput',
    reason: 'innermost: an answer that breaks its promise is a failure like any other',
  },
];

export const RATE_LIMIT_PRIORITY = 950;
const YOURS = { highest: 700, lowest: 300 };

/** From the highest to the lowest priority, equal ones in the order they were added; refuses what would break the order's guarantees. */
export function orderExtensions(extensions: readonly Extension[]): readonly Extension[] {
  const names = new Set<string>();
  for (const extension of extensions) {
    if (typeof extension?.name !== 'string' || extension.name === '')
      throw new ToolcribError('invalid_option', 'An extension needs a name.');
    if (names.has(extension.name)) {
      throw new ToolcribError('duplicate', `There are two extensions named "${extension.name}"; rename or remove one.`);
    }
    names.add(extension.name);
    requireAllowedPlace(extension);
  }
  return Object.freeze(extensions.toSorted((a, b) => toPriority(b.priority) - toPriority(a.priority)));
}

function requireAllowedPlace(extension: Extension): void {
  const priority = toPriority(extension.priority);
  if (extension.wrap === undefined || extension.unsafeOrder === true) return;
  if (priority <= YOURS.highest && priority >= YOURS.lowest) return;
  throw new ToolcribError(
    'invalid_option',
    `The gate "${extension.name}" has priority ${priority}; ${YOURS.highest} to ${YOURS.lowest} are yours. To stand among the built-in guards say unsafeOrder: true.`,
  );
}
