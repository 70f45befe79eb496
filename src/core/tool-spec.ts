import { canonicalJson, type JsonObject, type JsonSchema, type MaybePromise } from './json.ts';
import type { Policy } from './policy.ts';
import { describe } from './read-options.ts';
import { type Issue, ToolcribError } from './tool-error.ts';

/** The key under which a spec carries its run. A symbol: spread copies it, JSON and structured clone drop it. `Symbol.for`, because a plugin may have its own copy of this package. */
export const RUN: unique symbol = Symbol.for('toolcrib.run');

/** The key of a spec in a file that was not parsed yet. Not enumerable, so copying a spec parses it. Not `Symbol.for`, so other code cannot set it. */
export const UNREAD: unique symbol = Symbol('toolcrib.unread');

/** Facts about a spec that need no parsing. */
export interface Unread {
  readonly kind: string;
  readonly needs?: readonly string[] | undefined;
  /** The validation rules under which it was valid when it was last parsed. */
  readonly rules: string;
  /** A positive integer that identifies the file content: as long as it is the same, so is the spec. */
  readonly mark: number;
}

/** The run of a tool: its kind and the fields of that kind. Never shown. */
export interface Run {
  readonly kind: string;
  /** Names of the services (`clock`) and settings (`setting:calendar`) that the tool needs. `clock?` is optional. */
  readonly needs?: readonly string[];
  /** Parses arguments by the author's own schema, if there is one besides the JSON Schema. */
  readonly parse?: Parse;
  readonly parseOutput?: Parse;
  /** Defaults of `call.settings`, set by the source. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly [WITHHELD]?: Withheld;
  readonly [UNCONFIRMED]?: true;
  readonly [REMOTE]?: true;
  readonly [SERVER]?: string;
  readonly [ELSEWHERE]?: true;
  readonly [field: string]: unknown;
}

/** The key of a tool from the cached list of a source that is unavailable: it is listed but cannot run. */
export const UNCONFIRMED: unique symbol = Symbol.for('toolcrib.unconfirmed');

/** Marks a tool of another process's cached list as unconfirmed: it may have been removed since. */
export function toUnconfirmed(spec: ToolSpec): ToolSpec {
  return Object.freeze({ ...spec, [RUN]: createRun({ ...spec[RUN], [UNCONFIRMED]: true }) });
}

/** The key of a tool whose source the operator did not write on this machine: it cannot loosen its own limits. A symbol, so spec data cannot set it. */
export const REMOTE: unique symbol = Symbol.for('toolcrib.remote');

/** The key of a text that identifies the server a tool runs on, if the source decides that. Another server makes it another tool. */
export const SERVER: unique symbol = Symbol.for('toolcrib.server');

/** The key of a tool that only workers can run, in a process that is not a worker: its run is unknown here except for the kind. */
export const ELSEWHERE: unique symbol = Symbol.for('toolcrib.elsewhere');

/** The key of arguments that the operator withholds from callers. A symbol, so spec data cannot set it. */
export const WITHHELD: unique symbol = Symbol.for('toolcrib.withheld');

/** Arguments that callers neither see nor set, and the check of all arguments together. */
export interface Withheld {
  /** The values that the tool gets regardless of the caller: fixed values, and defaults of hidden arguments. */
  readonly values: JsonObject;
  readonly fixed: readonly string[];
  readonly hidden: readonly string[];
  /** The schema of all arguments. */
  readonly input: JsonSchema;
  /** The author's own check of all arguments, if there is one. */
  readonly parse?: Parse;
}

/** Checks a value; returns the parsed value or the issues. */
export type Parse = (value: unknown) => MaybePromise<Parsed>;
export type Parsed =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** The part that came from the caller, if the tool gets more. */
      readonly given?: JsonObject;
    }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Effects of a tool. Absent means unknown. */
export interface Effects {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}
export const EFFECT_KEYS = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const;

/** An example request with the arguments that answer it. */
export interface ToolExample {
  readonly request?: string;
  readonly input?: JsonObject;
}

/** Conditions on machine and process under which a bundle or tool exists; all must hold. */
export interface When {
  readonly env?: string | readonly string[];
  readonly platform?: string | readonly string[];
  readonly service?: string | readonly string[];
  readonly predicate?: (surroundings: Surroundings) => boolean;
}

