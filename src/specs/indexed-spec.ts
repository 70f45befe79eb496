import { ToolcribError } from '../core/tool-error.ts';
import { createRun, RUN, type ToolSpec, UNREAD, type Unread } from '../core/tool-spec.ts';
import { isSameData } from './spec-list.ts';

const FIRST_KEYS = ['effects', 'policy', 'tags', 'category', 'requires', 'priority', 'when'] as const;
/** Members that some specs have and nobody asks for before a tool is shown or called. */
const LATER_KEYS = ['title', 'output', 'version', 'instructions', 'examples', 'meta'] as const;
type FirstKey = (typeof FIRST_KEYS)[number];
type LaterKey = (typeof LATER_KEYS)[number];

const FIRST: ReadonlySet<string> = new Set(FIRST_KEYS);
const LAZY: ReadonlySet<string> = new Set(LATER_KEYS);
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
    else if (LAZY.has(key))
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
  return Array.isArray(value) && value.every((key) => LAZY.has(key)) && new Set(value).size === value.length;
}

function noHead(): ToolcribError {
  return new ToolcribError('not_a_tool', 'This is not the head of a tool.');
}

/** A file whose specs are parsed when somebody looks. */
interface IndexedFile {
  /** The very bytes whose hash the index bears: what happens to the file meanwhile changes nothing. */
  readonly bytes: Buffer;
  /** For what the bytes say: with a place in them, it is the mark of a spec. */
  readonly mark: number;
  read(entry: unknown): ToolSpec;
  admits(spec: ToolSpec): boolean;
  /** Called when a line turns out to say something else than the index. */
  doubt(): void;
}

/** Where a spec stands. */
interface Place {
  readonly file: IndexedFile;
  readonly start: number;
  readonly end: number;
}

/** A spec that is parsed when somebody looks at more than its head. It is frozen and copied like any other. */
export function indexedSpec(name: string, pattern: HeadPattern, place: Place): ToolSpec {
  const { effects, policy, tags, category, requires, priority, when, source } = pattern.spec;
  const spec: Record<PropertyKey, unknown> = { name };
  Object.defineProperty(spec, 'description', DESCRIPTION);
  Object.defineProperty(spec, 'input', INPUT);
  spec.effects = effects;
  spec.policy = policy;
  spec.tags = tags;
  spec.source = source;
  spec.origin = name;
  Object.defineProperty(spec, RUN, RUN_MEMBER);
  Object.defineProperty(spec, UNREAD, { value: new UnreadSpec(name, pattern, place) });
  if (category !== undefined) spec.category = category;
  if (requires !== undefined) spec.requires = requires;
  if (priority !== undefined) spec.priority = priority;
  if (when !== undefined) spec.when = when;
  for (const key of pattern.head.later) Object.defineProperty(spec, key, LATER[key]);
  return Object.freeze(spec) as unknown as ToolSpec; // all its members are there
}

/** A class: there is one for each of a hundred thousand specs, and it holds what was parsed. */
class UnreadSpec implements Unread {
  readonly mark: number;
  readonly #name: string;
  readonly #pattern: HeadPattern;
  #body: Place | ToolSpec; // once all are parsed, nobody holds the bytes

  constructor(name: string, pattern: HeadPattern, place: Place) {
    this.mark = place.file.mark + place.start;
    this.#name = name;
    this.#pattern = pattern;
    this.#body = place;
  }

  get kind(): string {
    return this.#pattern.spec[RUN].kind;
  }

  get needs(): readonly string[] | undefined {
    return this.#pattern.spec[RUN].needs;
  }

  get rules(): string {
    return this.#pattern.rules;
  }

  parsed(): ToolSpec {
    if ('file' in this.#body) this.#body = parseLine(this.#name, this.#pattern, this.#body);
    return this.#body;
  }
}

type ParsedKey = 'description' | 'input' | typeof RUN | LaterKey;

function parsedMember(key: ParsedKey): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: { readonly [UNREAD]: UnreadSpec }) {
      return this[UNREAD].parsed()[key];
    },
  };
}

// One for all specs, so that these have the same few shapes.
const DESCRIPTION = parsedMember('description');
const INPUT = parsedMember('input');
const RUN_MEMBER = parsedMember(RUN);
const LATER = Object.fromEntries(LATER_KEYS.map((key) => [key, parsedMember(key)])) as Record<
  LaterKey,
  PropertyDescriptor
>; // of each key

/** The spec of a line that is what the index says: this tool, with these limits, and good. */
function parseLine(name: string, pattern: HeadPattern, { file, start, end }: Place): ToolSpec {
  const spec = attempt(() => file.read(JSON.parse(file.bytes.toString('utf8', start, end))));
  if (spec?.name === name && isSameData(headOf(spec), pattern.head) && file.admits(spec)) return spec;
  file.doubt();
  return unavailable(pattern);
}

function attempt(read: () => ToolSpec): ToolSpec | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ToolcribError) return undefined;
    throw error;
  }
}

/** What stands in for a spec until its file has been read again: it can be shown, and not run. */
function unavailable(pattern: HeadPattern): ToolSpec {
  return {
    ...pattern.spec,
    description: 'Not available: the stored index of its file is wrong, and the file is being read again.',
    [RUN]: UNREADABLE,
  };
}

const UNREADABLE = createRun({ kind: 'unreadable' });
