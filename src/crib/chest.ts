import type { CallOptions } from '../call/call.ts';
import type { SearchHit, SearchOptions } from '../core/retriever.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer, ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { Activation } from './catalog/activation.ts';
import type { Section } from './catalog/sections.ts';
import type { DeprecatedNames } from './deprecated.ts';

/** One caller's box under one profile: the place where calls enter. There is nothing to close. */
export interface Chest extends Omit<Activation, 'version'>, DeprecatedNames {
  readonly profile: string;
  /** What a model is shown, in catalog order: the active tools, or with `expose: search` those of essential bundles and what finds and calls the others. */
  list(): readonly ToolSpec[];
  /** The active tools, in catalog order, however they are exposed. */
  listActive(): readonly ToolSpec[];
  /** A tool of the view, active or not. */
  get(name: string): ToolSpec | undefined;
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Always resolves; what went wrong is in the result. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<ToolResult>;
  /** All at once; answers in the order of the calls, each with its id. */
  callAll(calls: readonly CallRequest[], options?: CallOptions): Promise<readonly CallAnswer[]>;
  /** The prompt texts of what is active, joined by blank lines. */
  instructions(): string;
  sections(): readonly Section[];
}
