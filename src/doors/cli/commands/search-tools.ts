import { readCount } from '../arguments/read-count.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, printJson } from '../output/output.ts';
import { figures, flexible, printTable } from '../output/table.ts';

/** `toolcrib search WORDS`: tools that fit a request, best first. */
export function searchTools({ words, flags }: Invocation): Promise<ExitCode> {
  const limit = readCount(flags.limit);
  return withCrib(flags, async (crib) => {
    const chest = await openChest(crib, flags);
    const hits = await chest.search(words.join(' '), {
      expand: flags.expand === true,
      ...(limit !== undefined && { limit }),
    });
    if (flags.json === true) {
      printJson({
        results: hits.map(({ name, score, description, bundle, why }) => ({
          name,
          score,
          description,
          ...(bundle !== undefined && { bundle }),
          why,
        })),
      });
    } else if (hits.length === 0) note('No tool fits.');
    else {
      printTable(
        [figures('SCORE'), 'NAME', flexible('WHY'), flexible('DESCRIPTION')],
        hits.map(({ name, score, description, why }) => [score.toFixed(3), name, why, description]),
      );
    }
    return 0;
  });
}
