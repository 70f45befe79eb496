import { basename } from 'node:path';
import { isRecord } from '../../core/json.ts';
import type { LoadedConfig } from './loaded-config.ts';

/** A value of the configuration, as written, without secrets. */
export interface ConfiguredValue {
  /** A JSON pointer into the configuration. */
  readonly path: string;
  readonly value: unknown;
  /** File and line, or `code`. */
  readonly from: string;
}

/** The configuration in force, without secrets. */
export interface ConfigurationView {
  /** Absent if code passes the configuration. */
  readonly file?: string;
  /** Every file that was read. */
  readonly files: readonly string[];
  readonly values: readonly ConfiguredValue[];
}

const MAX_VALUES = 10_000;
const MAX_LENGTH = 2000;
const HIDDEN = '[hidden]';
/** Groups whose members may be credentials, whatever their names. */
const CREDENTIALS = ['env', 'headers', 'query', 'cookies'];
/** Names of values that may be credentials. */
const TELLING =
  /pass(word|phrase|wd)?|secret|token|api.?key|^key$|auth(orization)?$|credential|bearer|cookie|signature/i;
/** A reference to a variable or a secret without a default; it contains no secret itself. */
const REFERENCE = /^(Bearer |Basic )?\$\{\w+(:[^-}][^}]*)?\}$/;
const TELLING_FLAG = /^--?[\w-]*(pass|secret|token|key|auth|credential)[\w-]*(=|$)/i;
/** Flags of curl and others whose value is a user and a password. */
const USER_FLAG = /^(-u|-U|--user|--proxy-user)$/;
/** Addresses of webhooks are credentials as a whole. */
const WEBHOOK = /^webhooks?$/i;

/** Lists the values of a configuration as written, each with its place. Values that may be secrets are hidden, references to them are not. */
export function describeConfiguration(loaded: LoadedConfig, redact: (text: string) => string): ConfigurationView {
  const { file, files, written, locate } = loaded;
  const values: ConfiguredValue[] = [];
  const visit = (path: readonly (string | number)[], value: unknown): void => {
    if (values.length >= MAX_VALUES) return;
    if (isRecord(value) && Object.keys(value).length > 0) {
      for (const [key, member] of Object.entries(value)) visit([...path, key], member);
      return;
    }
    const line = locate(path)?.line;
    const from = file === undefined ? 'code' : line === undefined ? basename(file) : `${basename(file)}:${line}`;
    values.push({ path: toPointer(path), value: shown(path, value, redact), from });
  };
  if (isRecord(written)) visit([], written);
  return { ...(file !== undefined && { file }), files, values };
}

function toPointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function shown(path: readonly (string | number)[], value: unknown, redact: (text: string) => string): unknown {
  if (Array.isArray(value))
    return withoutFlagValues(value).map((item, index) => shownItem([...path, index], item, redact));
  return shownItem(path, value, redact);
}

function shownItem(path: readonly (string | number)[], value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string')
    return mayBeSecret(path, value) ? HIDDEN : redact(withoutCredentials(path, value)).slice(0, MAX_LENGTH);
  if (isRecord(value)) {
    const members = Object.entries(value).map(([key, member]) => [key, shown([...path, key], member, redact)]);
    return Object.fromEntries(members);
  }
  return Array.isArray(value) ? shown(path, value, redact) : value;
}

function mayBeSecret(path: readonly (string | number)[], text: string): boolean {
  if (REFERENCE.test(text.trim())) return false;
  const names = path.filter((part) => typeof part === 'string');
  const last = names.at(-1) ?? '';
  // The section "secrets" and keys such as "secret" of a webhook hold names, but a value pasted there must not show.
  if (names[0] === 'secrets') return !['env', 'file', 'hosts'].includes(last);
  const groups = typeof path.at(-1) === 'number' ? names : names.slice(0, -1);
  return groups.some((name) => CREDENTIALS.includes(name)) || TELLING.test(last);
}

/** Parts of a text that may be credentials, with what stays of each: in addresses, assignments, headers, and by their form. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/)[^/?#@\s"']{1,1000}@/g, `$1${HIDDEN}@`],
  [/\b(Bearer|Basic) +(?!\$\{(?:secret:)?\w+\}|\[hidden\])[^\s"']+/gi, `$1 ${HIDDEN}`],
  [
    /((?:pass|passwd|password|passphrase|pwd|secret|token|key|auth|credential|signature|sig)[\w-]{0,40}["']?=["']?)(?!\$\{(?:secret:)?\w+\}|\[hidden\])[^\s"'&;]+/gi,
    `$1${HIDDEN}`,
  ],
  [
    /(?<!\$\{)((?:pass|passwd|password|secret|token|key|authorization|auth|credential|cookie|signature)["']?: *)(?! |(?:Bearer |Basic )?(?:\$\{(?:secret:)?\w+\}|\[hidden\]))[^\n"']+/gi,
    `$1${HIDDEN}`,
  ],
  [/\b(gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|sk-|[rs]k_|npm_|pypi-|hf_|AIza|AKIA|ASIA|eyJ)[\w.-]{12,}/g, HIDDEN],
];

function withoutCredentials(path: readonly (string | number)[], text: string): string {
  const isWebhook = path.some((part) => typeof part === 'string' && WEBHOOK.test(part));
  if (isWebhook && /^https?:/i.test(text) && URL.canParse(text)) return `${new URL(text).origin}/${HIDDEN}`;
  return PARTS.reduce((shorter, [part, stays]) => shorter.replace(part, stays), text);
}

/** Hides what follows a flag such as --token in a list of arguments. */
function withoutFlagValues(items: readonly unknown[]): readonly unknown[] {
  return items.map((item, index) => {
    const before = items[index - 1];
    if (typeof item !== 'string' || REFERENCE.test(item)) return item;
    if (typeof before === 'string' && TELLING_FLAG.test(before) && !before.includes('=')) return HIDDEN;
    if (typeof before === 'string' && USER_FLAG.test(before) && item.includes(':')) return HIDDEN;
    const [flag = '', value = ''] = split(item);
    return TELLING_FLAG.test(item) && value !== '' && !REFERENCE.test(value) ? `${flag}=${HIDDEN}` : item;
  });
}

function split(item: string): readonly string[] {
  const at = item.indexOf('=');
  return at < 0 ? [item] : [item.slice(0, at), item.slice(at + 1)];
}
