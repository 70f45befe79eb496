import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { describeSources, printSources } from '../output/describe-sources.ts';
import { note, printJson } from '../output/output.ts';
import { countingOf } from '../output/token-figures.ts';
import { staleSources } from '../running-sources.ts';

/** `toolcrib sources`: where tools come from, how each source is doing and what its tools cost. */
export function listSources({ flags }: Invocation): Promise<ExitCode> {
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    const sources = await describeSources(crib, counting, await staleSources(crib, flags));
    if (flags.json === true) printJson({ sources, tokensExact: counting === 'exact' });
    else if (sources.length === 0) note('No sources.');
    else printSources(sources, counting);
    return 0;
  });
}
