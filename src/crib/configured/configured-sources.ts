import { expandVariables, lookUpSecret, type VariableSurroundings } from '../../config/read-text.ts';
import type { SourceEntry, SourcePorts, SourceRecord } from '../../config/records.ts';
import { canonicalJson, isRecord, type MaybePromise } from '../../core/json.ts';
import type { ReadRunText } from '../../core/ports/extension-ports.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { traitsOf } from '../../kinds/index.ts';
import { SOURCES } from '../../sources/index.ts';
import { readTemplate } from '../../specs/template.ts';
import { type SecretTemplatePart, secretsIn } from '../../system/secrets/secret-template.ts';
import { type Config, INLINE, type LoadedConfig, type SourceConfig } from '../config/loaded-config.ts';
import { recordOf } from '../config/source-schema.ts';
import { connectionText, withSettings } from '../sources/source-settings.ts';
import { onWorkers, type WorkerPlace } from '../sources/worker-source.ts';
import type { OpenKinds } from './configured-executors.ts';
import { keptList } from './lazy-store.ts';
import type { SourceSecrets } from './source-secrets.ts';
import { type KnownSource, standIns, unreadSource, whyUnread } from './unread-entries.ts';

/** Dependencies of configured sources. */
export interface SourceSurroundings
  extends WorkerPlace,
    Pick<SourcePorts, 'folder' | 'env' | 'secrets' | 'watch' | 'background' | 'noteRefused'> {
  /** The secrets and files that entries use. */
  readonly used: SourceSecrets;
  readonly kinds: OpenKinds;
  /** True to discover sources that the configuration does not declare. */
  readonly discovers: boolean;
}

/** Creates the sources of a configuration. An unchanged entry stays the same object, so that it keeps running. */
export type ConfiguredSources = (loaded: LoadedConfig) => Promise<readonly Source[]>;

export function createConfiguredSources(surroundings: SourceSurroundings): ConfiguredSources {
  const { used, secrets } = surroundings;
  const known = new Map<string, KnownSource>();
  const keep: Keep = async ({ name, from = name, make, ...kept }) => {
    const before = known.get(name);
    if (before?.text === kept.text) return before.source;
    const source = await make();
    known.set(name, { ...kept, source, from });
    return source;
  };
  const keepUnread = (name: string, loaded: LoadedConfig) => {
    const reason = whyUnread(name, loaded);
    return keep({ name, text: reason, isUnread: true, make: async () => unreadSource(name, reason) });
  };
  const ports = portsOf(surroundings);
  return async (loaded) => {
    const { sources, tools = [] } = loaded.config;
    await used.look(sources);
    const { names } = secrets;
    const written = loaded.declared.flatMap(({ name, from }) => {
      const entry = sources[name];
      if (entry === undefined) {
        const before = standIns({ name, from }, loaded, known);
        return before.length > 0 ? before.map(async (source) => source) : [keepUnread(name, loaded)];
      }
      const record = recordOf(entry);
      const more = [used.markOf(entry), record.namesSecrets === true ? names : null];
      const make = async () => {
        const source = await orFailing(name, async () => makerOf(record, surroundings.kinds)(name, entry, ports));
        const here = withSettings(source, settingsOf(name, entry, record));
        const made = entry.runOn === 'worker' ? onWorkers(here, record.key, surroundings) : here;
        const connected = [...more, made.isElsewhere ?? false];
        return { ...made, connection: () => connectionText(entry, connected), mayStay: used.stillHas(name, entry) };
      };
      return [keep({ name, from, text: canonicalJson([entry, more]), make })];
    });
    const unread = whyUnread(INLINE, loaded);
    const inline = () =>
      keep({ name: INLINE, text: canonicalJson([tools, names, unread]), make: () => inlineOf(loaded, ports) });
    const none = unread === '' ? [] : [keepUnread(INLINE, loaded)];
    const specs = tools.length === 0 ? none : [inline()];
    const all = await Promise.all([
      ...specs,
      ...written,
      ...(surroundings.discovers ? discovered(sources, ports, keep) : []),
    ]);
    const named = new Set(all.map(({ name }) => name));
    for (const name of known.keys()) if (!named.has(name)) known.delete(name); // a removed source is created anew if it comes back
    return all;
  };
}

type Make = (name: string, entry: object, ports: SourcePorts) => MaybePromise<Source>;

/** The function that creates a source from an entry of this record. */
function makerOf(record: SourceEntry, kinds: OpenKinds): Make {
  const { makeSource = (record as SourceRecord).make } = kinds.find(({ source }) => source === record) ?? {}; // a kind's source, or an independent one
  return makeSource as Make;
}

/** Creates a source. If that fails, the source fails at its start, so that the others are not affected. */
async function orFailing(name: string, make: () => Promise<Source>): Promise<Source> {
  try {
    return await make();
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return { name, start: () => Promise.reject(cause) };
  }
}

