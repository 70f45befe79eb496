import { resolve } from 'node:path';
import type { Crib } from '../../../crib/crib.ts';
import type { EnrichOptions, EnrichPlan, EnrichResult } from '../../../crib/enrich/enrich-tools.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, usage } from '../flags.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, counted, note, printJson, toLine } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

const INTERRUPTED = 130;

/** `toolcrib enrich`: a model of the owner writes requests for tools, which search reads as their examples. */
export function writeExamples({ flags }: Invocation): Promise<ExitCode> {
  const modes = (['show', 'prune', 'dry-run'] as const).filter((mode) => flags[mode] === true);
  if (modes.length > 1) throw usage(`--${modes.join(' and --')} cannot be combined.`, 'enrich');
  return withCrib(flags, async (crib) => {
    const options = await optionsOf(crib, flags);
    if (flags.show === true) return show(crib, options, flags);
    if (flags.prune === true) return prune(crib, options, flags);
    return enrich(crib, options, flags);
  });
}

async function optionsOf(crib: Crib, flags: Flags): Promise<EnrichOptions> {
  const file = flags.file === undefined ? {} : { file: resolve(flags.file) };
  if (flags.profile === undefined) return file;
  const chest = await openChest(crib, flags);
  return { ...file, isMeant: (tool) => chest.get(tool) !== undefined };
}

async function enrich(crib: Crib, options: EnrichOptions, flags: Flags): Promise<ExitCode> {
  const { examples } = crib.server;
  const plan = await examples.plan(options);
  if (flags['dry-run'] === true && flags.json === true) printJson(plan);
  else note(toLine(describePlan(plan)));
  if (flags['dry-run'] === true || plan.tools.length === 0) {
    if (flags['dry-run'] !== true && flags.json === true) printJson({ file: plan.file, written: [], failed: [] });
    return 0;
  }
  const { signal } = cancelOnInterrupt();
  const result = await examples.write({ ...options, signal });
  if (flags.json === true) printJson({ file: plan.file, ...result });
  else report(plan, result);
  if (signal.aborted) return INTERRUPTED;
  return result.failed.length > 0 || result.stopped !== undefined ? 1 : 0;
}

function describePlan({ tools, model, host, inputTokens, outputTokens, cost }: EnrichPlan): string {
  if (tools.length === 0) return 'Every tool has enough examples.';
  const price = cost === undefined ? '' : `, which cost about ${Number(cost.toPrecision(2))}`;
  return `${counted(tools.length, 'tool')} without requests: ${counted(tools.length, 'call')} of the model "${model}" at ${host}, about ${inputTokens} tokens of input and ${outputTokens} of output${price}.`;
}

function report({ file }: EnrichPlan, { written, failed, stopped }: EnrichResult): void {
  if (written.length > 0)
    printTable(
      ['TOOL', flexible('REQUESTS')],
      written.map(({ tool, requests }) => [tool, requests.join(' / ')]),
    );
  for (const { tool, reason } of failed) note(toLine(`${tool}: ${reason}`));
  if (stopped !== undefined) note(toLine(`${stopped} Run the command again to go on.`));
  note(toLine(`${counted(written.length, 'tool')} written to ${file}, ${failed.length} failed.`));
}

async function show(crib: Crib, options: EnrichOptions, flags: Flags): Promise<ExitCode> {
  const entries = await crib.server.examples.list(options);
  if (flags.json === true) printJson({ examples: entries });
  else if (entries.length === 0) note('No requests are written. "toolcrib enrich" writes some.');
  else
    printTable(
      ['TOOL', 'STATE', figures('COUNT'), flexible('REQUESTS')],
      entries.map(({ tool, state, requests }) => [tool, state, String(requests.length), requests.join(' / ')]),
    );
  return 0;
}

async function prune(crib: Crib, options: EnrichOptions, flags: Flags): Promise<ExitCode> {
  const removed = await crib.server.examples.prune(options);
  if (flags.json === true) printJson({ removed });
  else
    note(toLine(`${counted(removed.length, 'tool')} removed${removed.length === 0 ? '' : `: ${removed.join(', ')}`}.`));
  return 0;
}
