import { isRecord } from '../../core/json.ts';
import { parseExact } from '../../system/exact-json.ts';

/** A parsed body, or why it is refused. */
export type ParsedMessage =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly isJson: boolean; readonly id: unknown; readonly message: string };

/** Parses a JSON-RPC message. Of integers that would be rounded, the crib refuses and records those in arguments of a call. */
export function parseMessage(text: string): ParsedMessage {
  try {
    const { value, inexact } = parseExact(text, ['params', 'arguments']);
    const [wrong] = inexact;
    if (wrong === undefined) return { ok: true, body: value };
    const id = isRecord(value) ? value.id : undefined;
    return { ok: false, isJson: true, id, message: `Invalid request: ${wrong.path} ${wrong.message}.` };
  } catch {
    return { ok: false, isJson: false, id: undefined, message: 'Parse error: the request body is not JSON.' };
  }
}
