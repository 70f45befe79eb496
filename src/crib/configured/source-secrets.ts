import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { canonicalJson } from '../../core/json.ts';
import { isBoundTo, isSecretTemplate, secretsIn } from '../../system/secrets/secret-template.ts';
import type { SecretState, Secrets } from '../../system/secrets/secrets.ts';
import type { SourceConfig } from '../config/loaded-config.ts';
import { recordOf } from '../config/source-schema.ts';

/** The secrets and variable files that entries of sources use. A change of one counts as an edit of the entry. */
export interface SourceSecrets {
  /** Reads the state of everything that these and older entries use. */
  look(sources: Readonly<Record<string, SourceConfig>>): Promise<void>;
  /** A text that changes when something that the entry uses has changed, as of the last look. */
  markOf(entry: SourceConfig): string;
  /** Returns a function that checks whether the entry still has every secret and host that it has now, as of the last look. */
  stillHas(name: string, entry: SourceConfig): () => boolean;
  /** The files that are used. */
  files(): readonly string[];
  /** True if something has changed since the last look. */
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
      for (const file of entries.flatMap(filesOf)) contents.set(file, '');
      await lookAgain();
    },
    markOf: (entry) =>
      canonicalJson([
        secretsOf(entry).map((name) => stateOf(name).mark),
        filesOf(entry).map((file) => contents.get(file) ?? ''),
      ]),
    stillHas(name, entry) {
      const granted = grantedBy(entry);
      const had = secretsOf(entry).map((name) => ({ name, before: stateOf(name) }));
      const used = recordOf(entry).hostsOf?.(entry);
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

/** Names of the secrets that the tools of an entry may use. */
function grantedBy(entry: SourceConfig): readonly string[] {
  return 'secrets' in entry ? [entry.secrets ?? []].flat().flatMap(secretsIn) : [];
}

/** Names of the secrets in an entry, without duplicates. */
function secretsOf(entry: SourceConfig): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (isSecretTemplate(value)) for (const name of secretsIn(value)) found.add(name);
    else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) visit(member);
  };
  visit(entry);
  return [...found].sort();
}

function filesOf(entry: SourceConfig): readonly string[] {
  return recordOf(entry).filesOf?.(entry) ?? [];
}

/** A hash, since the content may be secret. */
async function contentMark(file: string): Promise<string> {
  return readFile(file).then(
    (content) => hash('sha256', content),
    () => '',
  );
}
