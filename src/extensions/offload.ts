import { randomBytes } from 'node:crypto';
import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { object, typed, whole } from '../config/schema-node.ts';
import type { ResultsConfig } from '../config/types/config.ts';
import { isPromise } from '../core/json.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import { redactData } from '../core/redact-result.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import { type Content, type DoneResult, type ToolResult, textOf } from '../core/tool-result.ts';
import { requireNumber } from '../define/read-policy.ts';

/** A crib without a store hands over all of a result. */
export const offload: ExtensionRecord<ResultsConfig> = {
  name: 'offload',
  priority: 285,
  reason: 'keeps what the caller would get, outside of cache and output validation',
  isOptional: true,
  options: typed(
    'ResultsConfig',
    object('What becomes of large results.', {
      offloadBytes: whole('Larger ones are kept in the store and handed over as a preview; default 100000.'),
      keepMs: whole('How long they are kept; default a day.'),
      quotaBytes: whole(
        'How many bytes the kept results of all callers may take together in the store; a result that does not fit, or is larger than 100 MB, is not kept. Default 1000000000.',
      ),
    }),
  ),
  make({ offloadBytes = 100_000, keepMs = 86_400_000, quotaBytes = 1_000_000_000 }, { store, redact, warn }) {
    const bounds = { offloadBytes, keepMs, quotaBytes };
    for (const [key, value] of Object.entries(bounds)) requireNumber(value, 1, `offload(): ${key}`);
    if (store === undefined) return {};
    return keepLarge({ ...bounds, results: store.results, withoutSecrets: (data) => redactData(data, redact), warn });
  },
};

/** Long enough that nobody guesses it, short enough for a model to repeat. */
function newId(): string {
  return `r_${randomBytes(12).toString('base64url')}`;
}

interface Offloading extends Required<ResultsConfig> {
  readonly results: StoredResults;
  /** The data without the values of secrets. */
  withoutSecrets<T>(data: T): T;
  warn(message: string): void;
}

const PREVIEW_CHARACTERS = 2000;
const LARGEST_BYTES = 100_000_000;

/** Keeps large results for their caller and hands over the beginning, with the name under which the rest can be read. */
function keepLarge(options: Offloading): ExtensionParts {
  const { offloadBytes, keepMs, quotaBytes, results } = options;

  const keep = async (call: ToolCall, result: DoneResult, text: string, bytes: number): Promise<DoneResult> => {
    const kept: KeptResult = {
      id: newId(),
      owner: call.caller.id ?? '',
      tool: call.spec.name,
      // The caller has been given what the tool answered; what lies in the store tells no secret.
      ...options.withoutSecrets({ text, ...(result.data !== undefined && !isJson(text) && { data: result.data }) }),
      expiresAt: Math.round(Date.now() + keepMs),
    };
    const isKept = bytes <= LARGEST_BYTES && (await put(kept));
    return shortened(result, text, isKept ? { ...kept, bytes } : { bytes });
  };

  // The tool has run: what it answered is not lost because the rest of it cannot be kept.
  const put = (kept: KeptResult): Promise<boolean> =>
    results.put(kept, quotaBytes).catch((cause) => {
      options.warn(`A large result of "${kept.tool}" could not be kept: ${messageOf(cause)}`);
      return false;
    });

  const judge = (call: ToolCall, result: ToolResult): ToolResult | Promise<ToolResult> => {
    if (!result.ok) return result;
    const text = textOf(result);
    const data = result.data === undefined || typeof result.data !== 'object' ? '' : JSON.stringify(result.data);
    const longer = data.length > text.length ? data : text;
    if (longer.length * 3 <= offloadBytes) return result; // no character takes more bytes
    const bytes = Buffer.byteLength(longer);
    return bytes <= offloadBytes ? result : keep(call, result, text === '' ? data : text, bytes);
  };

  return {
    applies: (spec) => spec.source !== META_SOURCE,
    wrap(call, next) {
      const result = next(call);
      if (call.parent !== undefined || call.takesWhole) return result; // who computes with it needs all of it
      return isPromise(result) ? result.then((settled) => judge(call, settled)) : judge(call, result);
    },
  };
}

type Kept = { readonly bytes: number; readonly id?: string; readonly expiresAt?: number };

function shortened(result: DoneResult, text: string, kept: Kept): DoneResult {
  const { data: _data, content, meta, ...rest } = result;
  const { id, bytes, expiresAt = 0 } = kept;
  const where =
    id === undefined
      ? 'The rest was not kept, because there is no room for it.'
      : `The whole is kept as "${id}" until ${new Date(expiresAt).toISOString()}; read parts of it with read_result.`;
  const preview: Content = {
    type: 'text',
    text: `${beginOf(text)}\n\n[This is the beginning of ${bytes} bytes. ${where}]`,
  };
  return {
    ...rest,
    content: [preview, ...content.filter(({ type }) => type !== 'text')],
    meta: { ...meta, 'toolcrib/result': id === undefined ? { bytes } : { id, bytes, expiresAt } },
  };
}

/** Never half a character. */
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
