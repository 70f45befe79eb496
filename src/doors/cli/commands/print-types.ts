import { writeFile } from 'node:fs/promises';
import { META_SOURCE } from '../../../core/meta-tools.ts';
import { defined } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { ToolSpec } from '../../../core/tool-spec.ts';
import type { Chest } from '../../../crib/chest.ts';
import { estimateTokens } from '../../../formats/token-cost.ts';
import { toDeclaration, toTypeScript } from '../../../formats/typescript.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { readCount, usage } from '../flags.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, print, printJson } from '../output.ts';

/** Token limit for the tools that a request needs. */
const USUAL_TOKENS = 1500;

/** `toolcrib types`: prints TypeScript declarations of the tools of a profile, or of those that a request needs, or writes them to a file. */
export function printTypes({ words, flags }: Invocation): Promise<ExitCode> {
  const { out, goal } = flags;
  if (goal !== undefined && words.length > 0) throw usage('WORDS and --goal cannot be combined.', 'types');
  const request = goal === undefined ? words.join(' ') : { goal };
  const limit = readCount(flags.limit);
  if (request === '' && limit !== undefined) throw usage('--limit needs WORDS or --goal.', 'types');
  const mostTokens = readCount(flags['max-tokens'], 'max-tokens') ?? (request === '' ? Infinity : USUAL_TOKENS);
  return withCrib(flags, async (crib) => {
    const chest = await openChest(crib, flags);
    const wanted = request === '' ? chest.listActive() : await findTools(chest, request, limit);
    const { specs, left } = withinTokens(wanted, mostTokens);
    const text = toTypeScript(specs);
    if (left > 0)
      note(`${left} more ${left === 1 ? 'tool does' : 'tools do'} not fit into ${mostTokens} tokens (--max-tokens).`);
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

async function findTools(
  chest: Chest,
  request: string | { readonly goal: string },
  limit: number | undefined,
): Promise<readonly ToolSpec[]> {
  const hits = await chest.search(request, defined({ limit }));
  return hits.map(({ spec }) => spec);
}

/** The first tools whose declarations fit, and the number of the others. */
function withinTokens(wanted: readonly ToolSpec[], mostTokens: number) {
  const tools = wanted.filter(({ source }) => source !== META_SOURCE);
  let left = mostTokens;
  const specs = tools.filter((spec) => {
    left -= estimateTokens(toDeclaration(spec));
    return left >= 0;
  });
  return { specs, left: tools.length - specs.length };
}

async function writeTypes(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new ToolcribError('failed', `The types cannot be written: ${messageOf(cause)}.`, { cause });
  }
}
