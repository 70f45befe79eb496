import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { reasonOf, signalGroup } from '../processes/guarded-spawn.ts';

/** The context for looking up secrets. */
export interface SecretSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The base folder for relative files and commands. */
  readonly folder: string;
  /** Timeout of a command; default 30 s. */
  readonly commandMs?: number;
}

/** The value, or the reason why it could not be read; the reason never contains what was read. */
export type SecretReading =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

const MAX_BYTES = 65_536;
const COMMAND_MS = 30_000;

/** Reads a secret from an environment variable. */
export function readSecretVariable(name: string, { env }: SecretSurroundings): SecretReading {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === undefined || value === '' ? failed('it is not set') : found(value);
}

/** Reads a secret from its own file, without one trailing newline. */
export async function readSecretFile(file: string, { folder }: SecretSurroundings): Promise<SecretReading> {
  let handle: FileHandle | undefined;
  try {
    // O_NONBLOCK: a named pipe would otherwise block the caller.
    handle = await open(resolve(folder, file), constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) return failed('it is not a regular file');
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = (await handle.read(buffer, length, buffer.length - length, null)).bytesRead;
    }
    return length > MAX_BYTES ? failed(TOO_LONG) : found(buffer.toString('utf8', 0, length));
  } catch (error) {
    return failed(`it cannot be read (${reasonOf(error)})`);
  } finally {
    await handle?.close();
  }
}

/** Runs a command without a shell. It gets the whole environment, because secret managers need their own settings. */
export async function readSecretCommand(
  command: readonly string[],
  { env, folder, commandMs = COMMAND_MS }: SecretSurroundings,
): Promise<SecretReading> {
  const [program = '', ...args] = command;
  if (program === '' || command.some((argument) => argument.includes('\0'))) return failed('it is not a valid command');
  // stderr may repeat the secret, so it is ignored. Its own process group, so that all of it can be killed.
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: process.platform !== 'win32',
  });
  let stopped: string | undefined;
  const stop = (reason: string) => {
    stopped ??= reason;
    signalGroup(child, 'SIGKILL');
    child.stdout.destroy();
  };
  const stopWithUs = () => stop('the process ended');
  const timer = setTimeout(() => stop(`it timed out after ${commandMs} ms`), commandMs);
  process.once('exit', stopWithUs);
  try {
    const output = collect(child.stdout, () => stop(TOO_LONG));
    const [code, signal] = await once(child, 'close');
    if (stopped !== undefined) return failed(stopped);
    if (code === 0) return found(output().toString('utf8'));
    return failed(`it ended with ${signal ?? `exit code ${code}`}; run it by hand to see why`);
  } catch (error) {
    return failed(`it cannot be started (${reasonOf(error)})`);
  } finally {
    clearTimeout(timer);
    process.off('exit', stopWithUs);
  }
}

function collect(stream: Readable, onTooLong: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_BYTES) onTooLong();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}

const TOO_LONG = `it is longer than ${MAX_BYTES} bytes`;

function found(text: string): SecretReading {
  const value = text.replace(/\r?\n$/, '');
  if (value === '') return failed('it is empty');
  return value.includes('\0') ? failed('it is not text') : { ok: true, value };
}

function failed(reason: string): SecretReading {
  return { ok: false, reason };
}
