import type { MaybePromise } from '../core/json.ts';
import type { Source } from '../core/source.ts';

/** A source to be tested, and what it can be tested with. Laws for which there is no case are left out. */
export interface SourceSubject {
  /** Makes one of its own for each test. Nothing happens before it is started. */
  create(): MaybePromise<Source>;
  /** The names of the tools that it lists, in any order. */
  readonly names: readonly string[];
  /** How what it lists changes while it runs. */
  readonly changes?: {
    /** Changes it where it comes from. */
    change(): MaybePromise<void>;
    /** What is listed then. */
    readonly names: readonly string[];
    /** Puts it back for the next test. */
    restore(): MaybePromise<void>;
  };
  /** Makes one whose origin is not there. */
  createBroken?(): MaybePromise<Source>;
  /** Makes one whose origin never answers. */
  createStuck?(): MaybePromise<Source>;
  /** True if nothing of it is left after it was closed: no process, no socket, no file that is watched. It may wait for what others have to notice. */
  isGone?(): MaybePromise<boolean>;
}
