import { canonicalJson, type JsonObject, type JsonSchema, type MaybePromise } from './json.ts';
import type { Policy } from './policy.ts';
import { describe } from './read-options.ts';
import { type Issue, ToolcribError } from './tool-error.ts';

/** The key under which a spec carries how it runs. A symbol: spread copies it; JSON and structured clone drop it. Shared, because a plugin may have another copy of this package. */
export const RUN: unique symbol = Symbol.for('toolcrib.run');

/** The key under which a spec that stands in a file and was not parsed yet carries what is known of it. Not enumerable: who copies a spec has it parsed. Not shared either: nobody else may claim it. */
export const UNREAD: unique symbol = Symbol('toolcrib.unread');

/** What can be said of a spec without parsing it. */
export interface Unread {
  readonly kind: string;
  readonly needs?: readonly string[] | undefined;
  /** The rules by which a crib found it good when it was parsed last. */
  readonly rules: string;
  /** A whole number above nought for what stands there: as long as it is the same, so is what the spec says. */
  readonly mark: number;
}

/** How a tool runs: its kind and that kind's own fields. Never shown to anybody. */
export interface Run {
  readonly kind: string;
  /** Names of services (`clock`) and settings (`setting:calendar`) without which the tool cannot run; `clock?`: it gets the service where there is one. */
  readonly needs?: readonly string[];
  /** Reads arguments by the author's own schema, where there is one beside the JSON Schema. */
  readonly parse?: Parse;
  readonly parseOutput?: Parse;
  /** Defaults of `call.settings`, given by its source. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly [WITHHELD]?: Withheld;
  readonly [UNCONFIRMED]?: true;
  readonly [REMOTE]?: true;
  readonly [SERVER]?: string;
  readonly [field: string]: unknown;
}

/** The key of a tool that stands in the last known list of its source, which cannot be asked: it is listed and not run. */
export const UNCONFIRMED: unique symbol = Symbol.for('toolcrib.unconfirmed');

/** A tool of the last list of another process: it may have been taken back since. */
export function toUnconfirmed(spec: ToolSpec): ToolSpec {
  return Object.freeze({ ...spec, [RUN]: createRun({ ...spec[RUN], [UNCONFIRMED]: true }) });
}

/** The key of a tool whose source the owner did not write on this machine: what it says against its own limits does not count. A symbol: no spec can bring it as data. */
export const REMOTE: unique symbol = Symbol.for('toolcrib.remote');

/** The key of a text that stands for the server that a tool runs on, where its source decides that: another server is another tool. */
export const SERVER: unique symbol = Symbol.for('toolcrib.server');

/** The key of the arguments that the owner withholds from callers. A symbol: no spec can bring it as data. */
export const WITHHELD: unique symbol = Symbol.for('toolcrib.withheld');

/** Arguments that callers neither see nor give, and how all arguments are checked together. */
export interface Withheld {
  /** What the tool gets, whatever callers send: the fixed ones, and the defaults of hidden ones. */
  readonly values: JsonObject;
  readonly fixed: readonly string[];
  readonly hidden: readonly string[];
  /** The schema of all arguments. */
  readonly input: JsonSchema;
  /** The author's own check of all arguments, where there is one. */
  readonly parse?: Parse;
}

/** Checks a value and returns what it means, or what is wrong with it. */
export type Parse = (value: unknown) => MaybePromise<Parsed>;
export type Parsed =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** What of it came from the caller, where the tool gets more. */
      readonly given?: JsonObject;
    }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** What a tool does to the world. Absent means unknown. */
export interface Effects {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}
export const EFFECT_KEYS = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const;

/** A request in words and the arguments that answer it. */
export interface ToolExample {
  readonly request?: string;
  readonly input?: JsonObject;
}

/** Conditions of this machine and process under which a bundle or tool exists; all must hold. */
export interface When {
  readonly env?: string | readonly string[];
  readonly platform?: string | readonly string[];
  readonly service?: string | readonly string[];
  readonly predicate?: (surroundings: Surroundings) => boolean;
}

/** What a `when` looks at. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly services: Readonly<Record<string, unknown>>;
}

/** One tool as data. How it runs is attached under `RUN` but never leaves. */
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
  /** Names of other tools without which this one is of little use. */
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

/** The kind that a tool runs as; no reason to parse one. */
export function kindOf(spec: ToolSpec): string {
  return (spec[UNREAD] ?? spec[RUN]).kind;
}

/** The services and settings without which a tool cannot run; no reason to parse one. */
export function needsOf(spec: ToolSpec): readonly string[] {
  return (spec[UNREAD] ?? spec[RUN]).needs ?? NO_NEEDS;
}

/** One thing that a tool asks for: a service or a setting, which it can do without where a question mark follows. */
export interface Need {
  readonly name: string;
  readonly isSetting: boolean;
  readonly isOptional: boolean;
}

const SETTING = 'setting:';

/** Takes `clock`, `setting:calendar` or `clock?` apart. */
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

/** Seals how a tool runs: printing or serialising it says `[run]` and nothing else. */
export function createRun(fields: Run): Run {
  return Object.freeze({ __proto__: SEAL, ...fields });
}

/** True if two specs of one name say the same and run the same. */
export function isSameTool(a: ToolSpec, b: ToolSpec): boolean {
  if (a === b) return true;
  const functionsOf = ({ [RUN]: run }: ToolSpec) =>
    [...Object.values(run), run[WITHHELD]?.parse].filter((field) => typeof field === 'function');
  const before = functionsOf(a);
  const after = functionsOf(b);
  if (before.length !== after.length || before.some((work, index) => work !== after[index])) return false;
  return canonicalJson(a) === canonicalJson(b) && runText(a[RUN]) === runText(b[RUN]);
}

/** Everything about how a tool runs that is data, as text: to compare and to hash, never to show. */
function runText(run: Run): string {
  return canonicalJson([{ ...run }, run[WITHHELD] ?? null]);
}

const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,47}$/;

/** True for a name that every vendor accepts as it is. */
export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && TOOL_NAME.test(name);
}

/** Throws where a name would have to be changed for some vendor. */
export function requireToolName(name: unknown): asserts name is string {
  if (isToolName(name)) return;
  throw new ToolcribError(
    'invalid_name',
    `${describe(name)} is not a tool name: use letters, digits, "_" and "-", not starting with a digit or "-", at most 48 characters.`,
  );
}

/** A remote name made safe for every vendor: other characters become `_`; too long ends in a hash of the whole. */
export function toToolName(name: string, sha256Hex: (text: string) => string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[\d-]|$)/, '_');
  return safe.length <= 48 ? safe : `${safe.slice(0, 39)}_${sha256Hex(name).slice(0, 8)}`;
}
