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

/** The context that strings are read in. */
export interface TextSurroundings extends VariableSurroundings {
  /** Base of relative paths. */
  readonly folder: string;
  /** Receives notes about values that are valid but probably a mistake. */
  note(message: string): void;
}

/** The value of a string, or the mistakes in it. */
export type TextReading =
  | { readonly ok: true; readonly value: SecretText }
  | { readonly ok: false; readonly mistakes: readonly string[] };

const SECRETS_GO =
  'may not contain a secret: use secrets only in env, headers, keys and URLs, so that none reaches a process argument, a listing or a file.';

/** Expands the variables of a string, checks it and normalizes it. */
export function readText(node: SchemaNode, raw: string, surroundings: TextSurroundings): TextReading {
  if (node.use === 'secretName') return readSecretName(raw, surroundings);
  const { parts, isFilled, mistakes } = expandVariables(raw, surroundings);
  if (mistakes.length > 0) return { ok: false, mistakes };
  const text = joinSecretText(parts);
  if (typeof text !== 'string') return readTemplate(node, text, parts);
  const mistake = whyNotText(node, text);
  // The message quotes the configuration only: the value of a variable may be confidential.
  if (mistake !== undefined) {
    return { ok: false, mistakes: [isFilled ? `${mistake}, after its variables are expanded` : mistake] };
  }
  return { ok: true, value: toUse(node, text, surroundings) };
}

function whyNotText(node: SchemaNode, text: string): string | undefined {
  if (text.length < (node.minLength ?? 0)) return 'must not be empty';
  if (text.includes('\0')) return 'must not contain a NUL character';
  if (node.enum !== undefined && !node.enum.includes(text)) return `must be one of ${node.enum.join(', ')}`;
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(text)) return `must be ${node.says ?? node.pattern}`;
  const isUrl = node.format === 'uri' || (node.use === 'pathOrUrl' && /^https?:/i.test(text));
  if (isUrl && !isWebAddress(text)) return 'must be a URL that starts with https:// or http://';
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
      // The host decides whether the secret may be sent, so it must be known before the secret is resolved.
      if (/^https?:\/\/[^/?#@]+[/?#]/i.test(opening)) return { ok: true, value: text };
      return { ok: false, mistakes: ['may contain a secret only after the host'] };
    case 'storeUrl':
      if (/^postgres(ql)?:\/\//.test(opening)) return { ok: true, value: text };
      return { ok: false, mistakes: ['may contain a secret only in a PostgreSQL URL'] };
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
      return /[/\\]/.test(text) ? toPath(text) : text; // a bare name is looked up on the PATH
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

// Variables are not allowed here: the value would become a name, and names are shown.
function readSecretName(raw: string, { secretNames, note }: TextSurroundings): TextReading {
  const name = secretNameOf(/^\$\{(.*)\}$/s.exec(raw)?.[1] ?? `secret:${raw}`);
  if (name === undefined || !/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(name)) {
    return { ok: false, mistakes: ['must be the name of a secret declared under secrets'] };
  }
  const found = lookUpSecret(name, secretNames);
  if ('mistake' in found && raw.startsWith('$')) return { ok: false, mistakes: [found.mistake] };
  if ('mistake' in found) note(found.mistake);
  return { ok: true, value: joinSecretText([{ secret: name }]) };
}

/** The context that variables are expanded in. */
export interface VariableSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secretNames: ReadonlySet<string>;
  /** Set inside pasted blocks, where `${env:X}` and `${workspaceFolder}` are also supported. */
  readonly workspaceFolder?: string;
  /** Set inside specs: their strings stay unexpanded until the spec is read. */
  readonly asWritten?: true;
}

/** A string with its variables expanded. Secrets are resolved later, at use. */
export interface Expansion {
  readonly parts: readonly SecretTemplatePart[];
  /** True if there was a variable: then the value may be a number or a boolean. */
  readonly isFilled: boolean;
  readonly mistakes: readonly string[];
}

type Found = { readonly value: SecretTemplatePart } | { readonly mistake: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const HOW = `write \${NAME}, \${NAME:-default} or \${secret:NAME}, or $\${ for a literal "\${"`;

/** Expands `${VAR}` and `${VAR:-default}`. Values are not expanded again, so they cannot inject references. */
export function expandVariables(text: string, surroundings: VariableSurroundings): Expansion {
  if (surroundings.asWritten === true) return { parts: [text], isFilled: false, mistakes: [] };
  const pieces = splitReferences(text);
  if (pieces === undefined) {
    return { parts: [], isFilled: false, mistakes: [`has an unclosed "\${": ${HOW}.`] };
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
    return { mistake: `has a variable inside the default of \${${name}}; write a plain default.` };
  }
  return lookUpVariable(name, fallback, surroundings.env);
}

function lookUpVariable(name: string, fallback: string | undefined, env: VariableSurroundings['env']): Found {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined) return { value: value || fallback }; // as in a shell, `:-` also replaces an empty value
  if (value !== undefined) return { value };
  return {
    mistake: `needs the environment variable ${name}, which is not set: set it, or write \${${name}:-default}.`,
  };
}

/** A token that was written in the place of a name; messages do not repeat it. */
const LIKE_A_TOKEN = /^(?=.*[a-z])(?=.*\d)[\w.+/=-]{20,}$/i;

/** The secret reference, or a mistake if the secret is not declared. */
export function lookUpSecret(name: string, known: ReadonlySet<string>): Found {
  if (known.has(name)) return { value: { secret: name } };
  if (LIKE_A_TOKEN.test(name))
    return { mistake: 'names a secret that is not declared under secrets, and looks like a token: write a name.' };
  const guess = didYouMean(name, known);
  return { mistake: `names the secret "${name}", which is not declared under secrets.${guess}` };
}

/** Resolves the predefined variables of Claude, Cursor and VS Code. */
function lookUpEditorWord(reference: string, folder: string, env: VariableSurroundings['env']): Found | undefined {
  if (reference.startsWith('env:')) {
    const [, name, fallback] = VARIABLE.exec(reference.slice(4)) ?? [];
    return name === undefined ? undefined : lookUpVariable(name, fallback, env);
  }
  if (/^(input|command):/.test(reference)) {
    return {
      mistake: `has "\${${reference}}", which prompts the user in an editor; write \${NAME} or \${secret:NAME} instead.`,
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
