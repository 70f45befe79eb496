import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { paint, print, printJson, toLine } from '../output/output.ts';
import { flexible, printTable } from '../output/table.ts';

/** `toolcrib explain TOOL`: why a tool is visible to a caller or not, and which layer set each limit. */
export function explainTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [tool = ''] = words;
  const { caller: id, role: roles } = flags;
  return withCrib(flags, async (crib) => {
    const caller = { ...(id !== undefined && { id }), ...(roles !== undefined && { roles }) };
    const explanation = crib.explain(caller, flags.profile, tool);
    if (flags.json === true) {
      printJson({ caller, ...explanation });
      return 0;
    }
    const { visible, profile, reasons, bundles, withheld, policy } = explanation;
    print(`${paint('bold', tool)} is ${visible ? 'visible' : 'not visible'} in profile ${paint('bold', profile)}:`);
    for (const reason of reasons) print(`  ${toLine(reason)}`);
    if (bundles.length > 0) print(`bundles: ${bundles.join(', ')}`);
    for (const [how, names] of Object.entries(withheld ?? {}))
      if (names.length > 0) print(`arguments ${how} by overrides: ${toLine(names.join(', '))}`);
    const rows = Object.entries(policy).map(([key, { value, from }]) => [key, JSON.stringify(value), from.join(', ')]);
    if (rows.length > 0) printTable(['LIMIT', flexible('VALUE'), 'FROM'], rows);
    return 0;
  });
}
