import type { JsonSchema } from '../../core/json.ts';
import type { Run } from '../../core/tool-spec.ts';

/** Sandbox modes: always in a sandbox, in one if available, or never. */
export const SANDBOX_MODES = ['required', 'preferred', 'none'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Resource limits of a command. */
export interface ShellLimits {
  readonly cpuSeconds?: number;
  /** Address space of each process. */
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** Largest file that it may write. */
  readonly fileBytes?: number;
}

/** Access and resource limits of a command. */
interface ShellSandbox {
  readonly mode?: SandboxMode;
  readonly read?: string | readonly string[];
  readonly write?: string | readonly string[];
  readonly network?: boolean;
  readonly limits?: ShellLimits;
}

/** The `run` of a command: `{name}` is an argument of the call, a list inside the command is an optional group. */
export interface ShellRun extends Run {
  readonly kind: 'shell';
  readonly command: readonly (string | readonly string[])[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | number | boolean>>;
  readonly stdin?: string;
  readonly result?: 'text' | 'lines' | 'json';
  /** Placeholders that are paths; if absent, detected by their names and formats. */
  readonly paths?: readonly string[];
  /** Paths that the program only reads; they need not be in a writable folder. */
  readonly reads?: readonly string[];
  /** Placeholders whose values may start with a dash at the start of an argument. */
  readonly allowDashes?: readonly string[];
  readonly sandbox?: ShellSandbox;
}

const TEXT = { type: 'string' } as const;
const NAMES = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const PATHS = { anyOf: [{ type: 'string', minLength: 1 }, NAMES] } as const;
const COUNT = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/** The schema of a `run` of the kind `shell`. */
export const SHELL_RUN_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['command'],
  properties: {
    kind: { const: 'shell' },
    command: { type: 'array', minItems: 1, items: { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] } },
    cwd: { type: 'string', minLength: 1 },
    env: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: { type: ['string', 'number', 'boolean'] },
    },
    stdin: TEXT,
    result: { enum: ['text', 'lines', 'json'] },
    paths: NAMES,
    reads: NAMES,
    allowDashes: NAMES,
    sandbox: {
      type: 'object',
      properties: {
        mode: { enum: [...SANDBOX_MODES] },
        read: PATHS,
        write: PATHS,
        network: { type: 'boolean' },
        limits: {
          type: 'object',
          properties: { cpuSeconds: COUNT, memoryBytes: COUNT, processes: COUNT, fileBytes: COUNT },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
