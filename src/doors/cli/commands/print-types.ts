import { writeFile } from 'node:fs/promises';
import { META_SOURCE } from '../../../core/meta-tools.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { toTypeScript } from '../../../formats/typescript.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, print, printJson } from '../output.ts';

/** `toolcrib types`: prints TypeScript declarations of the tools of a profile, or writes them to a file. */
export function printTypes({ flags }: Invocation): Promise<ExitCode> {
  return withCrib(flags, async (crib) => {
    const chest = await openChest(crib, flags);
    const specs = chest.listActive().filter(({ source }) => source !== META_SOURCE);
    const text = toTypeScript(specs);
    const { out } = flags;
    if (out !== undefined) {
      await writeTypes(out, text);
      note(`Wrote the types of ${specs.length} tools to ${out}.`);
    }
    if (flags.json === true)
      printJson({ tools: specs.length, ...(out === undefined ? { types: text } : { file: out }) });
    else if (out === undefined) print(text.trimEnd());
    return 0;
  });
}

async function writeTypes(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new ToolcribError('failed', `The types cannot be written: ${messageOf(cause)}.`, { cause });
  }
}
