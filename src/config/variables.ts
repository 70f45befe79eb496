import { basename, sep } from 'node:path';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { type SecretTemplatePart, secretNameOf, splitReferences } from '../system/secrets/secret-template.ts';

/** What variables are filled in from. */
export interface VariableSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secretNames: ReadonlySet<string>;
  /** Set inside pasted blocks, where `${env:X}` and `${workspaceFolder}` are understood as well. */
  readonly workspaceFolder?: string;
  /** Set inside specs: their texts stay as they are written, for whoever reads specs. */
  readonly asWritten?: true;
}

/** A text with its variables filled in; its secrets are left for the moment of use. */
export interface Expansion {
  readonly parts: readonly SecretTemplatePart[];
  /** True if there was a variable: such a text may stand for a number or a boolean. */
  readonly isFilled: boolean;
  readonly mistakes: readonly string[];
}

type Found = { readonly value: SecretTemplatePart } | { readonly mistake: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const HOW = `write \${NAME}, \${NAME:-default} or \${secret:NAME}, or $\${ for a plain "\${"`;

/** Fills in `${VAR}` and `${VAR:-default}`. The value is never looked at again, so it can bring nothing in. */
export function expandVariables(text: string, surroundings: VariableSurroundings): Expansion {
  if (surroundings.asWritten === true) return { parts: [text], isFilled: false, mistakes: [] };
  const pieces = splitReferences(text);
  if (pieces === undefined) {
    return { parts: [], isFilled: false, mistakes: [`has a "\${" that is never closed: ${HOW}.`] };
  }
  const found = pieces.map((piece): Found => {
    return typeof piece === 'string' ? { value: piece } : lookUp(piece.reference, surroundings);
  });
  return {
    parts: found.flatMap((one) => ('value' in one ? [one.value] : [])),
    isFilled: pieces.some((piece) => typeof piece !== 'string'),
    mistakes: found.flatMap((one) => ('mistake' in one ? [one.mistake] : [])),
  };
}

function lookUp(reference: string, surroundings: VariableSurroundings): Found {
  const secret = secretNameOf(reference);
  if (secret !== undefined) return lookUpSecret(secret, surroundings.secretNames);
  const pasted = surroundings.workspaceFolder;
  if (pasted !== undefined) {
    const word = lookUpEditorWord(reference, pasted, surroundings.env);
    if (word !== undefined) return word;
  }
  const [, name, fallback] = VARIABLE.exec(reference) ?? [];
  if (name === undefined) return { mistake: `has "\${${reference}}", which is not a variable: ${HOW}.` };
  if (fallback?.includes('${')) {
    return { mistake: `has a variable inside the default of \${${name}}; that is not possible.` };
  }
  return lookUpVariable(name, fallback, surroundings.env);
}

function lookUpVariable(name: string, fallback: string | undefined, env: VariableSurroundings['env']): Found {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined) return { value: value || fallback }; // like the shell's, `:-` stands in for empty, too
  if (value !== undefined) return { value };
  return {
    mistake: `needs the environment variable ${name}, which is not set: set it, or write \${${name}:-default}.`,
  };
}

/** The name, if it is declared. */
export function lookUpSecret(name: string, known: ReadonlySet<string>): Found {
  if (known.has(name)) return { value: { secret: name } };
  const guess = didYouMean(name, known);
  return { mistake: `names the secret "${name}", which is not declared under secrets.${guess}` };
}

/** What Claude, Cursor and VS Code understand besides plain variables. */
function lookUpEditorWord(reference: string, folder: string, env: VariableSurroundings['env']): Found | undefined {
  if (reference.startsWith('env:')) {
    const [, name, fallback] = VARIABLE.exec(reference.slice(4)) ?? [];
    return name === undefined ? undefined : lookUpVariable(name, fallback, env);
  }
  if (/^(input|command):/.test(reference)) {
    return {
      mistake: `has "\${${reference}}", which asks the person at an editor, and here is none: write \${NAME} or \${secret:NAME} instead.`,
    };
  }
  switch (reference) {
    case 'workspaceFolder':
      return { value: folder };
    case 'workspaceFolderBasename':
      return { value: basename(folder) };
    case 'userHome':
      return lookUpVariable('HOME', env.USERPROFILE, env);
    case 'pathSeparator':
    case '/':
      return { value: sep };
    default:
      return undefined;
  }
}
