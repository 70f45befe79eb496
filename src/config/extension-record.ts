import type { Extension } from '../core/extension.ts';
import type { ExtensionPorts } from '../core/ports/extension-ports.ts';
import type { Clock } from '../core/ports/ports.ts';
import type { SchemaNode } from './schema-node.ts';

/** Everything about a built-in extension, in its own file. The table in `src/extensions/index.ts` lists all of them. */
export interface ExtensionRecord<Options extends object = object> {
  readonly name: string;
  /** Higher runs further out. */
  readonly priority: number;
  /** Why it stands there, as `toolcrib check` says it. */
  readonly reason: string;
  /** Its options as an object node; the configuration has them under `extensions:`. */
  readonly options?: SchemaNode;
  /** The entry of the configuration that has its options; its own name if absent. */
  readonly entry?: string;
  /** Options that only code can give. */
  readonly codeOptions?: readonly string[];
  /** The options of the one that every crib has; none if absent. */
  readonly usual?: Options;
  /** The configuration cannot turn it off. */
  readonly isAlwaysOn?: true;
  /** A crib has it only where the configuration asks for it; nothing is unguarded without it. */
  readonly isOptional?: true;
  /** Throws for options that cannot be used. */
  make(options: Options, ports: ExtensionPorts): ExtensionParts;
}

/** What a built-in extension does; its place is said by its record. */
export type ExtensionParts = Omit<Extension, 'name' | 'priority' | 'unsafeOrder'>;

/** Tests hand in their own time. */
export interface WithClock {
  readonly clock?: Clock;
}
