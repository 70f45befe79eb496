import { ToolcribError } from '../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';

const FIRST_KEYS = ['effects', 'policy', 'tags', 'category', 'requires', 'priority', 'when'] as const;
/** Members that some specs have and nobody asks for before a tool is shown or called. */
export const LATER_KEYS = ['title', 'output', 'version', 'instructions', 'examples', 'meta'] as const;
type FirstKey = (typeof FIRST_KEYS)[number];
export type LaterKey = (typeof LATER_KEYS)[number];

const FIRST: ReadonlySet<string> = new Set(FIRST_KEYS);
const LATER: ReadonlySet<string> = new Set(LATER_KEYS);
const OTHERS: ReadonlySet<string> = new Set(['name', 'description', 'input', 'source', 'origin']);

/** What every spec is asked for when a crib starts, and the names of what it is asked for later. */
export interface SpecHead {
  /** As it could stand in a list of specs, but for its name. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Members the spec has besides those that every spec has. */
  readonly later: readonly LaterKey[];
}

/** A head that was checked, as a spec with which others share their first members. */
export interface HeadPattern {
  readonly head: SpecHead;
  readonly spec: ToolSpec;
  /** By which those others were found good. */
  readonly rules: string;
}

/** What heads are checked by. */
export interface HeadReader {
  readonly rules: string;
  read(entry: unknown): ToolSpec;
}

/** The head of a spec; nothing for one that has members of which heads do not know, or that JSON does not keep. */
export function headOf(spec: ToolSpec): SpecHead | undefined {
  if (spec.priority !== undefined && !isKeptByJson(spec.priority)) return undefined;
  const { kind, needs } = spec[RUN];
  const entry: Record<string, unknown> = { run: { kind } };
  if (needs !== undefined) entry.needs = needs;
  const later: LaterKey[] = [];
  const hasPolicy = Object.keys(spec.policy).length > 0;
  for (const key in spec) {
    if (key === 'policy' && !hasPolicy) continue; // all that have none share one
    if (FIRST.has(key))
      entry[key] = spec[key as FirstKey]; // seen to be one
    else if (LATER.has(key))
      later.push(key as LaterKey); // likewise
    else if (!OTHERS.has(key)) return undefined;
  }
  return { entry, later };
}

/** Checks a head like any entry, which it then belongs to. Throws a `ToolcribError` for what is none. */
export function toPattern(head: unknown, { read, rules }: HeadReader): HeadPattern {
  const { entry, later } = (head ?? {}) as Record<keyof SpecHead, unknown>; // read as unknown
  if (typeof entry !== 'object' || !isLater(later)) throw noHead();
  const spec = read({ ...entry, name: 'head' });
  const checked = headOf(spec);
  if (checked === undefined) throw noHead();
  return { spec, head: { entry: checked.entry, later }, rules };
}

function isKeptByJson(priority: unknown): boolean {
  return Number.isFinite(priority) && !Object.is(priority, -0); // nobody has looked whether it is a number
}

function isLater(value: unknown): value is readonly LaterKey[] {
  return Array.isArray(value) && value.every((key) => LATER.has(key)) && new Set(value).size === value.length;
}

function noHead(): ToolcribError {
  return new ToolcribError('not_a_tool', 'This is not the head of a tool.');
}
