import { createHmac, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { canonicalJson } from '../../core/json.ts';
import { didYouMean } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { listOf } from '../../core/visible-text.ts';
import { isSameSecret, reveal, Secret, type SecretUse } from './secret.ts';
import {
  readSecretCommand,
  readSecretFile,
  readSecretVariable,
  type SecretReading,
  type SecretSurroundings,
} from './secret-reading.ts';
import type { SecretText } from './secret-template.ts';

/** The place of a secret, and the hosts that may receive it. Without hosts, it can only go into a child's environment. */
export type SecretDeclaration = { readonly hosts?: string | readonly string[] } & (
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] }
);

/** The state of a secret at one moment, without its value. */
export interface SecretState {
  /** Changes with the declaration or the value. The output of a command is not included. */
  readonly mark: string;
  /** False if the secret is not declared, or not found at its place. */
  readonly isThere: boolean;
  readonly hosts: readonly string[];
}

/** The declared secrets. Each is looked up when it is used, not before. */
export interface Secrets {
  readonly names: readonly string[];
  /** Looks up a secret. If it is missing, the error says where it was searched. */
  get(name: string): Promise<Secret>;
  /** Fills in the secrets of a text, for one use. */
  fill(text: SecretText, use: SecretUse): Promise<string>;
  /** The current state of a secret; runs no command. */
  state(name: string): Promise<SecretState>;
  /** The file that a secret is read from, if any. */
  fileOf(name: string): string | undefined;
  /** All secrets looked up so far, newest first. They must not appear in a log. */
  known(): readonly Secret[];
  /** Records the secrets in the environment, so that they are known before their first use. */
  noteEnvironment(): void;
  /** Records a value that is not declared and cannot be looked up, but must be redacted. */
  hide(name: string, value: string): void;
  /** A number that changes whenever `known` does. */
  revision(): number;
}

// A rotated value may still appear in a late answer; a few old values are enough to hide those.
const MAX_KNOWN = 4;

type Declarations = Readonly<Record<string, SecretDeclaration>>;

/** Creates secrets from their declarations. A function is called at each use, so that declarations may change. */
export function createSecrets(given: Declarations | (() => Declarations), surroundings: SecretSurroundings): Secrets {
  const declared = typeof given === 'function' ? given : () => given;
  const underWay = new Map<string, Promise<Secret>>();
  const seen = new Map<string, readonly Secret[]>();
  let markKey: Buffer | undefined; // created with the first mark; without a key, the value could be guessed from the mark
  let revision = 0;

  const note = (name: string, value: string, hosts: SecretDeclaration['hosts']): Secret => {
    const secret = new Secret(name, value, listOf(hosts));
    const known = seen.get(name) ?? [];
    if (known[0] !== undefined && isSameSecret(known[0], secret)) return secret;
    const before = known.filter((older) => !isSameSecret(older, secret));
    seen.set(name, [secret, ...before].slice(0, MAX_KNOWN));
    revision++;
    return secret;
  };

  const declarationOf = (name: string): SecretDeclaration | undefined => {
    const declarations = declared();
    return Object.hasOwn(declarations, name) ? declarations[name] : undefined;
  };

  const lookUp = async (name: string): Promise<Secret> => {
    const declaration = declarationOf(name);
    if (declaration === undefined) {
      const guess = didYouMean(name, Object.keys(declared()));
      throw new ToolcribError('unknown_secret', `The secret "${name}" is not declared.${guess}`);
    }
    const reading = await readDeclared(declaration, surroundings);
    if (!reading.ok) {
      throw new ToolcribError(
        'missing_secret',
        `The secret "${name}" was not found in ${placeOf(declaration)}: ${reading.reason}.`,
      );
    }
    return note(name, reading.value, declaration.hosts);
  };

  // Requests during a lookup share it; later requests look up again.
  const get = (name: string): Promise<Secret> => {
    const running = underWay.get(name);
    if (running !== undefined) return running;
    const lookup = lookUp(name).finally(() => underWay.delete(name));
    underWay.set(name, lookup);
    return lookup;
  };

  return {
    get names() {
      return Object.keys(declared());
    },
    get,
    async fill(text, use) {
      if (typeof text === 'string') return text;
      const parts = text.secretTemplate.map(async (part) =>
        typeof part === 'string' ? part : reveal(await get(part.secret), use),
      );
      return (await Promise.all(parts)).join('');
    },
    async state(name) {
      const declaration = declarationOf(name);
      if (declaration === undefined) return { mark: '', isThere: false, hosts: [] };
      const hosts = listOf(declaration.hosts);
      const reading = 'command' in declaration ? undefined : await readDeclared(declaration, surroundings);
      if (reading?.ok) note(name, reading.value, declaration.hosts); // it must be redacted from now on
      const text = canonicalJson([declaration, reading ?? null]);
      markKey ??= randomBytes(32);
      return { mark: createHmac('sha256', markKey).update(text).digest('hex'), isThere: reading?.ok !== false, hosts };
    },
    fileOf(name) {
      const declaration = declarationOf(name);
      return declaration !== undefined && 'file' in declaration
        ? resolve(surroundings.folder, declaration.file)
        : undefined;
    },
    known: () => [...seen.values()].flat(),
    noteEnvironment() {
      for (const [name, declaration] of Object.entries(declared())) {
        const variable = (declaration as { readonly env?: unknown } | undefined)?.env; // code may pass any value
        if (typeof variable !== 'string') continue;
        const reading = readSecretVariable(variable, surroundings);
        if (reading.ok) note(name, reading.value, declaration.hosts);
      }
    },
    hide: (name, value) => void note(name, value, []),
    revision: () => revision,
  };
}

async function readDeclared(declaration: SecretDeclaration, surroundings: SecretSurroundings): Promise<SecretReading> {
  if ('env' in declaration) return readSecretVariable(declaration.env, surroundings);
  if ('file' in declaration) return readSecretFile(declaration.file, surroundings);
  return readSecretCommand(declaration.command, surroundings);
}

function placeOf(declaration: SecretDeclaration): string {
  if ('env' in declaration) return `the environment variable ${declaration.env}`;
  if ('file' in declaration) return `the file ${declaration.file}`;
  return `the output of the command ${declaration.command[0] ?? ''}`;
}
