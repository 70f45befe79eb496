import { randomBytes } from 'node:crypto';
import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { object, typed, whole } from '../config/schema-node.ts';
import type { ResultsConfig } from '../config/types/config.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import { redactData } from '../core/redact-result.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import type { Content, DoneResult, ToolResult } from '../core/tool-result.ts';
import { requireNumber } from '../define/read-policy.ts';

/** Offloads large results to the store. Without a store, results are returned in full. */
export const offload: ExtensionRecord<ResultsConfig> = {
  name: 'offload',
  priority: 285,
  reason: 'stores what the caller would get, outside of cache and output validation',
  isOptional: true,
  options: typed(
    'ResultsConfig',
    object('Storage of large results.', {
      offloadBytes: whole('Larger results are kept in the store and returned as a preview; default 100000.'),
      keepMs: whole('Time to keep them; default one day.'),
      quotaBytes: whole(
        'Total bytes of stored results of all callers. A result that does not fit, or is larger than 100 MB, is not stored. Default 1000000000.',
      ),
      quotaBytesPerCaller: whole('Bytes of stored results of one caller; default quotaBytes.'),
    }),
  ),
  make(
    { offloadBytes = 100_000, keepMs = 86_400_000, quotaBytes = 1_000_000_000, quotaBytesPerCaller = quotaBytes },
    { store, redact, warn },
  ) {
    const bounds = { offloadBytes, keepMs, quotaBytes, quotaBytesPerCaller };
    for (const [key, value] of Object.entries(bounds)) requireNumber(value, 1, `offload(): ${key}`);
    if (store === undefined) return {};
    return keepLarge({ ...bounds, results: store.results, withoutSecrets: (data) => redactData(data, redact), warn });
  },
};

/** Too long to guess, short enough for a model to repeat. */
function newId(): string {
  return `r_${randomBytes(12).toString('base64url')}`;
}

interface Offloading extends Required<ResultsConfig> {
  readonly results: StoredResults;
  /** Removes the values of secrets. */
  withoutSecrets<T>(data: T): T;
  warn(message: string): void;
}

const PREVIEW_CHARACTERS = 2000;
const LARGEST_BYTES = 100_000_000;

/** Stores large results for their caller and returns the beginning, with the id for reading the rest. */
function keepLarge(options: Offloading): ExtensionParts {
  const { offloadBytes, keepMs, quotaBytes, quotaBytesPerCaller, results } = options;

  const keep = async (call: ToolCall, result: DoneResult, text: string, bytes: number): Promise<DoneResult> => {
    const kept: KeptResult = {
      id: newId(),
      owner: call.caller.id ?? '',
      tool: call.spec.name,
      // The caller gets the result as it is; the stored copy is redacted.
      ...options.withoutSecrets({ text, ...(result.data !== undefined && !isJson(text) && { data: result.data }) }),
      expiresAt: Math.round(Date.now() + keepMs),
    };
    const isKept = bytes <= LARGEST_BYTES && (await put(kept));
    return shortened(result, text, isKept ? { ...kept, bytes } : { bytes });
  };

  // The tool has run, so its result is returned even if the rest cannot be stored.
  const put = (kept: KeptResult): Promise<boolean> =>
    results.put(kept, { quotaBytes, quotaBytesPerCaller }).catch((cause) => {
      options.warn(`A large result of "${kept.tool}" could not be stored: ${messageOf(cause)}`);
      return false;
    });

  const judge = (call: ToolCall, result: ToolResult): ToolResult | Promise<ToolResult> => {
    if (!result.ok) return result;
    const text = result.content.flatMap((part) => wordsOf(part) ?? []).join('\n');
    const data = result.data === undefined || typeof result.data !== 'object' ? '' : JSON.stringify(result.data);
    const longer = data.length > text.length ? data : text;
    if (longer.length * 3 <= offloadBytes) return result; // a UTF-16 unit takes at most three bytes
    const bytes = Buffer.byteLength(longer);
    return bytes <= offloadBytes ? result : keep(call, result, text === '' ? data : text, bytes);
  };

  return {
    applies: ({ source, name }) => source !== META_SOURCE || PASSES_ON.includes(name),
    wrap(call, next) {
      const result = next(call);
      if (call.parent !== undefined || call.takesWhole) return result; // code that computes with the result needs all of it
      return afterwards(result, (settled) => judge(call, settled));
    },
  };
}

/** Tools of the crib whose results come from other tools. */
const PASSES_ON: readonly string[] = ['execute_script', 'delegate'];

type Kept = { readonly bytes: number; readonly id?: string; readonly expiresAt?: number };

function shortened(result: DoneResult, text: string, kept: Kept): DoneResult {
  const { data: _data, content, meta, ...rest } = result;
  const { id, bytes, expiresAt = 0 } = kept;
  const where =
    id === undefined
      ? 'The rest could not be stored.'
      : `The complete result is stored as "${id}" until ${new Date(expiresAt).toISOString()}; read parts of it with read_result.`;
  const preview: Content = {
    type: 'text',
    text: `${beginOf(text)}\n\n[These are the first characters of ${bytes} bytes. ${where}]`,
  };
  return {
    ...rest,
    content: [preview, ...content.filter((part) => wordsOf(part) === undefined)],
    meta: { ...meta, 'toolcrib/result': id === undefined ? { bytes } : { id, bytes, expiresAt } },
  };
}

/** The text of a part: its own, or that of the resource in it; undefined for images, audio, blobs and links. */
function wordsOf(part: Content): string | undefined {
  if (part.type === 'text') return part.text;
  const text: unknown = part.type === 'resource' ? part.resource.text : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Never cuts a surrogate pair. */
function beginOf(text: string): string {
  const begin = text.slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(begin) ? begin.slice(0, -1) : begin;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
