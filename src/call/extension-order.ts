import { type Extension, toPriority } from '../core/extension.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** A built-in extension, where it stands and why. */
export interface OrderRow {
  readonly priority: number;
  readonly name: string;
  readonly reason: string;
  /** Nothing is unguarded without it. */
  readonly isOptional?: true;
}

/** The rows from the outermost to the innermost, equal ones in the order they came in. */
export function orderRows(rows: readonly OrderRow[]): readonly OrderRow[] {
  const kept = rows.map(({ priority, name, reason, isOptional }) => ({
    priority,
    name,
    reason,
    ...(isOptional === true && { isOptional }),
  }));
  return kept.toSorted((a, b) => b.priority - a.priority);
}

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
