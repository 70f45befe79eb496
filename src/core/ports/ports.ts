import type { JsonSchema } from '../json.ts';
import type { Parse, ToolSpec } from '../tool-spec.ts';

/** Time, so that tests can own it. */
export interface Clock {
  /** Milliseconds since 1970 that never run backwards. */
  now(): number;
  /** Runs `task` once after `delayMs`; returns how to stop it. */
  setTimer(delayMs: number, task: () => void): () => void;
}

/** Compiles schemas, lazily and once. A schema that does not compile throws a `ToolcribError`. */
export interface Schemas {
  /** The check of a tool's arguments: the author's own schema where there is one, else the JSON Schema. */
  input(spec: ToolSpec): Parse;
  output(spec: ToolSpec): Parse;
  /** The check of any JSON Schema. */
  parser(schema: JsonSchema): Parse;
  /** What keeps `schema` from being used: remote references, patterns that could hang. */
  problems(schema: JsonSchema): readonly string[];
}
