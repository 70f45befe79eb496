import { type Extension, FORESEE, type Foresight } from '../core/extension.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf, type ToolError, toolError } from '../core/tool-error.ts';
import { done, type ToolResult } from '../core/tool-result.ts';

/** The verdict of one gate about a call. */
export interface LayerVerdict {
  /** The name of the extension, or `entry` for what is decided before any of them. */
  readonly layer: string;
  readonly verdict: Foresight['verdict'];
  readonly says: string;
  /** Prices and limits behind the reason, for operators. */
  readonly detail?: string;
  readonly error?: ToolError;
}

/** Receives the verdicts about a call that is not made. */
export interface DryRun {
  layers: readonly LayerVerdict[];
}

/** The words about a gate that cannot tell in advance. */
export const DECIDES_LATER = 'This extension decides when the call is made.';

interface Judging {
  /** The reason why the call would be refused before any gate. */
  readonly refusal: ToolError | undefined;
  readonly dryRun: DryRun;
}

/** Asks each gate, outermost first, what it would do. Stops where a gate further in would see arguments that are not valid. */
export async function judgeCall(
  call: ToolCall,
  gates: readonly Extension[],
  { refusal, dryRun }: Judging,
): Promise<ToolResult> {
  if (refusal !== undefined) {
    dryRun.layers = [{ layer: 'entry', verdict: 'refuse', says: refusal.message, error: refusal }];
    return done('');
  }
  const layers: LayerVerdict[] = [];
  let judged = call;
  for (const gate of gates) {
    const foreseen = await foresee(gate, judged);
    if (foreseen === undefined) continue;
    const { call: next = judged, ...verdict } = foreseen;
    layers.push({ layer: gate.name, ...verdict });
    judged = next;
    if (verdict.error?.code === 'invalid_input') break;
  }
  dryRun.layers = layers;
  return done('');
}

/** A gate that fails would refuse the call. */
async function foresee(gate: Extension, call: ToolCall): Promise<Foresight | undefined> {
  const judge = gate[FORESEE];
  if (judge === undefined) return { verdict: 'unknown', says: DECIDES_LATER };
  try {
    return await judge.call(gate, call);
  } catch (cause) {
    const error = toolError('internal', `The extension "${gate.name}" failed: ${messageOf(cause)}`, { cause });
    return { verdict: 'refuse', says: `The extension "${gate.name}" failed, so it would refuse the call.`, error };
  }
}
