import { join, resolve } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { createPrivateFile, FORBIDDEN, readPrivateFile } from '../system/private-file.ts';
import {
  checksumOf,
  hashOf,
  hasItsChecksum,
  isSameHash,
  OPERATOR_FORM,
  OPERATOR_PREFIX,
  randomText,
  SECRET_LENGTH,
} from '../system/secrets/redact.ts';

/** The environment variable that holds the token. */
const OPERATOR_VARIABLE = 'TOOLCRIB_OPERATOR_TOKEN';
/** The environment variable that names the file of the token. */
const OPERATOR_FILE_VARIABLE = 'TOOLCRIB_OPERATOR_TOKEN_FILE';

const FORM = new RegExp(`^${OPERATOR_FORM}$`);
/** Too long to guess, and valid in a header. */
const SENDABLE = /^[\x21-\x7e]{16,512}$/;
const FILE_NAME = 'operator-token';
/** More than the longest token. */
const MAX_BYTES = 600;

/** The credential of the operator. */
export interface OperatorToken {
  /** The token; created if it does not exist yet. */
  get(): Promise<string>;
  /** True if the credential is the token. Does not create one. */
  matches(credential: string): Promise<boolean>;
  /** The file of the token; undefined if a variable holds it, or no folder is writable. */
  file(): string | undefined;
}

/** Settings of the environment for the token. */
export type OperatorSetting = { readonly token: string } | { readonly file: string };

/** Dependencies of the token. */
export interface OperatorTokenPorts {
  /** The folder of the token; undefined if no folder is writable. */
  folder(): string | undefined;
  /** Hides the token in all output. */
  hide(token: string): void;
}

/** A file with the token, and its rules. */
interface TokenFile {
  readonly path: string;
  /** Mode bits that the file must not have. */
  readonly forbidden: number;
  isToken(text: string): boolean;
}

/** Creates the operator token: from the environment or the folder, else one that lives as long as the process. */
export function createOperatorToken(
  given: OperatorSetting | undefined,
  { folder, hide }: OperatorTokenPorts,
): OperatorToken {
  if (given !== undefined && 'token' in given) {
    const { token } = given;
    hide(token);
    const hash = hashOf(token);
    const matches = async (credential: string) => isSameHash(hashOf(credential), hash);
    return { get: async () => token, matches, file: () => undefined };
  }
  const named = given === undefined ? undefined : namedFile(given.file);
  const fileOf = (): TokenFile | undefined => named ?? ownFile(folder());
  let ownToken: string | undefined;
  const getOwn = (): string => {
    ownToken ??= mintToken();
    return ownToken;
  };
  return {
    async get() {
      const file = fileOf();
      const token = file === undefined ? getOwn() : ((await readToken(file)) ?? (await createToken(file)));
      hide(token);
      return token;
    },
    async matches(credential) {
      if (named === undefined ? !isOwnToken(credential) : !SENDABLE.test(credential)) return false;
      const file = fileOf();
      const token = file === undefined ? ownToken : await readToken(file); // at each request, so that removing the token takes effect at once
      if (token === undefined) return false;
      hide(token);
      return isSameHash(hashOf(credential), hashOf(token));
    },
    file: () => fileOf()?.path,
  };
}

/** Reads the settings of the environment. Throws if the token is too short, cannot be sent in a header, or is set twice. */
export function readOperatorSetting(env: Readonly<Record<string, string | undefined>>): OperatorSetting | undefined {
  const token = env[OPERATOR_VARIABLE]?.trim() ?? '';
  const file = env[OPERATOR_FILE_VARIABLE]?.trim() ?? '';
  if (token !== '' && file !== '') {
    const message = `${OPERATOR_VARIABLE} and ${OPERATOR_FILE_VARIABLE} are both set; unset one of them.`;
    throw new ToolcribError('invalid_operator_token', message);
  }
  if (file !== '') return { file: resolve(file) };
  if (token === '') return undefined;
  if (SENDABLE.test(token)) return { token };
  throw new ToolcribError(
    'invalid_operator_token',
    `${OPERATOR_VARIABLE} must be 16 to 512 printable characters without spaces; create one with "openssl rand -hex 32", or unset it.`,
  );
}

function mintToken(): string {
  const body = `${OPERATOR_PREFIX}${randomText(SECRET_LENGTH)}`;
  return `${body}${checksumOf(body)}`;
}

function isOwnToken(text: string): boolean {
  return FORM.test(text) && hasItsChecksum(text);
}

function ownFile(folder: string | undefined): TokenFile | undefined {
  if (folder === undefined) return undefined;
  return { path: join(folder, FILE_NAME), forbidden: FORBIDDEN.own, isToken: isOwnToken };
}

function namedFile(path: string): TokenFile {
  return { path, forbidden: FORBIDDEN.named, isToken: (text) => SENDABLE.test(text) };
}

/** The token in a private file; undefined if the file does not exist. */
async function readToken({ path, forbidden, isToken }: TokenFile): Promise<string | undefined> {
  const read = await readPrivateFile(path, { forbidden, maxBytes: MAX_BYTES }).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read: ${messageOf(cause)}`, cause);
  });
  if (read === undefined) return undefined;
  if ('problem' in read) throw unusable(path, PROBLEMS[read.problem]);
  const token = read.text.trim();
  if (isToken(token)) return token;
  throw unusable(path, 'does not contain an operator token. Remove it to create a new one');
}

const PROBLEMS = {
  'not a file': 'is not a file. Remove it to create a new one',
  'open to others': 'is readable for other users. Run "chmod 600" on it, or remove it to create a new one',
  'too large': 'is too large to be an operator token. Remove it to create a new one',
} as const;

/** Creates the token. If several processes start at once, the first creates it and the others read it. */
async function createToken(file: TokenFile): Promise<string> {
  const token = mintToken();
  const isOurs = await createPrivateFile(file.path, `${token}\n`).catch((cause: unknown) => {
    throw unusable(file.path, `cannot be written: ${messageOf(cause)}`, cause);
  });
  const other = isOurs ? token : await readToken(file);
  if (other !== undefined) return other;
  throw unusable(file.path, 'cannot be written: another process created and removed it');
}

function unusable(path: string, why: string, cause?: unknown): ToolcribError {
  const message = `The operator token file ${path} ${why}. You can set ${OPERATOR_VARIABLE} or ${OPERATOR_FILE_VARIABLE} instead.`;
  return new ToolcribError('operator_token_unusable', message, { cause });
}
