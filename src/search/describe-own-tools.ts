import type { Bundles } from '../core/bundle.ts';
import { META_SOURCE, RESERVED_NAMES } from '../core/meta-tools.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { estimateTokens } from '../formats/token-cost.ts';
import { toDeclaration } from '../formats/typescript.ts';

/** How contents are listed in a description. */
interface Listing {
  readonly mostTokens: number;
  /** Words for a bundle that has no description. */
  readonly wordsOf: (members: readonly string[]) => string;
}

/** Enough to know what can be found, but small, because every request carries it. */
const ALL: Listing = { mostTokens: 500, wordsOf: () => '' };
/** Of another profile, a model knows nothing else. */
const TARGET: Listing = { mostTokens: 150, wordsOf: (members) => members.join(', ') };
/** Length limit of one description. */
const MOST_OF_ONE = 120;

/** Every character that some reader treats as a line end: a tool's text must not look like a line of ours. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/;

const described = new WeakMap<View, Map<string, ToolSpec>>();

/** Adds to the description of a tool of the crib what the caller can reach through it; other specs stay unchanged. */
export function describeOwnTool(spec: ToolSpec, view: View, bundles: Bundles): ToolSpec {
  if (spec.source !== META_SOURCE || spec.name === 'delegate') return spec;
  const known = described.get(view) ?? new Map<string, ToolSpec>();
  described.set(view, known);
  const before = known.get(spec.name);
  if (before !== undefined) return before;
  const made = Object.freeze({ ...spec, description: descriptionOf(spec, view, bundles) });
  known.set(spec.name, made);
  return made;
}

function descriptionOf({ name, description }: ToolSpec, view: View, bundles: Bundles): string {
  if (name === 'execute_script') return `${description}\n\n${declarationsOf(view) ?? FOUND_BY_SEARCH}`;
  if (name !== 'search_tools') return description;
  const about = view.profile.expose === 'script' ? FOR_SCRIPTS : description;
  return `${about}\n\nIt searches ${contentsOf(view, bundles, ALL)}`;
}

const FOR_SCRIPTS =
  'Finds tools by what they do. Describe in one sentence what should be done. Pass a job of several steps as goal. Each result has the TypeScript signature of a tool. If the tool is in your list of tools, call it by its name; otherwise call it as tools.NAME in execute_script.';
const FOUND_BY_SEARCH = 'Find the signatures of tools with search_tools, or in the code with search().';

/** Token limit for declarations in the description. */
const MOST_DECLARATION_TOKENS = 1500;

/** The TypeScript declarations of all tools; undefined if they are too many for a description. */
function declarationsOf(view: View): string | undefined {
  const lines: string[] = [];
  let left = MOST_DECLARATION_TOKENS;
  for (const name of view.names) {
    const spec = RESERVED_NAMES.includes(name) ? undefined : view.get(name);
    if (spec === undefined) continue;
    const declaration = toDeclaration(spec);
    left -= estimateTokens(declaration);
    if (left < 0) return undefined;
    lines.push(declaration);
  }
  return `The tools:\n${lines.join('\n')}`;
}

/** A profile that a caller can delegate to, with the tools that the caller has there. */
export interface DescribedTarget {
  readonly name: string;
  readonly mode: 'ask' | 'open';
  readonly view: View;
}

/** Adds the targets to the description of `delegate`; other specs stay unchanged. */
export function describeTargets(spec: ToolSpec, targets: readonly DescribedTarget[], bundles: Bundles): ToolSpec {
  if (spec.source !== META_SOURCE || spec.name !== 'delegate') return spec;
  const lines = targets.map(({ name, mode, view }) => {
    const contents = contentsOf(view, bundles, TARGET).replaceAll('\n', '\n  ');
    const { description } = view.profile;
    return `Profile ${name}${mode === 'ask' ? ', after approval' : ''}${sentenceOf(description)}, ${contents}`;
  });
  return Object.freeze({ ...spec, description: `${spec.description}\n\n${lines.join('\n')}` });
}

/** Lists bundles first, each with its size and description; then the tools without a bundle. */
function contentsOf(view: View, bundles: Bundles, { mostTokens, wordsOf }: Listing): string {
  const total = view.names.filter((name) => !RESERVED_NAMES.includes(name)).length;
  const lines = [`${tools(total)}:`];
  let left = mostTokens;
  for (const line of linesOf(view, bundles, wordsOf)) {
    left -= estimateTokens(line);
    if (left < 0) return [...lines, '- and more'].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}

/** A generator: of a large catalog only the first lines are needed. */
function* linesOf(view: View, bundles: Bundles, wordsOf: Listing['wordsOf']): Generator<string> {
  for (const { name, definition, members } of bundles.all) {
    const own = members.filter(view.has);
    if (own.length > 0) yield `- ${name} (${tools(own.length)})${sentenceOf(definition.description || wordsOf(own))}`;
  }
  for (const name of view.names) {
    if (RESERVED_NAMES.includes(name) || bundles.of(name).length > 0) continue;
    yield `- ${name}${sentenceOf(view.get(name)?.description)}`;
  }
}

function tools(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}

/** The first line of a description, cut if it is long. */
function sentenceOf(description = ''): string {
  const [line = ''] = description.trim().split(LINE_ENDS, 1);
  if (line === '') return '';
  const text = Array.from(line.slice(0, 2 * MOST_OF_ONE))
    .slice(0, MOST_OF_ONE)
    .join('');
  return `: ${text.length < line.length ? `${text}…` : text}`;
}
