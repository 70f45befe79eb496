import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Listing, Slot } from './source-slot.ts';

/** How the entries of a list are let in. */
export interface ListingReaderOptions {
  /** Lets one entry of a source in, or throws. */
  admit(tool: unknown, source: Source): ToolSpec;
  warn(message: string): void;
}

/** Makes what reads the list of a slot under its settings; undefined while nothing runs that could have one. Throws for a list that cannot be used. */
export function createListingReader({ admit, warn }: ListingReaderOptions): (slot: Slot) => Listing | undefined {
  const admitOrWarn = (tool: ToolSpec, { source }: Slot): readonly ToolSpec[] => {
    try {
      return [admit(tool, source)];
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      warn(`${source.name}: ${cause.message}`);
      return [];
    }
  };
  const admitOnce = (tool: ToolSpec, slot: Slot): readonly ToolSpec[] => {
    const known = isObject(tool) ? slot.known.get(tool) : undefined;
    if (known !== undefined) return known;
    const admitted = admitOrWarn(tool, slot);
    if (isObject(tool)) slot.known.set(tool, admitted);
    return admitted;
  };
  return (slot) => {
    const { live } = slot.runner;
    if (live === undefined) return undefined;
    const admitted = live.specs().flatMap((tool) => admitOnce(tool, slot));
    const specs = slot.source.adjust?.(admitted) ?? admitted;
    return { specs, bundles: [...(live.bundles?.() ?? [])] };
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
