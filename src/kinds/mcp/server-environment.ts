import { win32 } from 'node:path';
import { childEnvironment } from '../../system/processes/child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a server that runs as a child. */
export interface ServerEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Values that were passed on and must not be seen, each with a name to show instead. */
  readonly credentials: readonly { readonly name: string; readonly value: string }[];
  /** What a server that cannot reach the network was not given, as a clause; names only. */
  readonly notGiven: string;
}

/** What decides the environment of a server. */
export interface ServerVariables {
  readonly command: string;
  /** Variables that the owner passes on by name. */
  readonly passEnv?: readonly string[];
  /** What the configuration says; it comes before all that is passed on. */
  readonly configured: Environment;
}

/** What package runners and their network need; only servers of the configuration get it. */
const FOR_SERVERS = /^(https?_proxy|(npm_config|uv|pip)_.+)$/i;
/** What npx was told to run when it started this process: a second npx would run the same. */
const OF_OUR_START = /^npm_config_(call|package)$/i;
const CREDENTIAL_NAME = /auth|token|passw|key|secret|credential/i;
/** Programs that fetch packages: they alone get an address that holds a credential. */
const RUNNERS = ['npx', 'npm', 'uvx', 'uv', 'pipx'];
/** Other variables that decide how a program reaches the network. */
const ABOUT_NETWORK =
  /^(all_proxy|(requests|curl|aws)_ca_bundle|node_use_env_proxy|node_use_system_ca|node_options|npm_config_.+|uv_.+|pip_.+|https?_proxy)$/i;

/** The few variables of every child, those of package runners, those that the owner names, and over them what is configured. */
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

/** True if a variable that is passed on by its name makes its server act for its owner. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name);
}

function isForServer(name: string, value: string, command: string): boolean {
  if (!FOR_SERVERS.test(name) || OF_OUR_START.test(name) || isCredentialName(name)) return false;
  return !holdsCredential(name, value) || isRunner(command);
}

/** An exported function of a shell is code. */
function isFunction(value: string): boolean {
  return value.startsWith('()');
}

/** True for a program that fetches packages. */
export function isRunner(command: string): boolean {
  const program = win32.basename(command).toLowerCase(); // it knows both kinds of slashes
  return RUNNERS.includes(program.replace(/\.(cmd|exe|ps1)$/, ''));
}

/** True for an address with a user or a token in it; where that is unclear, too. */
function holdsCredential(name: string, value: string): boolean {
  const isProxy = /_proxy$/i.test(name); // those are also written without "//"
  return (
    /\/\/.*@/s.test(value) ||
    (isProxy && value.includes('@')) ||
    /[?&;][^=&]*(auth|token|passw|key|secret|sig)[^=&]*=/i.test(value)
  );
}

/** The value, and what of it may be seen by itself: user and password, as they are written and as they are sent. */
function credentialsIn(name: string, value: string): ServerEnvironment['credentials'] {
  if (!holdsCredential(name, value) && !isCredentialName(name)) return [];
  const addresses = [...value.split(/\s+/), ...value.split(/[\s,]+/)].map((one) => one.replace(/^.*?\/\//s, ''));
  // A password may hold "@" itself: both readings are hidden.
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
    return `it was not given ${missing.sort().slice(0, 20).join(', ')}: name in passEnv what it needs`;
  const isSet = Object.keys(given).some((name) =>
    /^(https?_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i.test(name),
  );
  return isSet ? '' : 'no proxy and no certificates are set in the environment of toolcrib';
}
