import type { AuditRow } from '../../../core/ports/stored-audit.ts';
import { defined } from '../../../core/read-options.ts';
import { flagsOf } from '../../../core/selector.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../../core/tool-spec.ts';
import { withheldNames } from '../../../crib/catalog/explain.ts';
import type { Crib } from '../../../crib/crib.ts';
import { tokensByFormat } from '../../../formats/token-cost.ts';
import { toShownCall } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { openChest, unknownTool, withCrib } from '../open-crib.ts';
import { note, paint, print, printJson, toLine, toLines } from '../output.ts';
import { flexible, printTable } from '../table.ts';
import { printCalls } from './list-calls.ts';

const LAST_CALLS = 5;

/** `toolcrib show TOOL`: prints everything that an operator may see of a tool. */
export function showTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [name = ''] = words;
  return withCrib(flags, async (crib) => {
    const chest = await openChest(crib, flags);
    const spec = chest.get(name);
    if (spec === undefined) throw unknownTool(name, chest);
    const shown = { ...describeTool(spec, crib), tokens: await tokensByFormat([spec], 'exact') };
    const calls = await lastCalls(crib, name);
    if (flags.json === true) printJson({ ...shown, calls: calls.map(toShownCall) });
    else print(toText(shown));
    if (flags.json !== true && calls.length > 0) {
      print(`\n${paint('bold', 'last calls')}`);
      printCalls(calls);
    }
    return 0;
  });
}

/** The last calls of a tool; none if the store fails, because the tool itself can still be shown. */
async function lastCalls(crib: Crib, tool: string): Promise<readonly AuditRow[]> {
  try {
    return await crib.calls.list({ tool, limit: LAST_CALLS });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    note(toLine(`The last calls cannot be shown: ${cause.message}`));
    return [];
  }
}

function describeTool(spec: ToolSpec, crib: Crib) {
  const { name, title, description, source, origin, category, tags, version, effects, policy } = spec;
  const withheld = withheldNames(spec);
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    kind: spec[RUN].kind, // operators see the kind, but nothing else about how a tool runs
    source,
    origin,
    status: crib.sources().find((report) => report.name === source)?.state ?? 'ready',
    ...(category !== undefined && { category }),
    tags,
    ...(version !== undefined && { version }),
    bundles: crib.bundles.of(name).map((bundle) => bundle.name),
    effects,
    flags: Object.fromEntries(flagsOf(spec)),
    policy,
    ...defined({ meta: spec.meta, requires: spec.requires, instructions: spec.instructions, examples: spec.examples }),
    ...(withheld !== undefined && { fixedArguments: withheld.fixed, hiddenArguments: withheld.hidden }),
    inputSchema: spec.input,
    ...(spec.output !== undefined && { outputSchema: spec.output }),
  };
}

function toText(shown: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(shown).filter(([key, value]) => !isEmpty(value) && key !== 'flags'); // mostly the same as effects
  const width = Math.max(...rows.map(([key]) => key.length));
  return rows
    .map(([key, value]) => {
      const text = toValueText(value);
      const indented = text.includes('\n') ? `\n${text.replace(/^/gm, '  ')}` : text;
      return `${paint('bold', key.padEnd(width))}  ${indented}`;
    })
    .join('\n');
}

function toValueText(value: unknown): string {
  if (typeof value === 'string') return toLines(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return toLine(value.join(', '));
  const short = JSON.stringify(value);
  return toLines(short.length <= 60 ? short : JSON.stringify(value, null, 2));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** `toolcrib explain TOOL`: explains why a tool is visible to a caller or not, and which layer set each limit. */
export function explainTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [tool = ''] = words;
  const { caller: id, role: roles } = flags;
  return withCrib(flags, async (crib) => {
    const caller = { ...(id !== undefined && { id }), ...(roles !== undefined && { roles }) };
    await crib.stops.list().catch((cause) => note(toLine(`The emergency stops cannot be read: ${messageOf(cause)}`)));
    const explanation = crib.explain(caller, flags.profile, tool);
    if (flags.json === true) {
      printJson({ caller, ...explanation });
      return 0;
    }
    const { visible, profile, reasons, bundles, withheld, rates = [], stops = [], policy } = explanation;
    print(`${paint('bold', tool)} is ${visible ? 'visible' : 'not visible'} in profile ${paint('bold', profile)}:`);
    for (const text of [...reasons, ...stops]) print(`  ${toLine(text)}`);
    if (bundles.length > 0) print(`bundles: ${bundles.join(', ')}`);
    for (const [how, names] of Object.entries(withheld ?? {}))
      if (names.length > 0) print(`arguments ${how} by overrides: ${toLine(names.join(', '))}`);
    const rows = Object.entries(policy).map(([key, { value, from }]) => [key, JSON.stringify(value), from.join(', ')]);
    if (rows.length > 0) printTable(['LIMIT', flexible('VALUE'), 'FROM'], rows);
    for (const rate of rates) print(`rate: ${rate}`);
    return 0;
  });
}