/** The crib as sources see it. */
function portsOf({
  kinds,
  store,
  used: _used,
  worker: _worker,
  isInMemory: _isInMemory,
  ...given
}: SourceSurroundings): SourcePorts {
  const { env, secrets } = given;
  const texts = () => createRunTexts({ env, secretNames: new Set(secrets.names) });
  const kept: SourcePorts['kept'] = (name, address) => keptList(name, address, store);
  return {
    ...given,
    store,
    kept,
    traitsOf,
    readLocalText: () => texts().local,
    readRemoteText: (source, granted = []) => texts().remote({ source, secrets: [granted].flat().flatMap(secretsIn) }),
    describe: (source) =>
      kinds.reduce((one, kind) => kind.describe?.(one, kept(`${one.name}:${kind.executor.kind}`, '')) ?? one, source),
  };
}

/** A source that is created once per `text`. */
interface Kept {
  readonly name: string;
  /** The entry that declares it. */
  readonly from?: string;
  readonly text: string;
  readonly isUnread?: boolean;
  make(): Promise<Source>;
}

type Keep = (kept: Kept) => Promise<Source>;

/** The common settings of a source, without include and exclude if it applies them itself. */
function settingsOf(name: string, entry: SourceConfig, { isPrefixed, choosesItself }: SourceEntry): SourceConfig {
  const prefixed = isPrefixed === true ? { prefix: name, ...entry } : entry;
  if (choosesItself !== true) return prefixed;
  const { include: _include, exclude: _exclude, ...rest } = prefixed;
  return rest;
}

/** Discovered sources: the plugin folder of the environment, and installed packages. */
function discovered(written: Config['sources'], ports: SourcePorts, keep: Keep): readonly Promise<Source>[] {
  return SOURCES.flatMap((record: SourceRecord) => {
    const found = record.discover?.({ ...ports, written });
    if (found === undefined) return [];
    const { name, entry } = found;
    return [keep({ name, text: canonicalJson(entry), make: async () => record.make(name, entry, ports) })];
  });
}

/** The source of the specs under `tools`. A removed spec disappears at once. */
async function inlineOf(
  loaded: LoadedConfig,
  { folder, traitsOf, readLocalText, describe, noteRefused }: SourcePorts,
): Promise<Source> {
  const { inline } = await import('../../sources/inline.ts');
  const placeOf = (position: number) => {
    const index = loaded.toolIndexes[position] ?? position;
    const line = loaded.locate(['tools', index])?.line;
    return loaded.file === undefined ? `tools[${index}]` : `${loaded.file}, line ${line}, tools[${index}]`;
  };
  const specs = loaded.config.tools ?? [];
  const names = new Set(specs.map((spec) => (isRecord(spec) ? spec.name : undefined)));
  const unread = whyUnread(INLINE, loaded);
  const source = inline({ specs, folder, placeOf, traitsOf, unread, readRunText: readLocalText(), noteRefused });
  return { ...describe(source), adjust: (shown) => shown.filter(({ name }) => names.has(name)) };
}

/** Readers for strings in the run of local and remote specs. */
interface RunTexts {
  /** Expands variables. Every secret must be declared. */
  readonly local: ReadRunText;
  /** Expands nothing: a remote spec must not read the environment, and may use only secrets that the operator granted. */
  remote(grant: SecretGrant): ReadRunText;
}

/** The secrets that the tools of a source may use. */
interface SecretGrant {
  readonly source: string;
  readonly secrets: readonly string[];
}

/** Creates the readers with the environment and the declared secrets. */
function createRunTexts(surroundings: Pick<VariableSurroundings, 'env' | 'secretNames'>): RunTexts {
  return {
    local(text) {
      const { parts, mistakes } = expandVariables(text, surroundings);
      return mistakes.length > 0 ? { mistakes } : toRunText(parts);
    },
    remote: (grant) => (text) => {
      // Parsed exactly as executors parse it, so that no secret is missed.
      const secrets = readTemplate(text).parts.flatMap((part) =>
        typeof part === 'object' && 'secret' in part ? part.secret : [],
      );
      const mistakes = secrets.flatMap((secret) => mistakesIn(secret, grant, surroundings.secretNames));
      return mistakes.length > 0 ? { mistakes } : { text };
    },
  };
}

function mistakesIn(
  secret: string,
  { source, secrets }: SecretGrant,
  declared: ReadonlySet<string>,
): readonly string[] {
  const found = lookUpSecret(secret, declared);
  if ('mistake' in found) return [found.mistake];
  if (secrets.includes(secret)) return [];
  const cure = `add secrets: [${secret}] to that source to allow it`;
  return [`names the secret "${secret}", which tools of the source "${source}" may not use: ${cure}.`];
}

/** Joins the parts for the executor, which resolves the secrets. Expanded values are escaped, so that they cannot look like a secret reference. */
function toRunText(parts: readonly SecretTemplatePart[]): ReturnType<ReadRunText> {
  let text = '';
  let plain = '';
  for (const part of parts) {
    // Joined before escaping: a value that ends in "$" may precede one that starts with "{".
    if (typeof part === 'string') plain += part;
    else if (plain.endsWith('$'))
      return { mistakes: [`has a "$" right before a secret, which would escape it; remove the "$".`] };
    else {
      text += `${escaped(plain)}\${secret:${part.secret}}`;
      plain = '';
    }
  }
  return { text: text + escaped(plain) };
}

function escaped(plain: string): string {
  return plain.replaceAll('${', () => '$${');
}
