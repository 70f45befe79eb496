import { isRecord, type JsonSchema } from '../core/json.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import { describe, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

import { entriesOf, memberOf } from './vendor-messages.ts';

/** What a model can load besides what it is shown. */
export interface DeferralOptions {
  /** Tools whose definitions stay out of the prompt until a search finds them; of those that are shown anyway nothing changes. */
  readonly deferred?: readonly ToolSpec[];
}

/** What was sent along with the request that the calls answer. */
export interface SentOptions {
  /** The `tools` of that request: they say what a search can load. */
  readonly tools?: readonly object[];
}

/** A tool as `search_tools` tells of it. */
export interface DeferredTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** The name under which calls of our own search come and go. */
export const SEARCH_NAME = 'search_tools';

/** The deferred tools that are not shown as well. One that shares only its name with a shown one stays, to be refused. */
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

/** True for the search that the crib brings; it is better than any that knows only names and descriptions. */
export function isOwnSearch({ name, source }: ToolSpec): boolean {
  return name === SEARCH_NAME && source === META_SOURCE;
}

/** The tools among the options of a results function; none where nothing was said. */
export function readSent(given: SentOptions, what: string): readonly object[] {
  const { tools = [] } = readOptions<SentOptions>(given, ['tools'], what);
  if (Array.isArray(tools)) return tools;
  throw new ToolcribError('invalid_option', `"tools" of ${what} takes the list that was sent, got ${describe(tools)}.`);
}

/** What a search found; nothing where the answer is that of another tool, or no success. */
export function foundIn({ name, result }: CallAnswer): readonly DeferredTool[] {
  if (name !== SEARCH_NAME || result.status !== 'done') return [];
  return entriesOf(memberOf(result.data, 'tools')).flatMap((entry) => {
    const [found, description, input] = ['name', 'description', 'inputSchema'].map((key) => memberOf(entry, key));
    if (typeof found !== 'string' || typeof description !== 'string' || !isRecord(input)) return [];
    return { name: found, description, input };
  });
}
