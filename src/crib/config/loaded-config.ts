import type { ConfigText, Mistake, Path } from '../../config/config-text.ts';
import type { Position } from '../../config/parse-config.ts';
import type { WrittenConfig } from '../../config/types/config.ts';
import type { McpFileSourceConfig, WrittenSource } from '../../config/types/sources.ts';
import type { LoadedExamples } from '../enrich/examples-file.ts';

/** Names of a configuration file in the working directory, in order of preference. */
export const CONFIG_FILE_NAMES = ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json'];

/** Name of the source of the tools written under `tools`. */
export const INLINE = 'inline';

/** A checked source. One key names its kind. */
export type SourceConfig = Exclude<WrittenSource, McpFileSourceConfig>;

/** A checked configuration: variables expanded, paths absolute, every MCP server a source. */
export interface Config extends Omit<WrittenConfig, '$schema' | 'sources' | 'mcpServers'> {
  /** In configuration order, without sources that have problems. */
  readonly sources: Readonly<Record<string, SourceConfig>>;
}

/** The reason why a source, or a tool of the source `inline`, is skipped. */
export interface ConfigProblem {
  readonly source: string;
  readonly message: string;
  /** The file as shown to users; absent for a configuration given as an object. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** A source of a configuration, valid or not. */
export interface DeclaredSource {
  readonly name: string;
  /** The entry that declares it: its own, or the one that names its file. */
  readonly from: string;
}

/** A configuration with everything found while reading it. */
export interface LoadedConfig {
  /** Absent without a file, and for a configuration given as an object. */
  readonly file?: string;
  /** True for an empty file. */
  readonly isEmpty?: boolean;
  /** Base of relative paths. */
  readonly folder: string;
  readonly config: Config;
  /** The raw data, including entries with problems. */
  readonly written: unknown;
  /** In configuration order, including sources with problems. */
  readonly declared: readonly DeclaredSource[];
  readonly problems: readonly ConfigProblem[];
  /** Index of each of `config.tools` in the list as written. */
  readonly toolIndexes: readonly number[];
  /** Notes about entries that are valid but probably a mistake, or have no effect. */
  readonly notes: readonly string[];
  /** Explains how entries pasted from other programs were read. */
  readonly readings: readonly string[];
  /** The file of `retrieval.examples`. */
  readonly examples: LoadedExamples | undefined;
  /** Every file that was read, for watching. */
  readonly files: readonly string[];
  /** Position in the file, for mistakes that are found later. */
  locate(path: Path): Position | undefined;
  /** Formats a mistake that is found later, with position and excerpt. */
  show(path: Path, message: string): string;
}

/** Turns a mistake inside a source into the problem of that source. */
export function toProblem(source: string, mistake: Mistake, text: ConfigText): ConfigProblem {
  const position = text.locate(mistake);
  const { message } = mistake;
  return position === undefined ? { source, message } : { source, message, file: text.shownAs, ...position };
}

/** A problem as one sentence with its position and source. */
export function inWords(problem: ConfigProblem): string {
  return `${placeOf(problem)}Source "${problem.source}": ${problem.message}`;
}

/** A problem without the name of its source. */
export function reasonOf(problem: ConfigProblem): string {
  return `${placeOf(problem)}${problem.message}`;
}

function placeOf({ file, line }: ConfigProblem): string {
  return file === undefined ? '' : `${file}:${line}: `;
}
