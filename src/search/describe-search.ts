import type { Bundles } from '../core/bundle.ts';
import { META_SOURCE, RESERVED_NAMES } from '../core/meta-tools.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { estimateTokens } from '../formats/token-cost.ts';

/** Enough to know what can be found, and little to carry in every request. */
const MOST_TOKENS = 500;
/** Of one description. */
const MOST_OF_ONE = 120;

/** All that some reader takes for one: what a tool says must not look like a line of ours. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/;

const described = new WeakMap<View, ToolSpec>();

/** `search_tools` with a description that says what the caller can find by it; every other spec as it is. */
export function describeSearch(spec: ToolSpec, view: View, bundles: Bundles): ToolSpec {
  if (spec.source !== META_SOURCE || spec.name !== 'search_tools') return spec;
  const known = described.get(view);
  if (known !== undefined) return known;
  const made = Object.freeze({ ...spec, description: `${spec.description}\n\n${contentsOf(view, bundles)}` });
  described.set(view, made);
  return made;
}

/** Bundles first, each with its size and what it is for; then the tools that are in none. */
function contentsOf(view: View, bundles: Bundles): string {
  const total = view.names.filter((name) => !RESERVED_NAMES.includes(name)).length;
  const lines = [`It searches ${tools(total)}:`];
  let left = MOST_TOKENS;
  for (const line of linesOf(view, bundles)) {
    left -= estimateTokens(line);
    if (left < 0) return [...lines, '- and more'].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}

/** One after the other: of a large catalogue only the first ones are looked at. */
function* linesOf(view: View, bundles: Bundles): Generator<string> {
  for (const { name, definition, members } of bundles.all) {
    const count = members.filter(view.has).length;
    if (count > 0) yield `- ${name} (${tools(count)})${sentenceOf(definition.description)}`;
  }
  for (const name of view.names) {
    if (RESERVED_NAMES.includes(name) || bundles.of(name).length > 0) continue;
    yield `- ${name}${sentenceOf(view.get(name)?.description)}`;
  }
}

function tools(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}

/** The first line of a description, cut where it is long. */
function sentenceOf(description = ''): string {
  const [line = ''] = description.trim().split(LINE_ENDS, 1);
  if (line === '') return '';
  const text = Array.from(line.slice(0, 2 * MOST_OF_ONE))
    .slice(0, MOST_OF_ONE)
    .join('');
  return `: ${text.length < line.length ? `${text}…` : text}`;
}