/** Input of a `when`. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly services: Readonly<Record<string, unknown>>;
}

/** A tool as data. Its run is attached under `RUN` and is never sent out. */
export interface ToolSpec {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly effects: Effects;
  readonly policy: Policy;
  readonly category?: string;
  readonly tags: readonly string[];
  readonly version?: string;
  /** Prompt text shown while the tool is active. */
  readonly instructions?: string;
  /** Names of other tools that this one needs to be useful. */
  readonly requires?: readonly string[];
  /** Higher comes first among its bundle's tools. */
  readonly priority?: number;
  readonly examples?: readonly ToolExample[];
  readonly when?: When;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** The name of the source it comes from. */
  readonly source: string;
  /** Its name at the source. */
  readonly origin: string;
  readonly [RUN]: Run;
  readonly [UNREAD]?: Unread;
}

/** The kind of a tool. Does not parse the spec. */
export function kindOf(spec: ToolSpec): string {
  return (spec[UNREAD] ?? spec[RUN]).kind;
}

/** The services and settings that a tool needs. Does not parse the spec. */
export function needsOf(spec: ToolSpec): readonly string[] {
  return (spec[UNREAD] ?? spec[RUN]).needs ?? NO_NEEDS;
}

/** True for a tool that only workers can run, in a process that is not a worker. Does not parse the spec. */
export function isElsewhere(spec: ToolSpec): boolean {
  return spec[UNREAD] === undefined && spec[RUN][ELSEWHERE] === true;
}

/** One need of a tool: a service or a setting, optional with a question mark. */
export interface Need {
  readonly name: string;
  readonly isSetting: boolean;
  readonly isOptional: boolean;
}

const SETTING = 'setting:';

/** Parses `clock`, `setting:calendar` or `clock?`. */
export function readNeed(need: string): Need {
  const isOptional = need.endsWith('?');
  const whole = isOptional ? need.slice(0, -1) : need;
  const isSetting = whole.startsWith(SETTING);
  return { name: isSetting ? whole.slice(SETTING.length) : whole, isSetting, isOptional };
}

const NO_NEEDS: readonly string[] = Object.freeze([]);

const sealed = () => '[run]';
const SEAL: object = Object.defineProperties(
  {},
  { toJSON: { value: sealed }, [Symbol.for('nodejs.util.inspect.custom')]: { value: sealed } },
);

/** Seals a run: printing or serializing it gives only `[run]`. */
export function createRun(fields: Run): Run {
  return Object.freeze({ __proto__: SEAL, ...fields });
}

/** True if two specs of one name have the same data and the same run. */
export function isSameTool(a: ToolSpec, b: ToolSpec): boolean {
  if (a === b) return true;
  const functionsOf = ({ [RUN]: run }: ToolSpec) =>
    [...Object.values(run), run[WITHHELD]?.parse].filter((field) => typeof field === 'function');
  const before = functionsOf(a);
  const after = functionsOf(b);
  if (before.length !== after.length || before.some((work, index) => work !== after[index])) return false;
  return canonicalJson(a) === canonicalJson(b) && runText(a[RUN]) === runText(b[RUN]);
}

/** All data of a run as text, for comparing and hashing only. */
function runText(run: Run): string {
  return canonicalJson([{ ...run }, run[WITHHELD] ?? null]);
}

// `__proto__` would replace the prototype of an object that lists tools by name.
const TOOL_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]{0,47}$/;

/** True for a name that every vendor accepts. */
export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && TOOL_NAME.test(name);
}

/** Throws for a name that some vendor would not accept. */
export function requireToolName(name: unknown): asserts name is string {
  if (isToolName(name)) return;
  if (name === '__proto__')
    throw new ToolcribError('invalid_name', '"__proto__" is not a tool name: JavaScript reserves it.');
  throw new ToolcribError(
    'invalid_name',
    `${describe(name)} is not a tool name: use letters, digits, "_" and "-", not starting with a digit or "-", at most 48 characters.`,
  );
}

/** Converts a remote name to one that every vendor accepts: other characters become `_`, and a long name ends in a hash. */
export function toToolName(name: string, sha256Hex: (text: string) => string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[\d-]|$)/, '_');
  if (safe === '__proto__') return 'proto';
  return safe.length <= 48 ? safe : `${safe.slice(0, 39)}_${sha256Hex(name).slice(0, 8)}`;
}
