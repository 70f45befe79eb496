import { isAbsolute, resolve } from 'node:path';
import { isHostBinding } from '../system/secrets/secret-hosts.ts';
import {
  joinSecretText,
  type SecretTemplatePart,
  type SecretText,
  secretNameOf,
} from '../system/secrets/secret-template.ts';
import type { SchemaNode } from './schema-node.ts';
import { expandVariables, lookUpSecret, type VariableSurroundings } from './variables.ts';

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
