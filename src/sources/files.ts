import { resolve } from 'node:path';
import { type OwnEntry, paths, type SourceRecord } from '../config/records.ts';
import type { FilesSourceConfig } from '../config/types/sources.ts';
import type { ReadRunText, TraitsOf } from '../core/ports/extension-ports.ts';
import type { StoredIndexes } from '../core/ports/store.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { listOf } from '../core/visible-text.ts';
import type { SpecFolders } from '../specs/spec-folders.ts';
import { createListing } from '../specs/spec-listing.ts';
import { oneAtATime } from '../system/clock.ts';
import { createFolderWatch, type FolderWatch } from '../system/watch.ts';

/** Options for `files()`. Trusted by default: spec files lie on the operator's disk. */
export interface FilesOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  /** Files (`*.yaml`, `*.yml`, `*.json`, `*.ndjson`) and folders of them; relative ones start from the working directory. */
  readonly path: string | readonly string[];
  /** Size limit for one file; default 5 MB, NDJSON 50 MB. */
  readonly maxBytes?: number;
  /** Watch the files for edits; default true. */
  readonly watch?: boolean;
  /** Fills in variables and checks the secrets in runs. */
  readonly readRunText?: ReadRunText;
  /** Path fields of each kind's runs. */
  readonly traitsOf?: TraitsOf;
  /** Receives refused entries and the folder of their file, from which relative paths start. */
  readonly noteRefused?: (tool: unknown, base: string) => void;
  /** The part of a store that caches indexes of large NDJSON files, so that the next start need not parse them. */
  readonly indexes?: StoredIndexes;
}

const KEYS = [
  'name',
  'path',
  'trust',
  'bundle',
  'kinds',
  'maxBytes',
  'watch',
  'readRunText',
  'traitsOf',
  'noteRefused',
  'indexes',
] as const;

type FilesEntry = OwnEntry<FilesSourceConfig>;

/** The configuration entry for spec files and folders of them. */
export const filesSource: SourceRecord<FilesEntry> = {
  key: 'files',
  description: 'Spec files.',
  properties: { files: paths('*.yaml, *.json with tools:, *.ndjson one spec a line; files or folders, watched.') },
  bringsAnyKind: true,
  namesSecrets: true,
  make(name, { files: path, trust, prefix, settings }, { watch, traitsOf, noteRefused, store, ...ports }) {
    // Anything that copies every spec parses every line, so an index would save nothing.
    const isCopied = trust === false || Boolean(prefix) || settings !== undefined;
    const readRunText = ports.readLocalText();
    return ports.describe(
      files({ name, path, watch, traitsOf, noteRefused, readRunText, ...(!isCopied && { indexes: store.indexes }) }),
    );
  },
};

/** Creates the source of tools in spec files. The files are watched; a file that no longer parses keeps its tools. */
export function files(given: FilesOptions): Source {
  const options = readOptions<FilesOptions>(given, KEYS, 'files()');
  const {
    path,
    maxBytes,
    trust = true,
    watch = true,
    readRunText,
    traitsOf,
    noteRefused,
    indexes,
    ...source
  } = options;
  const named = listOf(path);
  if (!Array.isArray(named) || named.length === 0 || named.some((one) => typeof one !== 'string' || one === ''))
    throw new ToolcribError(
      'invalid_option',
      `files(): path must be a file, a folder or a list of them, got ${describe(path)}.`,
    );
  const roots = named.map((one) => resolve(one));
  if (indexes !== undefined && (typeof indexes?.get !== 'function' || typeof indexes.put !== 'function'))
    throw new ToolcribError(
      'invalid_option',
      `files(): indexes must be an object with get() and put(), such as store.indexes; got ${describe(indexes)}.`,
    );
  const known = { source: source.name, roots, watches: watch, readRunText, traitsOf, noteRefused, stored: indexes };
  const settings = { ...known, ...(maxBytes !== undefined && { maxBytes }) };
  const [base = ''] = roots;
  const onRefused = (tool: unknown) => noteRefused?.(tool, base);
  return { ...source, trust, isLocal: true, onRefused, start: (context) => startFiles(settings, context) };
}

interface Settings {
  readonly source: string;
  readonly roots: readonly string[];
  readonly watches: boolean;
  readonly maxBytes?: number;
  readonly readRunText: ReadRunText | undefined;
  readonly traitsOf: TraitsOf | undefined;
  readonly noteRefused: FilesOptions['noteRefused'];
  readonly stored: StoredIndexes | undefined;
}

/** A watch that does nothing, for a source that reads once. */
const DEAF: FolderWatch = { listen() {}, keepOnly() {}, close() {} };

async function startFiles(settings: Settings, context: SourceContext): Promise<LiveSource> {
  const [{ readSpecFolders, troublesOf, placeOfSpec }, { createSpecIndexes }] = await Promise.all([
    import('../specs/spec-folders.ts'),
    import('../specs/spec-indexes.ts'),
  ]);
  const listing = createListing();
  const told = new Set<string>();
  let known: SpecFolders = { files: new Map(), unreadable: [] };
  let read: 'changed' | 'all' = 'all';
  let isClosed = false;

  const warn = (message: string) => context.warn(`${settings.source}: ${message}`);
  const onEdit = () => void update().catch((cause) => listing.fail(messageOf(cause)));
  const watch = settings.watches ? createFolderWatch({ onChange: onEdit, warn }) : DEAF;
  const { stored } = settings;
  const indexes = stored && createSpecIndexes({ ...context, stored, onDoubt: onEdit });
  const update = oneAtATime(async () => {
    if (isClosed) return;
    const how = { ...settings, read, watch, indexes };
    read = 'changed';
    known = await readSpecFolders(known, how);
    if (isClosed) return;
    const { failures, isDown, leftOut, passedOver } = troublesOf(known, settings.roots);
    const troubles = [...failures, ...leftOut, ...passedOver];
    for (const trouble of troubles) if (!told.has(trouble)) warn(trouble);
    told.clear(); // a problem that is fixed and returns is reported again
    for (const trouble of troubles) told.add(trouble);
    const listed = [...known.files.values()].flatMap((file) => file.specs);
    listing.show(listed, isDown ? { down: summary(failures) } : { leftOut: summary([...failures, ...leftOut]) });
  });

  await update();
  const { specs, onChange, status } = listing;
  return {
    specs,
    placeOf: (spec) => placeOfSpec(known, spec),
    onChange,
    status,
    refresh() {
      read = 'all';
      return update();
    },
    async close() {
      isClosed = true;
      watch.close();
      listing.close();
      await indexes?.close();
    },
  };
}

function summary(troubles: readonly string[]): string | undefined {
  const [first] = troubles;
  return troubles.length < 2 ? first : `${first} And ${troubles.length - 1} more.`;
}
