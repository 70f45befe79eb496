import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { canonicalJson } from '../../core/json.ts';
import { isBoundTo } from '../../system/secrets/secret-hosts.ts';
import { isSecretTemplate, type SecretText, secretsIn } from '../../system/secrets/secret-template.ts';
import type { SecretState, Secrets } from '../../system/secrets/secrets.ts';
import type { SourceConfig } from '../config/loaded-config.ts';

/** What the entries of sources take from elsewhere: secrets, and files of variables. An edit of those is an edit of the entry. */
export interface SourceSecrets {
  /** Looks at what these entries name, and at what older ones named. */
  look(sources: Readonly<Record<string, SourceConfig>>): Promise<void>;
  /** Text that is another one once something that the entry names is another, as of the last look. */
  markOf(entry: SourceConfig): string;
  /** Tells, whenever asked, whether the entry still has what it had at this moment, as of the last look. */
  stillHas(name: string, entry: SourceConfig): () => boolean;
  /** The files that were looked at. */
  files(): readonly string[];
  /** True if something is another than at the last look. */
  hasChanged(): Promise<boolean>;
}

const NOT_LOOKED_AT: SecretState = { mark: '', isThere: false, hosts: [] };

export function createSourceSecrets(secrets: Secrets): SourceSecrets {
  const states = new Map<string, SecretState>();
  const contents = new Map<string, string>();
  let grants: ReadonlyMap<string, readonly string[]> = new Map();

  const stateOf = (name: string): SecretState => states.get(name) ?? NOT_LOOKED_AT;
  const markAll = () => canonicalJson([[...states].map(([name, { mark }]) => [name, mark]), [...contents]]);
  const lookAgain = async (): Promise<void> => {
    for (const name of states.keys()) states.set(name, await secrets.state(name));
    for (const file of contents.keys()) contents.set(file, await contentMark(file));
  };

  return {
    async look(sources) {
      const entries = Object.values(sources);
      grants = new Map(Object.entries(sources).map(([name, entry]) => [name, grantedBy(entry)]));
      for (const name of entries.flatMap(secretsOf)) states.set(name, NOT_LOOKED_AT);
      for (const file of entries.flatMap(envFilesOf)) contents.set(file, '');
      await lookAgain();
    },
    markOf: (entry) =>
      canonicalJson([
        secretsOf(entry).map((name) => stateOf(name).mark),
        envFilesOf(entry).map((file) => contents.get(file) ?? ''),
      ]),
    stillHas(name, entry) {
      const granted = grantedBy(entry);
      const had = secretsOf(entry).map((name) => ({ name, before: stateOf(name) }));
      const used = hostsOf(entry);
      return () =>
        had.every(({ name: secret, before }) => !isTakenAway(before, stateOf(secret), used)) &&
        granted.every((secret) => grants.get(name)?.includes(secret) !== false);
    },
    files: () => [...contents.keys(), ...[...states.keys()].flatMap((name) => secrets.fileOf(name) ?? [])],
    async hasChanged() {
      const before = markAll();
      await lookAgain();
      return markAll() !== before;
    },
  };
}

function isTakenAway(before: SecretState, now: SecretState, used: readonly string[] | undefined): boolean {
  if (before.isThere && !now.isThere) return true;
  const allows = ({ hosts }: SecretState, host: string) =>
    hosts.some((bound) => bound === host || isBoundTo(bound, host));
  return (used ?? before.hosts).some((host) => allows(before, host) && !allows(now, host));
}

/** The hosts that its secrets are sent to; undefined if only its description can tell. */
function hostsOf(entry: SourceConfig): readonly string[] | undefined {
  if ('http' in entry) return hostNamesOf(entry.http);
  if (!('mcp' in entry)) return undefined;
  if ('command' in entry.mcp) return [];
  const { url, auth } = entry.mcp;
  return auth !== undefined && 'clientCredentials' in auth ? undefined : hostNamesOf(url);
}

/** With and without the port: a secret may be bound to either. */
function hostNamesOf(url: SecretText): readonly string[] {
  const parts = typeof url === 'string' ? [url] : url.secretTemplate;
  const parsed = URL.parse(parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''));
  return parsed === null ? [] : [parsed.host, parsed.hostname];
}

/** The names of the secrets that the tools of a list may use. */
function grantedBy(entry: SourceConfig): readonly string[] {
  return 'secrets' in entry ? [entry.secrets ?? []].flat().flatMap(secretsIn) : [];
}

/** The names of the secrets that stand in an entry, each once. */
function secretsOf(entry: SourceConfig): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (isSecretTemplate(value)) for (const name of secretsIn(value)) found.add(name);
    else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) visit(member);
  };
  visit(entry);
  return [...found].sort();
}

function envFilesOf(entry: SourceConfig): readonly string[] {
  const file = 'mcp' in entry && 'command' in entry.mcp ? entry.mcp.envFile : undefined;
  return file === undefined ? [] : [file];
}

/** A hash, since what stands in the file may be secret. */
async function contentMark(file: string): Promise<string> {
  return readFile(file).then(
    (content) => hash('sha256', content),
    () => '',
  );
}
