import { readOptions } from '../../core/read-options.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ScriptConfig } from './script-kind.ts';
import type { ScriptLimits } from './script-messages.ts';
import type { MostScripts } from './script-slots.ts';

/** The bounds of one script. */
export interface ScriptBounds {
  readonly limits: ScriptLimits;
  readonly most: MostScripts;
}

const USUAL: ScriptLimits = {
  cpuMs: 5_000,
  memoryMb: 32,
  stackKb: 256,
  maxCalls: 200,
  parallelCalls: 20,
  maxOutputBytes: 1_000_000,
  journalMb: 16,
};
const USUAL_CONCURRENCY = 4;
const KEYS = [...Object.keys(USUAL), 'concurrency'] as const;

/** The bounds of a script: those of the configuration, tightened by the setting `script` of the profile. */
export function boundsOf(options: Partial<ScriptConfig>, call: ToolCall): ScriptBounds | ToolError {
  const { concurrency: inCrib = USUAL_CONCURRENCY, ...given } = options;
  const limits = { ...USUAL, ...given };
  const { script } = call.settings;
  if (script === undefined) return { limits, most: { inCrib } };
  try {
    const { concurrency, ...own } = readOptions<Record<string, unknown>>(script, KEYS, `The setting "script"`);
    const tightened = Object.entries(own).map(([key, value]) => [key, least(limits[key as keyof ScriptLimits], value)]); // one of KEYS
    const inProfile = concurrency === undefined ? undefined : least(inCrib, concurrency);
    return { limits: { ...limits, ...Object.fromEntries(tightened) }, most: { inCrib, inProfile } };
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const message = `"${call.spec.name}" cannot be called under profile "${call.profile}": ${cause.message}`;
    return toolError('unavailable', message, { cause });
  }
}

function least(limit: number, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return Math.min(limit, value);
  throw new ToolcribError('invalid_option', 'The limits in the setting "script" must be whole numbers above 0.');
}
