import type { Source } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createEntryReader } from '../runtime/specs/spec-entry.ts';

export interface InlineOptions {
  /** Entries in the format of spec files. */
  readonly specs: readonly unknown[];
  /** The folder that relative paths of a run start from. */
  readonly folder: string;
}

/** The source of specs that stand in the configuration itself. A bad entry is reported with its place, the others load. */
export function inline({ specs, folder }: InlineOptions): Source {
  return {
    name: 'inline',
    trust: true,
    bundle: false,
    async start(context) {
      const read = createEntryReader({ source: 'inline', folder });
      const listed: ToolSpec[] = [];
      for (const [index, entry] of specs.entries()) {
        try {
          listed.push(read(structuredClone(entry))); // entries are taken over, and these are the configuration's
        } catch (cause) {
          context.warn(`tools[${index}]: ${messageOf(cause)}`);
        }
      }
      return {
        specs: () => listed,
        onChange: () => () => {},
        status: () => ({ state: 'ready' }),
        close: async () => {},
      };
    },
  };
}
