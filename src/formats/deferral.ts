import { isRecord, type JsonSchema } from '../core/json.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import { describe, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

import { entriesOf, memberOf } from './vendor-messages.ts';

/** Options for tools that a model can load later. */
export interface DeferralOptions {
  /** Tools whose definitions stay out of the prompt until a search finds them. Tools that are also shown are not affected. */
  readonly deferred?: readonly ToolSpec[];
}

/** Options about the request that made the calls. */
export interface SentOptions {
  /** The `tools` of that request: a search can load only these. */
  readonly tools?: readonly object[];
}

/** A tool in the result of `search_tools`. */
export interface DeferredTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** The name of the crib's own search tool. */
export const SEARCH_NAME = 'search_tools';

/** The deferred tools without those that are also shown. A different tool with the name of a shown one stays, and is refused later. */
export function hiddenAmong(shown: readonly ToolSpec[], given: DeferralOptions, what: string): readonly ToolSpec[] {
  const { deferred = [] } = readOptions<DeferralOptions>(given, ['deferred'], what);
  if (!Array.isArray(deferred))
    throw new ToolcribError(
      'invalid_option',
      `"deferred" of ${what} takes a list of tools, got ${describe(deferred)}.`,
    );
  const byName = new Map(shown.map((spec) => [spec.name, spec]));
  return deferred.filter(({ name, source, origin }: ToolSpec) => {
    const twin = byName.get(name);
    return twin?.source !== source || twin.origin !== origin;
  });
}

/** True for the crib's own search, which is preferred: vendors search only names and descriptions. */
export function isOwnSearch({ name, source }: ToolSpec): boolean {
  return name === SEARCH_NAME && source === META_SOURCE;
}

/** The tools in the options of a results function; none if absent. */
export function readSent(given: SentOptions, what: string): readonly object[] {
  const { tools = [] } = readOptions<SentOptions>(given, ['tools'], what);
  if (Array.isArray(tools)) return tools;
  throw new ToolcribError('invalid_option', `"tools" of ${what} takes the list that was sent, got ${describe(tools)}.`);
}

/** The tools that a search found; none if the result is of another tool or a failure. */
export function foundIn({ name, result }: CallAnswer): readonly DeferredTool[] {
  if (name !== SEARCH_NAME || result.status !== 'done') return [];
  return entriesOf(memberOf(result.data, 'tools')).flatMap((entry) => {
    const [found, description, input] = ['name', 'description', 'inputSchema'].map((key) => memberOf(entry, key));
    if (typeof found !== 'string' || typeof description !== 'string' || !isRecord(input)) return [];
    return { name: found, description, input };
  });
}
