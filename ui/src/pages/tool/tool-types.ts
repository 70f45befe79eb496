import type { Answer } from '../../api/answer.ts';
import type { Schema } from '../../form/schema.ts';

/** One tool, as the server describes it. What its schemas and examples contain is not known. */
export interface ToolDetail extends Omit<Shown, 'examples' | 'inputSchema' | 'outputSchema' | 'tokens'> {
  readonly since?: string;
  readonly examples?: readonly ToolExample[];
  readonly inputSchema: Schema;
  readonly outputSchema?: Schema;
  readonly tokens: Readonly<Record<string, number>>;
}

type Shown = Answer<'/api/tools/{name}'>;

interface ToolExample {
  readonly request?: string;
  readonly input?: unknown;
}

export type ToolStats = Answer<'/api/tools/{name}/stats'>;

/** A recorded call in a list. */
export type CallRow = ToolStats['lastCalls'][number];
