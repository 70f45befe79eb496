import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, ToolcribError } from '../core/tool-error.ts';

/** No configuration that a person wrote is larger. */
const MAX_CONFIG_BYTES = 5_000_000;

/** The text of a configuration file; whatever is no such file is told apart in the error. */
export async function readConfigFile(file: string, shownAs: string): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    // Not waiting: a pipe in place of the file would hold the start.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = await handle.stat();
    if (status.isDirectory()) throw unusable(`${shownAs} is a folder; name the file in it.`);
    if (!status.isFile()) throw unusable(`${shownAs} is a pipe or a device, not a file.`);
    if (status.size > MAX_CONFIG_BYTES) throw tooLarge(shownAs);
    return toText(await readAtMost(handle, MAX_CONFIG_BYTES, shownAs), shownAs);
  } catch (cause) {
    throw cause instanceof ToolcribError ? cause : unusable(`${shownAs} ${whyUnreadable(cause)}`, cause);
  } finally {
    await handle?.close();
  }
}

// A file may grow after it was measured, and some have no size at all.
async function readAtMost(handle: FileHandle, maxBytes: number, shownAs: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(shownAs);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/** Text in UTF-8, or in UTF-16 as some editors and shells on Windows write it. */
function toText(bytes: Buffer, shownAs: string): string {
  const encoding = encodingOf(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!hasControlCharacters(text)) return text;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause; // what the decoder throws for bytes that are no text
  }
  throw unusable(`${shownAs} is not a text file: save it as UTF-8.`);
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function hasControlCharacters(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text);
}

function whyUnreadable(cause: unknown): string {
  const code = codeOf(cause);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist.';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user.';
    case 'ELOOP':
      return 'is a symbolic link that leads back to itself.';
    case 'ENXIO':
      return 'is a pipe or a device, not a file.';
    default:
      return `cannot be read (${String(code ?? 'unknown reason')}).`;
  }
}

function tooLarge(shownAs: string): ToolcribError {
  return unusable(`${shownAs} is larger than ${MAX_CONFIG_BYTES / 1_000_000} MB: that is no configuration.`);
}

function unusable(message: string, cause?: unknown): ToolcribError {
  return new ToolcribError('invalid_config', message, { cause });
}
