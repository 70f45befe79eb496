import { grantedSecrets, type OwnEntry, refreshMs, type SourceRecord } from '../config/records.ts';
import { flag } from '../config/schema-node.ts';
import type { DatabaseSourceConfig } from '../config/types/sources.ts';
import { copyJson, type MaybePromise, NotJsonError } from '../core/json.ts';
import type { ReadRunText } from '../core/ports/extension-ports.ts';
import { describe } from '../core/read-options.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { createEntryReader } from '../specs/spec-entry.ts';
import { keepKnown, type NextSpecs } from '../specs/spec-list.ts';
import { createListing } from '../specs/spec-listing.ts';
import { oneAtATime, repeat } from '../system/clock.ts';

/** The part of a store that this source uses. */
export interface SpecsPort {
  list(): MaybePromise<readonly { readonly name: string; readonly spec: unknown }[]>;
  /** A token that changes after every write, including writes by other processes. */
  version?(): MaybePromise<string>;
  /** Subscribes to changes, if the store supports it. */
  onChange?(listener: () => void): () => void;
}

/** Options for `database()`. The default for `kinds` is `http` only. */
export interface DatabaseOptions extends Pick<Source, 'name' | 'trust' | 'bundle' | 'kinds'> {
  readonly specs: SpecsPort;
  /** Poll interval for changes made by other processes; default 2 s. */
  readonly refreshMs?: number | undefined;
  /** Checks the secrets in runs. */
  readonly readRunText?: ReadRunText;
}

type DatabaseEntry = OwnEntry<DatabaseSourceConfig>;

/** The configuration entry for specs in the store. */
export const databaseSource: SourceRecord<DatabaseEntry> = {
  key: 'database',
  description: 'Specs in the store.',
  properties: {
    database: flag('Specs kept in the store; false turns the source off.'),
    secrets: grantedSecrets,
    refreshMs,
  },
  bringsAnyKind: true,
  namesSecrets: true,
  make(name, { database: isOn, secrets, refreshMs: everyMs }, { store, readRemoteText }) {
    if (!isOn) return empty(name);
    return database({ name, specs: store.specs, refreshMs: everyMs, readRunText: readRemoteText(name, secrets) });
  },
};

/** A source that is turned off. */
function empty(name: string): Source {
  return {
    name,
    trust: true,
    isLocal: true,
    bundle: false,
    async start() {
      const listing = createListing();
      listing.show([]);
      return { ...listing, close: async () => listing.close() };
    },
  };
}

/** Creates the source of specs in the store. If the store becomes unreadable, the last list stays. */
export function database(options: DatabaseOptions): Source {
  const { specs, refreshMs: everyMs = 2000, kinds = ['http'], readRunText, ...source } = options;
  if (typeof specs?.list !== 'function')
    throw new ToolcribError(
      'invalid_option',
      `database(): specs must be an object with list(), such as store.specs; got ${describe(specs)}.`,
    );
  const readStored = createEntryReader({ source: source.name, readRunText });
  const settings = { name: source.name, specs, refreshMs: everyMs, readStored };
  return { ...source, kinds, readStored, start: (context) => startDatabase(settings, context) };
}

interface Settings extends Pick<DatabaseOptions, 'name' | 'specs'> {
  readonly refreshMs: number;
  readStored(entry: unknown): ToolSpec;
}

async function startDatabase(settings: Settings, context: SourceContext): Promise<LiveSource> {
  const { name, specs: port, readStored } = settings;
  const listing = createListing();
  let version: string | undefined;
  let isClosed = false;

  const update = oneAtATime(async () => {
    try {
      const now = await port.version?.();
      if (isClosed || (now !== undefined && now === version && listing.status().state === 'ready')) return;
      const next = readAll(await port.list(), readStored);
      if (isClosed) return;
      version = now;
      for (const { name: tool, message } of next.problems) context.warn(`${name}: stored spec "${tool}": ${message}`);
      listing.show(keepKnown(listing.specs(), next), { leftOut: next.problems[0]?.message });
    } catch (cause) {
      listing.fail(`the store cannot be read: ${messageOf(cause)}`); // any error: the last list stays
    }
  });

  const stopListening = port.onChange?.(() => void update());
  await update();
  const stop = repeat(settings.refreshMs, update);
  const { specs, onChange, status } = listing;
  return {
    specs,
    onChange,
    status,
    refresh: update,
    async close() {
      isClosed = true;
      stop();
      stopListening?.();
      listing.close();
    },
  };
}

interface StoredReading extends NextSpecs {
  readonly problems: readonly { readonly name: string; readonly message: string }[];
}

type Stored = Awaited<ReturnType<SpecsPort['list']>>;

function readAll(stored: Stored, read: (entry: unknown) => ToolSpec): StoredReading {
  const entries: { readonly spec: ToolSpec }[] = [];
  const problems: { readonly name: string; readonly message: string }[] = [];
  for (const { name, spec } of stored) {
    try {
      entries.push({ spec: read(copyJson(spec)) }); // a copy, because the store may keep a reference to what it returns
    } catch (cause) {
      if (!(cause instanceof ToolcribError || cause instanceof NotJsonError)) throw cause;
      problems.push({ name, message: cause.message });
    }
  }
  return { entries, problems };
}
