import { createRandom, shuffled } from '../../scripts/vectors/random.ts';
import type { ToolRow } from '../retrieval-data.ts';
import { methods } from '../retrieval-methods.ts';
import { readCatalogue } from './catalogue-list.ts';
import { readRequests } from './read-requests.ts';

/** Tools to show: so many random ones, or those with these words. */
type Choice = { readonly count: number; readonly seed: number } | { readonly words: readonly string[] };

const MOST_TEXT = 400;
const MOST_ALIKE = 12;
const CANDIDATES = 5;

/** Prints tools with what a crib lists of them, and the tools with nearly the same titles. No search is run. */
export function showTools(name: string, choice: Choice): void {
  const tools = fetched(name);
  if ('words' in choice) {
    const words = choice.words.map((word) => word.toLowerCase());
    for (const tool of tools) if (words.every((word) => nameOf(tool).includes(word))) console.log(lineOf(tool));
    return;
  }
  for (const tool of shuffled(tools, createRandom(choice.seed)).slice(0, choice.count)) {
    const parameters = Object.keys((tool.schema?.properties ?? {}) as object); // a schema of a tool is an object's
    console.log(`\n## ${tool.id}\n${tool.title ?? ''}\n${short(tool.description, MOST_TEXT)}`);
    console.log(`${tool.method ?? ''} (${short(parameters.join(', '), MOST_TEXT)})`);
    for (const other of alike(tool, tools)) console.log(`  ~ ${lineOf(other)}`);
  }
}

/** Prints requests with their labels, what is like these, and the best of two rankings, in the order of ids. */
export async function showCandidates(
  name: string,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<void> {
  const tools = fetched(name);
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const rankings = (await methods()).filter((method) => ['ours', 'BM25 full text'].includes(method.name));
  const ranks = await Promise.all(rankings.map((method) => method.build(tools)));
  for (const request of readRequests(name).slice(from, from + count)) {
    const found = await Promise.all(ranks.map(async (rank) => (await rank(request.query)).slice(0, CANDIDATES)));
    const like = request.relevant.flatMap((id) => alike(byId.get(id), tools).slice(0, 4)).map(({ id }) => id);
    const ids = new Set([...request.relevant, ...like, ...found.flat()]);
    console.log(`\n${request.id} (${request.voice}) ${request.query}`);
    for (const id of [...ids].sort()) {
      const tool = byId.get(id);
      if (tool !== undefined) console.log(`  ${request.relevant.includes(id) ? '*' : ' '} ${lineOf(tool)}`);
    }
  }
}

function fetched(name: string): readonly ToolRow[] {
  const tools = readCatalogue(name);
  if (tools === undefined) throw new Error(`The catalogue "${name}" is not in the cache: npm run requests -- fetch`);
  return tools;
}

/** Other tools, those first that share the most words of the title or name. */
function alike(tool: ToolRow | undefined, tools: readonly ToolRow[]): readonly ToolRow[] {
  if (tool === undefined) return [];
  const own = wordsOf(tool);
  return tools
    .filter((other) => other !== tool)
    .map((other) => {
      const words = wordsOf(other);
      return { other, share: (2 * own.intersection(words).size) / (own.size + words.size) };
    })
    .filter(({ share }) => share >= 0.6)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, MOST_ALIKE)
    .map(({ other }) => other);
}

function wordsOf(tool: ToolRow): ReadonlySet<string> {
  const spaced = (tool.title ?? tool.origin ?? tool.name).replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return new Set(spaced.match(/[\p{L}\d]+/gu)?.map((word) => word.replace(/s$/, '')));
}

function nameOf({ name, title = '' }: ToolRow): string {
  return `${name} ${title}`.toLowerCase();
}

function lineOf({ id, title, description }: ToolRow): string {
  const told = title !== undefined && description.startsWith(title) ? description.slice(title.length) : description;
  return `${id} | ${title ?? ''} | ${short(told.replaceAll(/\s+/g, ' '), 160)}`;
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
