import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import { type Content, type DoneResult, type ToolResult, textOf } from '../core/tool-result.ts';

export interface OffloadOptions {
  /** From how many bytes on a result is kept and only its beginning handed over; 100,000 if absent. */
  readonly offloadBytes?: number;
  /** How long it is kept; a day if absent. */
  readonly keepMs?: number;
  /** How many bytes all kept results may take together; 1,000,000,000 if absent. */
  readonly quotaBytes?: number;
}

export interface OffloadPorts {
  readonly results: StoredResults;
  now(): number;
  newId(): string;
  /** The data without the values of secrets. */
  withoutSecrets<T>(data: T): T;
  warn(message: string): void;
}

const PREVIEW_CHARACTERS = 2000;
const LARGEST_BYTES = 100_000_000;

/** Keeps large results for their caller and hands over the beginning, with the name under which the rest can be read. */
export function offload(options: OffloadOptions & OffloadPorts): Extension {
  const { offloadBytes = 100_000, keepMs = 86_400_000, quotaBytes = 1_000_000_000, results } = options;

  const keep = async (call: ToolCall, result: DoneResult, text: string, bytes: number): Promise<DoneResult> => {
    const kept: KeptResult = {
      id: options.newId(),
      owner: call.caller.id ?? '',
      tool: call.spec.name,
      // The caller has been given what the tool answered; what lies in the store tells no secret.
      ...options.withoutSecrets({ text, ...(result.data !== undefined && !isJson(text) && { data: result.data }) }),
      expiresAt: Math.round(options.now() + keepMs),
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
    name: 'offload',
    priority: 285,
    unsafeOrder: true,
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
