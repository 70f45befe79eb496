import { initTimeoutMs, type OwnEntry, type SourceRecord } from '../config/records.ts';
import { anything, mapOf, text } from '../config/schema-node.ts';
import type { CustomSourceConfig } from '../config/types/sources.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { importExport } from '../system/modules/import-module.ts';

type ModuleEntry = OwnEntry<CustomSourceConfig>;

/** The configuration entry for a custom source. The module exports a source, or a function that makes one of the entry's options. */
export const moduleSource: SourceRecord<ModuleEntry> = {
  key: 'module',
  description: 'A source of your own.',
  properties: {
    module: text('A module or package that exports a source.', { use: 'module' }),
    options: mapOf(anything('The value.'), 'Handed to the source.'),
    initTimeoutMs,
  },
  bringsAnyKind: true,
  make(name, { module, options, initTimeoutMs: startTimeoutMs }, { folder }) {
    return {
      name,
      ...(startTimeoutMs !== undefined && { startTimeoutMs }),
      async start(context) {
        const exported = await importExport(module, folder);
        const source: unknown = typeof exported === 'function' ? await exported({ name, ...options }) : exported;
        if (typeof source !== 'object' || source === null || !('start' in source) || typeof source.start !== 'function')
          throw new ToolcribError(
            'invalid_config',
            `${module} must export a source (an object with start()) or a function that returns one`,
          );
        return source.start(context);
      },
    };
  },
};
