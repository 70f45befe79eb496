import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { codeOf, messageOf, ToolcribError } from '../../core/tool-error.ts';
import {
  type ExampleLines,
  type ExampleRequests,
  readExampleLines,
  type WrittenExamples,
} from '../../search/examples/read-examples.ts';

/** The file of `retrieval.examples` as it was read. */
export interface LoadedExamples {
  readonly file: string;
  /** Changes with the content of the file. */
  readonly stamp: string;
  readonly requests: ExampleRequests;
  readonly notes: readonly string[];
}

const MAX_BYTES = 64_000_000;

/** Reads the file of examples; without one there are none. A file that cannot be read is a note: search works without it. */
export async function loadExamples(file: string | undefined): Promise<LoadedExamples | undefined> {
  if (file === undefined) return undefined;
  try {
    const text = await readText(file);
    if (text === undefined)
      return nothing(file, `retrieval.examples: ${file} does not exist. "toolcrib enrich" writes it.`);
    const { entries, mistakes } = readExampleLines(text);
    const requests = new Map(Array.from(entries.values(), ({ tool, requests: own }) => [tool, own]));
    const stamp = createHash('sha256').update(text).digest('hex');
    return { file, stamp, requests, notes: mistakes.map((mistake) => `${file}: ${mistake}, and is left out.`) };
  } catch (cause) {
    return nothing(file, `retrieval.examples: ${file} cannot be read: ${messageOf(cause)}`);
  }
}

function nothing(file: string, note: string): LoadedExamples {
  return { file, stamp: note, requests: new Map(), notes: [note] };
}

/** The text of a file; undefined if it does not exist. */
async function readText(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new ToolcribError('invalid_rows', 'it is not a file.');
    if (found.size > MAX_BYTES) throw new ToolcribError('invalid_rows', `it has more than ${MAX_BYTES} bytes.`);
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}

/** Reads the lines of a file that is going to be changed. Throws for a mistake: rewriting the file would lose the line. */
export async function readForWriting(file: string): Promise<ExampleLines> {
  const found = await lstat(file).catch(() => undefined); // one that cannot be accessed is reported below
  if (found !== undefined) requireNoLink(file, found);
  const lines = readExampleLines((await readText(file)) ?? '');
  const [mistake] = lines.mistakes;
  if (mistake === undefined) return lines;
  throw new ToolcribError('invalid_rows', `${file}: ${mistake}. Correct or remove the line, then try again.`);
}

/** Adds a line. A crash leaves all lines before it. A command that may write the folder could put a link there at any time, so none is followed. */
export async function appendEntry(file: string, entry: WrittenExamples): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants; // a named pipe would block
  try {
    const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
    try {
      requireNoLink(file, await handle.stat());
      await handle.writeFile(toLine(entry));
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw codeOf(cause) === 'ELOOP' ? isLink(file) : cause;
  }
}

/** Throws for a link, also a hard one. */
function requireNoLink(file: string, found: Stats): void {
  if (found.isSymbolicLink() || (found.isFile() && found.nlink > 1)) throw isLink(file);
  if (!found.isFile()) throw new ToolcribError('invalid_rows', `${file} is not a file; name another one.`);
}

function isLink(file: string): ToolcribError {
  return new ToolcribError('invalid_rows', `${file} is a link, which is not followed; name the file itself.`);
}

/** Replaces the file at once, with one line for each tool, by name. */
export async function rewriteFile(file: string, entries: Iterable<WrittenExamples>): Promise<void> {
  const sorted = [...entries].sort((a, b) => (a.tool < b.tool ? -1 : 1));
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, 'wx'); // a command that may write the folder could have put a link there
    try {
      await handle.writeFile(sorted.map(toLine).join(''));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

function toLine({ tool, of, requests }: WrittenExamples): string {
  return `${JSON.stringify({ tool, ...(of !== undefined && { of }), requests })}\n`;
}
