import { createReadStream, existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { Chest } from '../../../crib/chest.ts';
import {
  catalogueIds,
  changedRequests,
  type LabelledRequest,
  measureCatalogue,
  measureSearch,
  type Quality,
  readRequests,
  unknownIds,
} from '../../../crib/search-quality.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig, readCount, usage } from '../flags.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { counted, note, print, printJson } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

/** `toolcrib eval --queries FILE`: measures search quality with labelled requests. */
export async function evalSearch({ flags }: Invocation): Promise<ExitCode> {
  const { queries, tools, compare } = flags;
  if (queries === undefined) throw usage('eval needs --queries FILE with one request per line.', 'eval');
  const worst = readCount(flags.limit) ?? 10;
  const requests = readRequests(await readLines(queries));
  if (requests.length === 0) throw usage(`${queries} contains no requests.`, 'eval');
  if (compare !== undefined) return compareSettings(requests, compare, flags);
  if (tools === undefined) return withCrib(flags, async (crib) => evalChest(await openChest(crib, flags)));
  const rows = await readLines(tools);
  const ids = catalogueIds(rows);
  if (ids.size === 0) throw usage(`${tools} contains no tools.`, 'eval');
  warnOfUnknown(requests, (id) => ids.has(id));
  show(await measureCatalogue(rows, requests, note), worst, flags);
  return 0;

  async function evalChest(chest: Chest): Promise<ExitCode> {
    warnOfUnknown(requests, (name) => chest.get(name) !== undefined);
    show(await measureSearch(chest, requests), worst, flags);
    return 0;
  }
}

interface Measured {
  readonly unknown: readonly string[];
  readonly quality: Quality;
}

/** Measures with the configuration, and then with another one: both may use the same store. */
async function compareSettings(requests: readonly LabelledRequest[], other: string, flags: Flags): Promise<ExitCode> {
  if (flags.tools !== undefined) throw usage('--compare and --tools cannot be combined.', 'eval');
  if (!existsSync(other)) throw usage(`--compare: ${other} was not found.`, 'eval');
  if (placeOf(flags.config) === placeOf(other))
    throw usage(`--compare: ${other} is the configuration that is measured anyway. Name another one.`, 'eval');
  const measured: Measured[] = [];
  for (const setting of [flags, { ...flags, config: other }]) {
    await withCrib(setting, async (crib) => {
      const chest = await openChest(crib, setting);
      const unknown = unknownIds(requests, (name) => chest.get(name) !== undefined);
      const [before] = measured;
      if (before !== undefined) requireSameTools(before.unknown, unknown, other);
      measured.push({ unknown, quality: await measureSearch(chest, requests) });
      return 0;
    });
  }
  const [one, two] = measured as [Measured, Measured]; // one for each setting
  noteUnknown(one.unknown);
  showComparison(one.quality, two.quality, flags);
  return 0;
}

/** The configuration file that a path stands for; without a path, the one of the working directory. */
function placeOf(config = '.'): string {
  const path = findConfig(config) ?? resolve(config);
  return existsSync(path) ? realpathSync(path) : path;
}

function requireSameTools(here: readonly string[], there: readonly string[], other: string): void {
  const lacking = there.filter((id) => !here.includes(id));
  const extra = here.filter((id) => !there.includes(id));
  if (lacking.length + extra.length === 0) return;
  const [ids, where] = lacking.length > 0 ? [lacking, other] : [extra, 'this configuration'];
  throw new ToolcribError(
    'invalid_rows',
    `Expected tools are missing in ${where}: ${shorten(ids)}. Compare configurations that both have the expected tools, or remove these requests.`,
  );
}

/** Parses the lines; the index of a value is that of its line, and a blank line leaves a hole in the array. */
async function readLines(file: string): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() !== '') rows[number - 1] = JSON.parse(number === 1 ? line.replace(/^\ufeff/, '') : line);
    }
  } catch (cause) {
    const place = cause instanceof SyntaxError ? `${file}:${number}` : file;
    throw new ToolcribError(
      'invalid_rows',
      `${place}: ${messageOf(cause)}. The file must have one JSON object per line.`,
      {
        cause,
      },
    );
  }
  return rows;
}

