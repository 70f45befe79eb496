import type { ReadRunText, TraitsOf } from '../core/ports/extension-ports.ts';
import { INLINE, type Source } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createEntryReader } from '../specs/spec-entry.ts';

export interface InlineOptions {
  /** Entries in the format of spec files. */
  readonly specs: readonly unknown[];
  /** The folder that relative paths of a run start from. */
  readonly folder: string;
  /** The place of an entry, for error messages. */
  placeOf?(index: number): string;
  /** Problems with other entries, already reported; empty if there are none. */
  readonly unread?: string;
  /** Fills in variables and checks the secrets in runs. */
  readonly readRunText?: ReadRunText;
  /** Path fields of each kind's runs. */
  readonly traitsOf?: TraitsOf;
  /** Receives refused entries and the folder of their relative paths. */
  readonly noteRefused?: (tool: unknown, base: string) => void;
}

/** Creates the source of specs written in the configuration. A bad entry is reported with its place; the others load. */
export function inline(options: InlineOptions): Source {
  const { specs, folder, readRunText, traitsOf, unread = '', placeOf = (index) => `tools[${index}]` } = options;
  const onRefused = (tool: unknown) => options.noteRefused?.(tool, folder);
  return {
    name: INLINE.name,
    trust: true,
    isLocal: true,
    bundle: false,
    onRefused,
    async start(context) {
      const read = createEntryReader({ source: INLINE.name, folder, readRunText, traitsOf });
      const places = new Map<ToolSpec, number>();
      const leftOut: string[] = [];
      for (const [index, entry] of specs.entries()) {
        try {
          places.set(read(structuredClone(entry)), index); // a clone: the reader takes entries over, and these belong to the configuration
        } catch (cause) {
          onRefused(entry);
          leftOut.push(`${placeOf(index)}: ${messageOf(cause)}`);
        }
      }
      for (const trouble of leftOut) context.warn(trouble);
      const [reason] = [...leftOut, ...(unread === '' ? [] : [unread])];
      const listed = [...places.keys()];
      return {
        specs: () => listed,
        placeOf(spec) {
          const index = places.get(spec);
          return index === undefined ? undefined : placeOf(index);
        },
        onChange: () => () => {},
        status: () => ({ state: 'ready', ...(reason !== undefined && { reason }) }),
        close: async () => {},
      };
    },
  };
}
