import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import {
  catalogueIds,
  type LabelledRequest,
  measureCatalogue,
  measureSearch,
  type Quality,
  readRequests,
  unknownIds,
} from '../../../crib/search-quality.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readCount, usage } from '../flags.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, print, printJson } from '../output.ts';
import { figures, flexible, printTable } from '../table.ts';

/** `toolcrib eval --queries FILE`: measures search quality with labelled requests. */
export async function evalSearch({ flags }: Invocation): Promise<ExitCode> {
  const { queries, tools } = flags;
  if (queries === undefined) throw usage('eval needs --queries FILE with one request per line.', 'eval');
  const worst = readCount(flags.limit) ?? 10;
  const requests = readRequests(await readLines(queries));
  if (requests.length === 0) throw usage(`${queries} contains no requests.`, 'eval');
  if (tools === undefined) return withCrib(flags, async (crib) => evalChest(await openChest(crib, flags)));
  const rows = await readLines(tools);
  const ids = catalogueIds(rows);
  if (ids.size === 0) throw usage(`${tools} contains no tools.`, 'eval');
  warnOfUnknown(requests, (id) => ids.has(id));
  show(await measureCatalogue(rows, requests, note), worst, flags);
  return 0;

  async function evalChest(chest: Awaited<ReturnType<typeof openChest>>): Promise<ExitCode> {
    warnOfUnknown(requests, (name) => chest.get(name) !== undefined);
    show(await measureSearch(chest, requests), worst, flags);
    return 0;
  }
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
  const unknown = unknownIds(requests, isKnown);
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, 5).map((id) => `"${id}"`);
  note(
    `${unknown.length} of the expected ids do not belong to any tool and cannot be found: ${shown.join(', ')}${unknown.length > 5 ? ', ...' : ''}.`,
  );
}

function show(quality: Quality, worst: number, flags: Flags): void {
  const { outcomes, ...measured } = quality;
  const worstOnes = outcomes.filter(({ ndcg10 }) => ndcg10 < 1).slice(0, worst);
  if (flags.json === true) {
    printJson({ ...measured, worst: worstOnes });
    return;
  }
  const isAnswerable = outcomes.some(({ relevant }) => relevant.length > 0);
  printTable(
    ['MEASURE', figures('VALUE')],
    [
      ['requests', String(quality.requests)],
      ...(['ndcg10', 'recall1', 'recall5', 'recall10', 'mrr', 'lost'] as const).map((key) => [
        LABELS[key],
        isAnswerable ? percent(quality[key]) : '-',
      ]),
      ['no result, if no tool fits', percent(quality.refused)],
      ['low confidence, if no tool fits', percent(quality.lowRight)],
      ['low confidence, if a tool fits', percent(quality.lowWrong)],
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

const LABELS = {
  ndcg10: 'NDCG@10',
  recall1: 'Recall@1',
  recall5: 'Recall@5',
  recall10: 'Recall@10',
  mrr: 'MRR',
  lost: 'no result, if a tool fits',
} as const;

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`;
}
