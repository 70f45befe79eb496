import { constants } from 'node:fs';
import { link, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import {
  checksumOf,
  hashOf,
  hasItsChecksum,
  isSameHash,
  OPERATOR_FORM,
  OPERATOR_PREFIX,
  randomText,
  SECRET_LENGTH,
} from './token-text.ts';

/** The variable that names the token instead. */
export const OPERATOR_VARIABLE = 'TOOLCRIB_OPERATOR_TOKEN';

const FORM = new RegExp(`^${OPERATOR_FORM}$`);
const FILE_NAME = 'operator-token';

/** Whoever has it is the operator. */
export interface OperatorToken {
  /** The token, made if there is none yet. */
  get(): Promise<string>;
  /** True if the credential is the token. Makes none. */
  matches(credential: string): Promise<boolean>;
}

/** What the token is kept with. */
export interface OperatorTokenPorts {
  /** Where it is kept; nowhere if absent. */
  folder(): string | undefined;
  /** Sees to it that the token is shown in no text. */
  hide(token: string): void;
}

/** The token of the environment, or the one in the folder; without either one that lives as long as the process. */
export function createOperatorToken(given: string | undefined, { folder, hide }: OperatorTokenPorts): OperatorToken {
  if (given !== undefined) {
    hide(given);
    const hash = hashOf(given);
    return { get: async () => given, matches: async (credential) => isSameHash(hashOf(credential), hash) };
  }
  let ownToken: string | undefined;
  const getOwn = (): string => {
    ownToken ??= mintToken();
    return ownToken;
  };
  return {
    async get() {
      const path = fileIn(folder());
      const token = path === undefined ? getOwn() : ((await readToken(path)) ?? (await createToken(path)));
      hide(token);
      return token;
    },
    async matches(credential) {
      if (!isToken(credential)) return false;
      const path = fileIn(folder());
      const token = path === undefined ? ownToken : await readToken(path); // each time, so that a token that was removed is worth nothing at once
      return token !== undefined && isSameHash(hashOf(credential), hashOf(token));
    },
  };
}

/** The token that the environment names; throws if it could be guessed or cannot be sent. */
export function readOperatorVariable(value: string | undefined): string | undefined {
  const token = value?.trim();
  if (token === undefined || token === '') return undefined;
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
  throw new ToolcribError(
    'invalid_operator_token',
    `${OPERATOR_VARIABLE} must be 16 to 512 printable characters without spaces; make one by "openssl rand -hex 32", or unset it.`,
  );
}

function mintToken(): string {
  const body = `${OPERATOR_PREFIX}${randomText(SECRET_LENGTH)}`;
  return `${body}${checksumOf(body)}`;
}

function isToken(text: string): boolean {
  return FORM.test(text) && hasItsChecksum(text);
}

function fileIn(folder: string | undefined): string | undefined {
  return folder === undefined ? undefined : join(folder, FILE_NAME);
}

/** The token in a file that only its owner may read; undefined if there is none. */
async function readToken(path: string): Promise<string | undefined> {
  const text = await readPrivately(path).catch((cause: unknown) => {
    if (cause instanceof ToolcribError) throw cause;
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read: ${messageOf(cause)}`, cause);
  });
  if (text === undefined) return undefined;
  const token = text.trim();
  if (isToken(token)) return token;
  throw unusable(path, 'holds no operator token; remove it, and a new one is made');
}

async function readPrivately(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would wait for ever
  try {
    const { mode } = await requireFile(file, path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw unusable(path, 'can be read by others; remove it, and a new one is made, or run "chmod 600" on it');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0); // more than any token has
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function requireFile(file: Awaited<ReturnType<typeof open>>, path: string) {
  const found = await file.stat();
  if (!found.isFile()) throw unusable(path, 'is not a file; remove it, and a new one is made');
  return found;
}

/** The name is given to a file that is whole; of processes that come at once the first wins, and the others take its token. */
async function createToken(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomText(8)}.tmp`;
  try {
    const token = mintToken();
    await writeFile(draft, `${token}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path);
    return token;
  } catch (cause) {
    const other = codeOf(cause) === 'EEXIST' ? await readToken(path) : undefined;
    if (other !== undefined) return other;
    throw unusable(path, `cannot be written: ${messageOf(cause)}`, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

function unusable(path: string, why: string, cause?: unknown): ToolcribError {
  const message = `The operator token ${path} ${why}. ${OPERATOR_VARIABLE} takes its place.`;
  return new ToolcribError('operator_token_unusable', message, { cause });
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
