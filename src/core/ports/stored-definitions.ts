import type { JsonObject } from '../json.ts';

/** The definitions of tools as the crib saw them, by tool and hash. */
export interface StoredDefinitions {
  /** All definitions, without their content. */
  seen(): Promise<readonly SeenHash[]>;
  /** Adds definitions that are not stored yet. Old ones of the same tools are removed beyond a limit, and all that were not seen for a year. */
  add(definitions: readonly NewDefinition[]): Promise<void>;
  /** Records that definitions were seen now. */
  touch(definitions: readonly Pick<SeenHash, 'tool' | 'hash'>[]): Promise<void>;
  /** The definitions of one tool, last seen first. */
  of(tool: string): Promise<readonly SeenDefinition[]>;
}

/** A stored definition without its content. */
interface SeenHash {
  readonly tool: string;
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly lastSeen: number;
}

/** A definition to store. */
interface NewDefinition {
  readonly tool: string;
  readonly hash: string;
  readonly source: string;
  readonly definition: JsonObject;
}

/** A definition with the times at which the crib first and last saw it. */
export interface SeenDefinition extends NewDefinition {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Maximum number of definitions kept for a tool. */
export const MOST_DEFINITIONS = 50;
/** Maximum number of definitions kept in all: a server may list tools of other names at every change. */
export const MOST_DEFINITIONS_IN_ALL = 50_000;

/** Maximum size of the definitions kept for a source, and their number: no server takes the place of the definitions of others. */
export const MOST_OF_SOURCE = { bytes: 64_000_000, definitions: 25_000 } as const;

/** Requests in words with the tools that answer them, for measuring search. */
export interface StoredLabels {
  /** All labels, newest first. */
  list(): Promise<readonly StoredLabel[]>;
  /** Adds a label, or replaces the one of the same request. Undefined if the limit of labels is reached. */
  put(label: Pick<StoredLabel, 'query' | 'relevant' | 'by'>): Promise<StoredLabel | undefined>;
  /** False if the label does not exist. */
  remove(id: string): Promise<boolean>;
}

/** A labelled request. */
export interface StoredLabel {
  readonly id: string;
  readonly query: string;
  /** Names of tools; empty if no tool fits. */
  readonly relevant: readonly string[];
  readonly by: string;
  readonly at: number;
}

/** Maximum number of labels. */
export const MOST_LABELS = 10_000;
