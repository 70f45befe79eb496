import { readOptions } from '../../core/read-options.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ScriptConfig } from './script-kind.ts';
import type { ScriptLimits } from './script-messages.ts';

const USUAL: ScriptLimits = {
  cpuMs: 5_000,
  memoryMb: 32,
  stackKb: 256,
  maxCalls: 200,
  parallelCalls: 20,
  maxOutputBytes: 1_000_000,
  journalMb: 16,
};
const KEYS = Object.keys(USUAL) as readonly (keyof ScriptLimits)[]; // its own keys

/** The limits of a script: those of the configuration, tightened by the setting `script` of the profile. */
export function limitsOf(options: Partial<ScriptConfig>, call: ToolCall): ScriptLimits | ToolError {
  const { concurrency: _concurrency, ...given } = options;
  const limits = { ...USUAL, ...given };
  const { script } = call.settings;
  if (script === undefined) return limits;
  try {
    const own = readOptions<Record<keyof ScriptLimits, unknown>>(script, KEYS, `The setting "script"`);
    const tightened = Object.entries(own).map(([key, value]) => [key, least(limits[key as keyof ScriptLimits], value)]); // one of KEYS
    return { ...limits, ...Object.fromEntries(tightened) };
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
