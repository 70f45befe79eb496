import type { ConfigText, Mistake, Path } from '../../config/config-text.ts';
import type { Position } from '../../config/parse-config.ts';
import type { WrittenConfig } from '../../config/types/config.ts';
import type { McpFileSourceConfig, WrittenSource } from '../../config/types/sources.ts';

/** Names of a configuration in the working directory; the first that is there is read. */
export const CONFIG_FILE_NAMES = ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json'];

/** The source of the tools that stand in the configuration itself. */
export const INLINE = 'inline';

/** A source as it is read: told apart by the one key that names its kind. */
export type SourceConfig = Exclude<WrittenSource, McpFileSourceConfig>;

/** A configuration as it is read: checked, variables filled in, paths absolute, every MCP server a source. */
export interface Config extends Omit<WrittenConfig, '$schema' | 'sources' | 'mcpServers'> {
  /** In the order of the configuration, without those that have problems. */
  readonly sources: Readonly<Record<string, SourceConfig>>;
}

/** Why a source, or a tool of the source `inline`, is left out. */
export interface ConfigProblem {
  readonly source: string;
  readonly message: string;
  /** As it is shown; absent for a configuration that was given as an object. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** A source that stands in a configuration, readable or not. */
export interface DeclaredSource {
  readonly name: string;
  /** The entry that it comes from: its own, or the one that names its file. */
  readonly from: string;
}

/** A configuration that was read. */
export interface LoadedConfig {
  /** Absent if there is none, or if it was given as an object. */
  readonly file?: string;
  /** True for a file in which nothing stands. */
  readonly isEmpty?: boolean;
  /** Relative paths started here. */
  readonly folder: string;
  readonly config: Config;
  /** The data as they were written, entries with problems included. */
  readonly written: unknown;
  /** In their order, those with problems included. */
  readonly declared: readonly DeclaredSource[];
  readonly problems: readonly ConfigProblem[];
  /** The place of each of `config.tools` in the list as it was written. */
  readonly toolIndexes: readonly number[];
  /** What is allowed but hardly meant, or without effect. */
  readonly notes: readonly string[];
  /** How entries that were pasted from other programs were read. */
  readonly readings: readonly string[];
  /** Every file that was read: what to watch. */
  readonly files: readonly string[];
  /** Where something stands in the file, for mistakes that others find later. */
  locate(path: Path): Position | undefined;
  /** A mistake that others find later, with its place and its line. */
  show(path: Path, message: string): string;
}

/** A mistake inside a source, as the reason why that source is left out. */
export function toProblem(source: string, mistake: Mistake, text: ConfigText): ConfigProblem {
  const position = text.locate(mistake);
  const { message } = mistake;
  return position === undefined ? { source, message } : { source, message, file: text.shownAs, ...position };
}

/** A problem as one sentence with its place. */
export function inWords(problem: ConfigProblem): string {
  return `${placeOf(problem)}Source "${problem.source}": ${problem.message}`;
}

/** The same for a reader who knows which source is meant. */
export function reasonOf(problem: ConfigProblem): string {
  return `${placeOf(problem)}${problem.message}`;
}

function placeOf({ file, line }: ConfigProblem): string {
  return file === undefined ? '' : `${file}:${line}: `;
}
