import type { FlagName, Flags } from './flags.ts';

/** 0 ok, 1 the call failed or was refused, 2 usage or configuration, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** The words and flags of a command line. */
export interface Invocation {
  readonly words: readonly string[];
  readonly flags: Flags;
  /** The values of flags that this command takes several times. */
  readonly lists?: FlagLists;
}

type FlagLists = Readonly<Partial<Record<FlagName, readonly string[]>>>;

export type RunCommand = (invocation: Invocation) => Promise<ExitCode>;

/** A positional word, for checks, help and completion. */
export interface CommandWord {
  readonly name: string;
  readonly optional?: true;
  /** Takes any number of words. */
  readonly many?: true;
  readonly values?: readonly string[];
  readonly completes?: 'tool' | 'argument' | 'file' | 'command' | 'spec' | 'source' | 'target';
}

/** One command as data. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly words?: readonly CommandWord[];
  readonly flags?: readonly FlagName[];
  /** The allowed values of flags whose values depend on the command. */
  readonly values?: FlagLists;
  /** Flags that this command takes several times, although others take them once. */
  readonly repeats?: readonly FlagName[];
  readonly examples?: readonly string[];
  /** Imports the code of the command; called only when it runs. */
  load?(): Promise<RunCommand>;
  /** Planned, but not available in this version. */
  readonly isLater?: true;
}
