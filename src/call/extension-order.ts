import { type Extension, toPriority } from '../core/extension.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** A built-in extension with its priority and the reason for it. */
export interface OrderRow {
  readonly priority: number;
  readonly name: string;
  readonly reason: string;
  /** True if no guard is missing without it. */
  readonly isOptional?: true;
}

/** Sorts rows from the outermost to the innermost; equal priorities keep their order. */
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

/** Sorts extensions by descending priority; equal priorities keep their order. Throws if a gate could break the guarantees of the built-in order. */
export function orderExtensions(extensions: readonly Extension[]): readonly Extension[] {
  const names = new Set<string>();
  for (const extension of extensions) {
    if (typeof extension?.name !== 'string' || extension.name === '')
      throw new ToolcribError('invalid_option', 'An extension needs a name.');
    if (names.has(extension.name)) {
      throw new ToolcribError('duplicate', `Two extensions are named "${extension.name}". Rename or remove one.`);
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
    `The gate "${extension.name}" has priority ${priority}. Use ${YOURS.lowest} to ${YOURS.highest}, or set unsafeOrder: true to place it among the built-in guards.`,
  );
}
