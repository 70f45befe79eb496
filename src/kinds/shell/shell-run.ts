import type { JsonSchema } from '../../core/json.ts';
import type { Run } from '../../core/tool-spec.ts';

/** Whether a command runs in a sandbox: nowhere else, where there is one, or never. */
export const SANDBOX_MODES = ['required', 'preferred', 'none'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What a command may use up. */
export interface ShellLimits {
  readonly cpuSeconds?: number;
  /** Of address space, for each process. */
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** The largest file that it may write. */
  readonly fileBytes?: number;
}

/** What a command may see, and how much it may use. */
interface ShellSandbox {
  readonly mode?: SandboxMode;
  readonly read?: string | readonly string[];
  readonly write?: string | readonly string[];
  readonly network?: boolean;
  readonly limits?: ShellLimits;
}

/** How a command runs: `{name}` stands for an argument of the call, a list inside the command for a group that may be left out. */
export interface ShellRun extends Run {
  readonly kind: 'shell';
  readonly command: readonly (string | readonly string[])[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | number | boolean>>;
  readonly stdin?: string;
  readonly result?: 'text' | 'lines' | 'json';
  /** The placeholders that are paths; absent means that their names and formats tell. */
  readonly paths?: readonly string[];
  /** The paths that the program only reads: they need not lie in a folder that may be written. */
  readonly reads?: readonly string[];
  /** The placeholders whose values may begin with a dash where an argument begins with them. */
  readonly allowDashes?: readonly string[];
  readonly sandbox?: ShellSandbox;
}

const TEXT = { type: 'string' } as const;
const NAMES = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const PATHS = { anyOf: [{ type: 'string', minLength: 1 }, NAMES] } as const;
const COUNT = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/** What a run of a command looks like. */
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
