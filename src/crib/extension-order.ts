import { type Extension, toPriority } from '../core/extension.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** The order of the built-in extensions, outermost first, and why each stands where it does. */
export const EXTENSION_ORDER = [
  {
    priority: 950,
    name: 'rateLimit',
    reason: 'counts every attempt, unknown names too; a call it refuses costs no slot',
  },
  { priority: 900, name: 'access', reason: 'who may not call learns nothing about the arguments' },
  { priority: 850, name: 'validate', reason: 'everything further in sees valid, frozen arguments' },
  { priority: 750, name: 'approval', reason: 'a person is asked once per call, about valid arguments' },
  { priority: 280, name: 'resultSize', reason: 'measures what the caller would get' },
  {
    priority: 250,
    name: 'setup',
    reason: 'a bundle is set up only for a call that may run; setting up is not the time of the tool',
  },
  { priority: 220, name: 'concurrency', reason: 'waiting for a slot is not the time of the tool' },
  { priority: 200, name: 'timeout', reason: 'bounds all attempts together' },
  { priority: 180, name: 'retry', reason: 'repeats the work, not the guards' },
  {
    priority: 160,
    name: 'validateOutput',
    reason: 'innermost: an answer that breaks its promise is a failure like any other',
  },
] as const;

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
