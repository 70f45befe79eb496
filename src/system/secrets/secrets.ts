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

/** Where a secret comes from, and the hosts that may get it. Without hosts it only goes into a child's environment. */
export type SecretDeclaration = { readonly hosts?: string | readonly string[] } & (
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] }
);

/** How a secret stands at one moment, without its value. */
export interface SecretState {
  /** Another text once its declaration or its value is another. The output of a command is not looked at. */
  readonly mark: string;
  /** False if it is not declared, or if there is nothing where it is declared to be. */
  readonly isThere: boolean;
  readonly hosts: readonly string[];
}

/** The declared secrets. Each is looked up when it is used and not before. */
export interface Secrets {
  readonly names: readonly string[];
  /** Looks one up now; a missing one is an error that says where it was looked for. */
  get(name: string): Promise<Secret>;
  /** The text with its secrets filled in, for one use. */
  fill(text: SecretText, use: SecretUse): Promise<string>;
  /** How one stands now; runs no command. */
  state(name: string): Promise<SecretState>;
  /** The file that one is read from, if it is declared so. */
  fileOf(name: string): string | undefined;
  /** What was looked up so far, newest first: what must not appear in a log. */
  known(): readonly Secret[];
  /** Takes note of those that lie in the environment, so that they are known before their first use. */
  noteEnvironment(): void;
  /** Takes note of a value that nobody declared and nobody can ask for, but that must not be seen either. */
  hide(name: string, value: string): void;
  /** Another number whenever `known` says something else. */
  revision(): number;
}

// A rotated value may still come back in a late answer; a handful is enough to hide those.
const MAX_KNOWN = 4;

type Declarations = Readonly<Record<string, SecretDeclaration>>;

/** Makes secrets of their declarations; a function is asked at each use, so that declarations may change. */
export function createSecrets(given: Declarations | (() => Declarations), surroundings: SecretSurroundings): Secrets {
  const declared = typeof given === 'function' ? given : () => given;
  const underWay = new Map<string, Promise<Secret>>();
  const seen = new Map<string, readonly Secret[]>();
  let markKey: Buffer | undefined; // made with the first mark, which must not let anybody guess the value
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
      throw new ToolcribError('unknown_secret', `There is no secret "${name}".${guess}`);
    }
    const reading = await readDeclared(declaration, surroundings);
    if (!reading.ok) {
      throw new ToolcribError(
        'missing_secret',
        `The secret "${name}" is missing: it is looked for in ${placeOf(declaration)}, and ${reading.reason}.`,
      );
    }
    return note(name, reading.value, declaration.hosts);
  };

  // Whoever asks while a lookup runs shares it; once it has ended the next one looks again.
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
      if (reading?.ok) note(name, reading.value, declaration.hosts); // it must not be seen from now on
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
        const variable = (declaration as { readonly env?: unknown } | undefined)?.env; // code may hand in anything
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
