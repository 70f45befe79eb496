import { tokensOf } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { printJson } from '../output/output.ts';
import { figures, printTable } from '../output/table.ts';
import { countingOf, tokenText, USUAL_FORMAT } from '../output/token-figures.ts';
import { openProfiles } from '../profile-chests.ts';

/** `toolcrib profiles`: the profiles, how many tools each shows at first and what they cost. */
export function listProfiles({ flags }: Invocation): Promise<ExitCode> {
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    const profiles = await Promise.all(
      (await openProfiles(crib)).map(async ({ chest, isDefault }) => {
        const specs = chest.list();
        const tokens = await tokensOf(specs, USUAL_FORMAT, counting);
        return { name: chest.profile, default: isDefault, toolCount: specs.length, tokens };
      }),
    );
    if (flags.json === true) {
      printJson({ profiles, tokensExact: counting === 'exact' });
      return 0;
    }
    printTable(
      ['NAME', 'DEFAULT', figures('TOOLS'), figures('TOKENS')],
      profiles.map((profile) => [
        profile.name,
        profile.default ? 'yes' : '',
        String(profile.toolCount),
        tokenText(profile.tokens, counting),
      ]),
    );
    return 0;
  });
}
