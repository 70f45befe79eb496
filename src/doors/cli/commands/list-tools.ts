import { META_SOURCE } from '../../../core/meta-tools.ts';
import { defined } from '../../../core/read-options.ts';
import { toSearchAnswer } from '../../../core/retriever.ts';
import type { Criteria } from '../../../core/selector.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../../core/tool-spec.ts';
import type { Crib } from '../../../crib/crib.ts';
import { definitionsOf, type TokenFormat, tokensOfEach } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readCount, usage } from '../flags.ts';
import { describeStarting, openChest, withCrib } from '../open-crib.ts';
import { note, printJson, toLine } from '../output.ts';
import { countingOf, figures, flexible, printTable, tokenText, USUAL_FORMAT } from '../table.ts';
import { noteStops } from './stop-calls.ts';

/** `toolcrib list`: lists the tools that match all filters, or prints their definitions for a vendor. */
export function listTools({ flags }: Invocation): Promise<ExitCode> {
  return withCrib(flags, async (crib) => {
    requireAnySource(crib);
    const specs = await chosenTools(crib, flags);
    const { format } = flags;
    if (format !== undefined)
      printJson(await definitionsOf(specs, format as TokenFormat)); // the flag allows only these values
    else {
      await printTools(crib, specs, flags);
      await noteStops(crib);
    }
    return 0;
  });
}

/** Throws if all sources failed: an empty list would be misleading. */
function requireAnySource(crib: Crib): void {
  const sources = crib.sources().filter(({ name }) => name !== META_SOURCE);
  const failed = sources.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (failed.length === 0 || sources.some(({ toolCount }) => toolCount > 0)) return;
  const what = failed.length === 1 ? `the source ${failed[0]}` : `the sources ${failed.join(', ')}`;
  throw new ToolcribError('failed', `No tools available: ${what} failed. "toolcrib sources" shows the reason.`);
}

async function chosenTools(crib: Crib, flags: Flags): Promise<readonly ToolSpec[]> {
  const matching = new Set(crib.match(criteriaOf(flags)).map((spec) => spec.name));
  const chest = await openChest(crib, flags);
  // Definitions are for a model, which sees only what its profile exposes; the table is for a person.
  const listed = flags.format === undefined ? chest.listActive() : chest.list();
  return listed.filter((spec) => matching.has(spec.name));
}

function criteriaOf(flags: Flags): Criteria {
  const booleans = (flags.flag ?? []).map((given) => {
    const [name = '', value = 'true'] = given.split('=');
    return [name, value === 'true' ? true : value === 'false' ? false : value] as const;
  });
  return {
    ...Object.fromEntries(booleans),
    ...defined({
      tags: flags.tag,
      category: flags.category,
      namePattern: flags.pattern,
      kind: flags.kind,
      source: flags.source,
      bundle: flags.bundle,
    }),
  };
}

async function printTools(crib: Crib, specs: readonly ToolSpec[], flags: Flags): Promise<void> {
  const counting = countingOf(flags);
  const tokens = await tokensOfEach(specs, USUAL_FORMAT, counting);
  if (flags.json === true) {
    const tools = specs.map((spec, index) => ({ ...toListed(spec, crib), tokens: tokens[index] }));
    printJson({ tools, total: tools.length, tokensExact: counting === 'exact' });
  } else if (specs.length === 0) note('No tools found.');
  else
    printToolTable(
      specs,
      tokens.map((count) => tokenText(count, counting)),
    );
}

function printToolTable(specs: readonly ToolSpec[], tokens: readonly string[]): void {
  printTable(
    ['NAME', 'KIND', 'SOURCE', figures('TOKENS'), flexible('DESCRIPTION')],
    specs.map((spec, index) => [spec.name, spec[RUN].kind, spec.source, tokens[index] ?? '', spec.description]),
  );
}

function toListed(spec: ToolSpec, crib: Crib) {
  const { name, title, description, source, category, tags, effects } = spec;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    kind: spec[RUN].kind, // operators see the kind, but nothing else about how a tool runs
    source,
    ...(category !== undefined && { category }),
    tags,
    bundles: crib.bundles.of(name).map((bundle) => bundle.name),
    effects,
  };
}

/** `toolcrib search WORDS` searches tools, best match first; `toolcrib search --goal TEXT` the tools for each step of a job. */
export function searchTools({ words, flags }: Invocation): Promise<ExitCode> {
  const limit = readCount(flags.limit);
  const { goal } = flags;
  if (goal === undefined && words.length === 0) throw usage('"toolcrib search" needs WORDS.', 'search');
  if (goal !== undefined && words.length > 0) throw usage('WORDS and --goal cannot be combined.', 'search');
  return withCrib(flags, async (crib) => {
    requireAnySource(crib);
    const chest = await openChest(crib, flags);
    const options = { expand: flags.expand === true, ...(limit !== undefined && { limit }) };
    const found = await chest.search(goal === undefined ? words.join(' ') : { goal }, options);
    const { hits, ...answer } = toSearchAnswer(found);
    if (flags.json === true) {
      printJson({
        results: hits.map(({ name, score, description, bundle, why }) => ({
          name,
          score,
          description,
          ...(bundle !== undefined && { bundle }),
          why,
        })),
        ...answer,
      });
    } else if (hits.length === 0) note(noMatch(crib));
    else {
      if (answer.note !== undefined) note(answer.note);
      printTable(
        [figures('SCORE'), 'NAME', flexible('WHY'), flexible('DESCRIPTION')],
        hits.map(({ name, score, description, why }) => [score.toFixed(3), name, why, description]),
      );
    }
    return 0;
  });
}

function noMatch(crib: Crib): string {
  const starting = describeStarting(crib);
  if (starting === '') return 'No matching tool found.';
  return toLine(`No matching tool found yet. Search again when these sources have started: ${starting}.`);
}
