import { listOf } from '../../core/bundle.ts';
import { didYouMean } from '../../core/nearest.ts';
import { ToolcribError } from '../../core/tool-error.ts';
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

/** The declared secrets. Each is looked up when it is used and not before. */
export interface Secrets {
  readonly names: readonly string[];
  /** Looks one up now; a missing one is an error that says where it was looked for. */
  get(name: string): Promise<Secret>;
  /** The text with its secrets filled in, for one use. */
  fill(text: SecretText, use: SecretUse): Promise<string>;
  /** What was looked up so far, newest first: what must not appear in a log. */
  known(): readonly Secret[];
}

// A rotated value may still come back in a late answer; a handful is enough to hide those.
const MAX_KNOWN = 4;

/** Makes secrets of their declarations. */
export function createSecrets(
  declarations: Readonly<Record<string, SecretDeclaration>>,
  surroundings: SecretSurroundings,
): Secrets {
  const names = Object.keys(declarations);
  const underWay = new Map<string, Promise<Secret>>();
  const seen = new Map<string, readonly Secret[]>();

  const lookUp = async (name: string): Promise<Secret> => {
    const declaration = Object.hasOwn(declarations, name) ? declarations[name] : undefined;
    if (declaration === undefined) {
      throw new ToolcribError('unknown_secret', `There is no secret "${name}".${didYouMean(name, names)}`);
    }
    const reading = await readDeclared(declaration, surroundings);
    if (!reading.ok) {
      throw new ToolcribError(
        'missing_secret',
        `The secret "${name}" is missing: it is looked for in ${placeOf(declaration)}, and ${reading.reason}.`,
      );
    }
    const secret = new Secret(name, reading.value, listOf(declaration.hosts));
    const before = (seen.get(name) ?? []).filter((older) => !isSameSecret(older, secret));
    seen.set(name, [secret, ...before].slice(0, MAX_KNOWN));
    return secret;
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
    names,
    get,
    async fill(text, use) {
      if (typeof text === 'string') return text;
      const parts = text.secretTemplate.map(async (part) =>
        typeof part === 'string' ? part : reveal(await get(part.secret), use),
      );
      return (await Promise.all(parts)).join('');
    },
    known: () => [...seen.values()].flat(),
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
