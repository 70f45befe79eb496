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

/** The variable that holds the token instead of a file. */
const OPERATOR_VARIABLE = 'TOOLCRIB_OPERATOR_TOKEN';
/** The variable that names the file of the token. */
const OPERATOR_FILE_VARIABLE = 'TOOLCRIB_OPERATOR_TOKEN_FILE';

const FORM = new RegExp(`^${OPERATOR_FORM}$`);
/** Long enough that it cannot be guessed, and such that a header can hold it. */
const SENDABLE = /^[\x21-\x7e]{16,512}$/;
const FILE_NAME = 'operator-token';
/** More than any token has. */
const MAX_BYTES = 600;

/** The credential that makes its holder the operator. */
export interface OperatorToken {
  /** The token, made if there is none yet. */
  get(): Promise<string>;
  /** True if the credential is the token. Makes none. */
  matches(credential: string): Promise<boolean>;
  /** The file of the token; undefined where a variable holds it, or no file can be written. */
  file(): string | undefined;
}

/** What the environment says about the token. */
export type OperatorSetting = { readonly token: string } | { readonly file: string };

/** What the token is kept with. */
export interface OperatorTokenPorts {
  /** The folder it is kept in; undefined where no folder can be written. */
  folder(): string | undefined;
  /** Sees to it that the token is shown in no text. */
  hide(token: string): void;
}

/** A file that holds the token, and what is accepted in it. */
interface TokenFile {
  readonly path: string;
  /** Bits of its mode that it may not have. */
  readonly forbidden: number;
  isToken(text: string): boolean;
}

/** The token of the environment, or the one in the folder; without either one that lives as long as the process. */
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
      const token = file === undefined ? ownToken : await readToken(file); // each time, so that a token that was removed is worth nothing at once
      if (token === undefined) return false;
      hide(token);
      return isSameHash(hashOf(credential), hashOf(token));
    },
    file: () => fileOf()?.path,
  };
}

/** What the environment says about the token; throws if the token could be guessed or cannot be sent, or if it says two things. */
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
    `${OPERATOR_VARIABLE} must be 16 to 512 printable characters without spaces; make one by "openssl rand -hex 32", or unset it.`,
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

/** The token in a private file; undefined if there is no file. */
async function readToken({ path, forbidden, isToken }: TokenFile): Promise<string | undefined> {
  const read = await readPrivateFile(path, { forbidden, maxBytes: MAX_BYTES }).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read: ${messageOf(cause)}`, cause);
  });
  if (read === undefined) return undefined;
  if ('problem' in read) throw unusable(path, PROBLEMS[read.problem]);
  const token = read.text.trim();
  if (isToken(token)) return token;
  throw unusable(path, 'holds no operator token; remove it, and a new one is made');
}

const PROBLEMS = {
  'not a file': 'is not a file; remove it, and a new one is made',
  'open to others': 'can be read by others; remove it, and a new one is made, or run "chmod 600" on it',
} as const;

/** Of processes that come at once the first makes the token, and the others take it. */
async function createToken(file: TokenFile): Promise<string> {
  const token = mintToken();
  const isOurs = await createPrivateFile(file.path, `${token}\n`).catch((cause: unknown) => {
    throw unusable(file.path, `cannot be written: ${messageOf(cause)}`, cause);
  });
  const other = isOurs ? token : await readToken(file);
  if (other !== undefined) return other;
  throw unusable(file.path, 'cannot be written: another process made and removed it');
}

function unusable(path: string, why: string, cause?: unknown): ToolcribError {
  const message = `The operator token ${path} ${why}. ${OPERATOR_VARIABLE} or ${OPERATOR_FILE_VARIABLE} takes its place.`;
  return new ToolcribError('operator_token_unusable', message, { cause });
}
