import type { ToolResult } from '../core/tool-result.ts';

/** What a format needs of a chest to run tools: its `call`. */
export interface ChestLike {
  call(name: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>;
}

/** Calls a tool under the signal of a vendor's loop, where it has one. */
export function callUnder(
  chest: ChestLike,
  name: string,
  asked: { readonly input: unknown; readonly signal: AbortSignal | undefined },
): Promise<ToolResult> {
  return chest.call(name, asked.input, asked.signal === undefined ? {} : { signal: asked.signal });
}