function warnOfUnknown(requests: readonly LabelledRequest[], isKnown: (id: string) => boolean): void {
  noteUnknown(unknownIds(requests, isKnown));
}

function noteUnknown(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  note(`${unknown.length} of the expected ids do not belong to any tool and cannot be found: ${shorten(unknown)}.`);
}

function shorten(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).map((id) => `"${id}"`);
  return `${shown.join(', ')}${ids.length > 5 ? ', ...' : ''}`;
}

function show(quality: Quality, worst: number, flags: Flags): void {
  const { outcomes, ...measured } = quality;
  const worstOnes = outcomes.filter(({ ndcg10 }) => ndcg10 < 1).slice(0, worst);
  if (flags.json === true) {
    printJson({ ...measured, worst: worstOnes });
    return;
  }
  printTable(
    ['MEASURE', figures('VALUE')],
    [
      ['requests', String(quality.requests)],
      ...SHARES.map(([key, label]) => [label, percent(shareOf(quality, key))]),
      ['ms per query', quality.msPerQuery.toFixed(3)],
    ],
  );
  if (worstOnes.length === 0) return;
  print('');
  printTable(
    [figures('NDCG@10'), flexible('WORST REQUESTS'), flexible('EXPECTED'), flexible('FOUND')],
    worstOnes.map(({ ndcg10, query, relevant, found }) => [
      percent(ndcg10),
      query,
      relevant.join(', ') || 'nothing',
      found.slice(0, 3).join(', ') || 'nothing',
    ]),
  );
}

/** Times are not compared: the second measurement finds a warm process. */
function showComparison(one: Quality, other: Quality, flags: Flags): void {
  const changed = changedRequests(one, other);
  const shown = changed.slice(0, readCount(flags.limit) ?? 10);
  const better = changed.filter(({ change }) => change === 'better').length;
  const worse = changed.length - better;
  if (flags.json === true) {
    const figuresOf = ({ outcomes: _, msPerQuery: __, ...measured }: Quality) => measured;
    printJson({ this: figuresOf(one), other: figuresOf(other), better, worse, changed: shown });
    return;
  }
  printTable(
    ['MEASURE', figures('THIS'), figures('OTHER'), figures('DIFFERENCE')],
    SHARES.map(([key, label]) => {
      const [before, after] = [shareOf(one, key), shareOf(other, key)];
      return [label, percent(before), percent(after), difference(before, after)];
    }),
  );
  print(`\nOf ${counted(one.requests, 'request')}, ${better} better and ${worse} worse with the other configuration.`);
  if (shown.length === 0) return;
  print('');
  printTable(
    ['CHANGE', figures('THIS'), figures('OTHER'), flexible('REQUEST'), flexible('EXPECTED')],
    shown.map(({ change, ranks, query, relevant }) => [
      change,
      String(ranks.this ?? '-'),
      String(ranks.other ?? '-'),
      query,
      relevant.join(', '),
    ]),
  );
}

/** The measures that are shares, in order, with their labels. */
const SHARES = [
  ['ndcg10', 'NDCG@10'],
  ['recall1', 'Recall@1'],
  ['recall5', 'Recall@5'],
  ['recall10', 'Recall@10'],
  ['mrr', 'MRR'],
  ['lost', 'no result, if a tool fits'],
  ['refused', 'no result, if no tool fits'],
  ['lowRight', 'low confidence, if no tool fits'],
  ['lowWrong', 'low confidence, if a tool fits'],
] as const;

/** A measure; null if no request has it. */
function shareOf(quality: Quality, key: (typeof SHARES)[number][0]): number | null {
  const isAnswerable = quality.outcomes.some(({ relevant }) => relevant.length > 0);
  return isAnswerable || key === 'refused' || key === 'lowRight' ? quality[key] : null;
}

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`;
}

/** In percentage points. */
function difference(before: number | null, after: number | null): string {
  if (before === null || after === null) return '-';
  const points = (100 * (after - before)).toFixed(1);
  if (Number(points) === 0) return '0.0';
  return after > before ? `+${points}` : points;
}
