import { win32 } from 'node:path';
import { hasCredentialParameter } from '../../core/visible-text.ts';
import { childEnvironment } from '../../system/processes/child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a server that runs as a child process. */
export interface ServerEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Passed values that must be masked in output, each with a name to show instead. */
  readonly credentials: readonly { readonly name: string; readonly value: string }[];
  /** A clause naming network variables that were not passed on; names only, no values. */
  readonly notGiven: string;
}

/** Inputs for the environment of a server. */
export interface ServerVariables {
  readonly command: string;
  /** Variables that the operator passes on by name. */
  readonly passEnv?: readonly string[];
  /** Variables from the configuration; they override all others. */
  readonly configured: Environment;
}

/** Variables for package runners and their network access; only configured servers get them. */
const FOR_SERVERS = /^(https?_proxy|(npm_config|uv|pip)_.+)$/i;
/** Set by npx for this process; a nested npx would run the same command. */
const OF_OUR_START = /^npm_config_(call|package)$/i;
const CREDENTIAL_NAME = /auth|token|passw|key|secret|credential/i;
/** Programs that fetch packages. Only they get an address that contains a credential. */
const RUNNERS = ['npx', 'npm', 'uvx', 'uv', 'pipx'];
/** Further variables that affect network access. */
const ABOUT_NETWORK =
  /^(all_proxy|(requests|curl|aws)_ca_bundle|node_use_env_proxy|node_use_system_ca|node_options|npm_config_.+|uv_.+|pip_.+|https?_proxy)$/i;

/** Merges the base variables of every child, those for package runners, those in passEnv and the configured ones; the last win. */
export function serverEnvironment(env: Environment, variables: ServerVariables): ServerEnvironment {
  const { command, passEnv = [], configured } = variables;
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && (passEnv.includes(name) || isForServer(name, value, command)) && !isFunction(value)
      ? [{ name, value }]
      : [],
  );
  const all = Object.fromEntries(passed.map(({ name, value }) => [name, value]));
  const given = childEnvironment(env, { ...all, ...configured });
  const isOurs = ({ name, value }: { readonly name: string; readonly value: string }) => given[name] === value;
  return {
    env: given,
    credentials: passed.filter(isOurs).flatMap(({ name, value }) => credentialsIn(name, value)),
    notGiven: describeMissing(env, given),
  };
}

/** True if a variable of this name holds a credential. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name);
}

function isForServer(name: string, value: string, command: string): boolean {
  if (!FOR_SERVERS.test(name) || OF_OUR_START.test(name) || isCredentialName(name)) return false;
  return !holdsCredential(name, value) || isRunner(command);
}

/** True for an exported shell function, which is code. */
function isFunction(value: string): boolean {
  return value.startsWith('()');
}

export function isRunner(command: string): boolean {
  const program = win32.basename(command).toLowerCase(); // handles both kinds of slashes
  return RUNNERS.includes(program.replace(/\.(cmd|exe|ps1)$/, ''));
}

/** True for an address that contains, or may contain, a user or a token. */
function holdsCredential(name: string, value: string): boolean {
  const isProxy = /_proxy$/i.test(name); // proxies may be written without "//"
  const begin = isProxy ? 0 : value.indexOf('//');
  return (begin >= 0 && value.lastIndexOf('@') >= begin) || hasCredentialParameter(value);
}

/** The value, and the parts of it that could appear alone: user and password, raw and decoded. */
function credentialsIn(name: string, value: string): ServerEnvironment['credentials'] {
  if (!holdsCredential(name, value) && !isCredentialName(name)) return [];
  const addresses = [...value.split(/\s+/), ...value.split(/[\s,]+/)].map((one) => one.replace(/^.*?\/\//s, ''));
  // A password may contain "@": both readings are masked.
  const logins = addresses.flatMap((one) =>
    [one.lastIndexOf('@'), one.indexOf('@')].map((end) => one.slice(0, Math.max(0, end))),
  );
  const parts = logins.flatMap((login) => [login, login.slice(login.indexOf(':') + 1)]);
  const written = [value, ...parts];
  return [...new Set([...written, ...written.map(decoded)])].filter(Boolean).map((one, index) => ({
    name: index === 0 ? name : `${name}, part ${index}`,
    value: one,
  }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it was not encoded
  }
}

function describeMissing(env: Environment, given: Environment): string {
  const missing = Object.keys(env).filter(
    (name) => ABOUT_NETWORK.test(name) && env[name] !== undefined && given[name] === undefined,
  );
  if (missing.length > 0)
    return `these variables were not passed to it: ${missing.sort().slice(0, 20).join(', ')}; add the ones that it needs to passEnv`;
  const isSet = Object.keys(given).some((name) =>
    /^(https?_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i.test(name),
  );
  return isSet ? '' : 'the environment of toolcrib sets no proxy and no certificates';
}
