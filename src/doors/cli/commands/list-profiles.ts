import { tokensOf } from '../../../formats/token-cost.ts';
import { openProfiles } from '../../check-report.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, printJson } from '../output.ts';
import { countingOf, figures, flexible, printTable, tokenText, USUAL_FORMAT } from '../table.ts';

/** `toolcrib profiles`: lists the profiles, the tools that each shows at first, and their token cost. */
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

/** `toolcrib bundles`: lists the visible bundles, their tools and their token cost. */
export function listBundles({ flags }: Invocation): Promise<ExitCode> {
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    const chest = await openChest(crib, flags);
    const [active, essential] = [chest.active(), chest.essential()];
    const bundles = await Promise.all(
      chest.available().map(async (name) => {
        const specs = (crib.bundles.get(name)?.members ?? []).flatMap((member) => chest.get(member) ?? []);
        const description = crib.bundles.info(name)?.description;
        return {
          name,
          ...(description !== undefined && { description }),
          tools: specs.map((spec) => spec.name),
          requires: crib.bundles.get(name)?.requires ?? [],
          active: active.includes(name),
          essential: essential.includes(name),
          tokens: await tokensOf(specs, USUAL_FORMAT, counting),
        };
      }),
    );
    if (flags.json === true) printJson({ bundles, tokensExact: counting === 'exact' });
    else if (bundles.length === 0) note('No bundles found.');
    else {
      printTable(
        ['NAME', 'STATE', figures('TOOLS'), figures('TOKENS'), flexible('DESCRIPTION')],
        bundles.map((bundle) => [
          bundle.name,
          stateOf(bundle),
          String(bundle.tools.length),
          tokenText(bundle.tokens, counting),
          bundle.description ?? '',
        ]),
      );
    }
    return 0;
  });
}

function stateOf({ active, essential }: { readonly active: boolean; readonly essential: boolean }): string {
  if (essential) return 'essential';
  return active ? 'active' : 'inactive';
}
