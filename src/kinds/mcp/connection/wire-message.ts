import { isJsonObject } from '../../../core/json.ts';

/** A message of JSON-RPC, as far as it was looked at. */
export interface WireMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The most that one message may have; whatever is longer is not even parsed. */
export const MAX_MESSAGE_BYTES = 10_000_000;

/** Our own code for an answer that was too long to be read; JSON-RPC leaves these numbers to programs. */
export const TOO_LARGE = -31_999;

/** A message, if the text is one. */
export function readMessage(text: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && value.jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

// Programs write the id of an answer either before or after everything else.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** The id of an answer of which only both ends are known. */
export function idOfEnds(head: string, tail: string): number | undefined {
  const found = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1];
  return found === undefined ? undefined : Number(found);
}
