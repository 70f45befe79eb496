import { hash } from 'node:crypto';
import { expandVariables, lookUpSecret, type VariableSurroundings } from '../../config/read-text.ts';
import type { SourceEntry, SourcePorts, SourceRecord } from '../../config/records.ts';
import { canonicalJson, isRecord, type MaybePromise } from '../../core/json.ts';
import type { ReadRunText } from '../../core/ports/extension-ports.ts';
import type { KeptListPort } from '../../core/ports/store.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { traitsOf } from '../../kinds/index.ts';
import { SOURCES } from '../../sources/index.ts';
import { readTemplate } from '../../specs/template.ts';
import { type SecretTemplatePart, secretsIn } from '../../system/secrets/secret-template.ts';
import { type Config, INLINE, type LoadedConfig, type SourceConfig } from '../config/loaded-config.ts';
import { recordOf } from '../config/source-schema.ts';
import { connectionText, withSettings } from '../sources/source-settings.ts';
import type { OpenKinds } from './configured-executors.ts';
import type { LazyStore } from './lazy-store.ts';
import type { SourceSecrets } from './source-secrets.ts';
import { type KnownSource, standIns, unreadSource, whyUnread } from './unread-entries.ts';

/** What sources of a configuration are made with. */
export interface SourceSurroundings extends Pick<SourcePorts, 'folder' | 'env' | 'secrets' | 'watch' | 'background'> {
  readonly store: LazyStore;
  /** What of secrets and files the entries use. */
  readonly used: SourceSecrets;
  readonly kinds: OpenKinds;
  /** Whether sources are looked for that nobody has written down. */
  readonly discovers: boolean;
}

/** Makes the sources of a configuration. An entry that did not change stays the same object, so that it goes on running. */
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
        const made = withSettings(source, settingsOf(name, entry, record));
        return { ...made, connection: () => connectionText(entry, more), mayStay: used.stillHas(name, entry) };
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
    for (const name of known.keys()) if (!named.has(name)) known.delete(name); // what was taken out does not come back
    return all;
  };
}

type Make = (name: string, entry: object, ports: SourcePorts) => MaybePromise<Source>;

/** How an entry becomes a source. Its record tells that the entry is its own. */
function makerOf(record: SourceEntry, kinds: OpenKinds): Make {
  const { makeSource = (record as SourceRecord).make } = kinds.find(({ source }) => source === record) ?? {}; // of a kind, or by itself
  return makeSource as Make;
}

/** One that cannot be made of its entry fails like one that cannot be started: the others go on. */
async function orFailing(name: string, make: () => Promise<Source>): Promise<Source> {
  try {
    return await make();
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return { name, start: () => Promise.reject(cause) };
  }
}

/** What sources get of the crib. */
function portsOf({ kinds, store, used: _used, ...given }: SourceSurroundings): SourcePorts {
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

/** Where the last list of a source is kept. The address it came from is not kept: it may hold a credential. */
function keptList(name: string, address: unknown, { lists }: LazyStore): KeptListPort {
  const from = () => hash('sha256', canonicalJson(address)); // when it is needed: few sources are
  return {
    async get() {
      const list = await lists.get(name);
      return list?.about?.from === from() ? list : undefined;
    },
    put: (list) => lists.put(name, { ...list, about: { ...list.about, from: from() } }),
  };
}

/** A source that is made once for each text. */
interface Kept {
  readonly name: string;
  /** The entry that it comes from. */
  readonly from?: string;
  readonly text: string;
  readonly isUnread?: boolean;
  make(): Promise<Source>;
}

type Keep = (kept: Kept) => Promise<Source>;

/** What is said of every source, as far as this one leaves it to others. */
function settingsOf(name: string, entry: SourceConfig, { isPrefixed, choosesItself }: SourceEntry): SourceConfig {
  const prefixed = isPrefixed === true ? { prefix: name, ...entry } : entry;
  if (choosesItself !== true) return prefixed;
  const { include: _include, exclude: _exclude, ...rest } = prefixed;
  return rest;
}

/** What nobody has to write down: a folder named by the environment, and installed packages. */
function discovered(written: Config['sources'], ports: SourcePorts, keep: Keep): readonly Promise<Source>[] {
  return SOURCES.flatMap((record: SourceRecord) => {
    const found = record.discover?.({ ...ports, written });
    if (found === undefined) return [];
    const { name, entry } = found;
    return [keep({ name, text: canonicalJson(entry), make: async () => record.make(name, entry, ports) })];
  });
}

/** The source of the specs that stand in the configuration itself. One that was taken out ends at once. */
async function inlineOf(
  loaded: LoadedConfig,
  { folder, traitsOf, readLocalText, describe }: SourcePorts,
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
  const source = inline({ specs, folder, placeOf, traitsOf, unread, readRunText: readLocalText() });
  return { ...describe(source), adjust: (shown) => shown.filter(({ name }) => names.has(name)) };
}

/** How the texts of runs are read in specs that lie here, and in those that come from elsewhere. */
interface RunTexts {
  /** Fills in variables; each secret that is named must be declared. */
  readonly local: ReadRunText;
  /** Fills in nothing: what a stranger wrote must not read the environment, and may name only secrets that the owner granted. */
  remote(grant: SecretGrant): ReadRunText;
}

/** The secrets that the tools of a source may name. */
interface SecretGrant {
  readonly source: string;
  readonly secrets: readonly string[];
}

/** Reads texts of runs against the environment and the secrets that are declared. */
function createRunTexts(surroundings: Pick<VariableSurroundings, 'env' | 'secretNames'>): RunTexts {
  return {
    local(text) {
      const { parts, mistakes } = expandVariables(text, surroundings);
      return mistakes.length > 0 ? { mistakes } : toRunText(parts);
    },
    remote: (grant) => (text) => {
      // Read as executors read it: no other reading may find a secret that this one does not.
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
  const cure = `write secrets: [${secret}] on that source to let them`;
  return [`names the secret "${secret}", which tools of the source "${source}" may not use: ${cure}.`];
}

/** Whoever runs the tool reads its secrets in this text; what was filled in must not look like one to them. */
function toRunText(parts: readonly SecretTemplatePart[]): ReturnType<ReadRunText> {
  let text = '';
  let plain = '';
  for (const part of parts) {
    // Joined before it is looked at: a value that ends in "$" may stand before one that begins with "{".
    if (typeof part === 'string') plain += part;
    else if (plain.endsWith('$'))
      return { mistakes: [`has a "$" right before a secret, which would hide the secret.`] };
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
