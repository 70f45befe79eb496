import { basename, isAbsolute, resolve, sep } from 'node:path';
import { didYouMean } from '../core/read-options.ts';
import {
  isHostBinding,
  joinSecretText,
  type SecretTemplatePart,
  type SecretText,
  secretNameOf,
  splitReferences,
} from '../system/secrets/secret-template.ts';
import type { SchemaNode } from './schema-node.ts';

/** What texts are read against. */
export interface TextSurroundings extends VariableSurroundings {
  /** Relative paths start here. */
  readonly folder: string;
  /** Told what is allowed but hardly meant. */
  note(message: string): void;
}

/** What a text means, or what is wrong with it. */
export type TextReading =
  | { readonly ok: true; readonly value: SecretText }
  | { readonly ok: false; readonly mistakes: readonly string[] };

const SECRETS_GO =
  'may not hold a secret: secrets go into env, headers, keys and addresses, so that none reaches a process argument, a listing or a file.';

/** Fills in the variables of a text, checks it, and brings it into its one form. */
export function readText(node: SchemaNode, raw: string, surroundings: TextSurroundings): TextReading {
  if (node.use === 'secretName') return readSecretName(raw, surroundings);
  const { parts, isFilled, mistakes } = expandVariables(raw, surroundings);
  if (mistakes.length > 0) return { ok: false, mistakes };
  const text = joinSecretText(parts);
  if (typeof text !== 'string') return readTemplate(node, text, parts);
  const mistake = whyNotText(node, text);
  // The words are about what was written: what a variable holds may be nobody's business.
  if (mistake !== undefined) {
    return { ok: false, mistakes: [isFilled ? `${mistake}, once its variables are filled in` : mistake] };
  }
  return { ok: true, value: toUse(node, text, surroundings) };
}

function whyNotText(node: SchemaNode, text: string): string | undefined {
  if (text.length < (node.minLength ?? 0)) return 'must not be empty';
  if (text.includes('\0')) return 'must not hold a NUL character';
  if (node.enum !== undefined && !node.enum.includes(text)) return `must be one of ${node.enum.join(', ')}`;
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(text)) return `must be ${node.says ?? node.pattern}`;
  const isUrl = node.format === 'uri' || (node.use === 'pathOrUrl' && /^https?:/i.test(text));
  if (isUrl && !isWebAddress(text)) return 'must be an address that starts with https:// or http://';
  if (node.use === 'hostBinding' && !isHostBinding(text)) {
    return 'must be a host: example.com, example.com:8443 or *.example.com, without a scheme or a path';
  }
  return undefined;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text);
}

function readTemplate(node: SchemaNode, text: SecretText, parts: readonly SecretTemplatePart[]): TextReading {
  const [first] = parts;
  const opening = typeof first === 'string' ? first : '';
  switch (node.use) {
    case 'secretText':
      return { ok: true, value: text };
    case 'secretUrl':
      // The host decides whether the secret may be sent, so it has to be known without it.
      if (/^https?:\/\/[^/?#@]+[/?#]/i.test(opening)) return { ok: true, value: text };
      return { ok: false, mistakes: ['may hold a secret only after its host'] };
    case 'storeUrl':
      if (/^postgres(ql)?:\/\//.test(opening)) return { ok: true, value: text };
      return { ok: false, mistakes: ['may hold a secret only in the address of a PostgreSQL'] };
    default:
      return { ok: false, mistakes: [SECRETS_GO] };
  }
}

function toUse(node: SchemaNode, text: string, { folder, env }: TextSurroundings): string {
  const home = env.HOME ?? env.USERPROFILE;
  const toPath = (path: string) => resolve(folder, home === undefined ? path : path.replace(/^~(?=\/|$)/, () => home));
  switch (node.use) {
    case 'path':
      return toPath(text);
    case 'pathOrUrl':
      return /^https?:/i.test(text) ? text : toPath(text);
    case 'command':
      return /[/\\]/.test(text) ? toPath(text) : text; // a bare name is looked for on the PATH
    case 'module':
      return /^[.~]?[/\\]|^\.\.?[/\\]/.test(text) || isAbsolute(text) ? toPath(text) : text; // else a package
    case 'storeUrl': {
      const file = /^sqlite:(?:\/\/)?(?!:memory:)(.+)$/.exec(text)?.[1];
      return file === undefined ? text : `sqlite:${toPath(file)}`;
    }
    default:
      return text;
  }
}

// A variable has no place here: its value would be taken for a name, and names are shown.
function readSecretName(raw: string, { secretNames, note }: TextSurroundings): TextReading {
  const name = secretNameOf(/^\$\{(.*)\}$/s.exec(raw)?.[1] ?? `secret:${raw}`);
  if (name === undefined || !/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(name)) {
    return { ok: false, mistakes: ['must be the name of a secret that is declared under secrets'] };
  }
  const found = lookUpSecret(name, secretNames);
  if ('mistake' in found && raw.startsWith('$')) return { ok: false, mistakes: [found.mistake] };
  if ('mistake' in found) note(found.mistake);
  return { ok: true, value: joinSecretText([{ secret: name }]) };
}

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
