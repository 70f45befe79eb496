import { ToolcribError } from '../core/tool-error.ts';
import { createRun, RUN, type ToolSpec, UNREAD, type Unread } from '../core/tool-spec.ts';
import { isSameData } from './spec-list.ts';

const FIRST_KEYS = ['effects', 'policy', 'tags', 'category', 'requires', 'priority', 'when'] as const;
/** Optional members that are not needed before a tool is shown or called. */
const LATER_KEYS = ['title', 'output', 'version', 'instructions', 'examples', 'meta'] as const;
type FirstKey = (typeof FIRST_KEYS)[number];
type LaterKey = (typeof LATER_KEYS)[number];

const FIRST: ReadonlySet<string> = new Set(FIRST_KEYS);
const LAZY: ReadonlySet<string> = new Set(LATER_KEYS);
const OTHERS: ReadonlySet<string> = new Set(['name', 'description', 'input', 'source', 'origin']);

/** The members of a spec that are needed at startup, and the names of those that are loaded lazily. */
export interface SpecHead {
  /** An entry as in a list of specs, without its name. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The lazy members of this spec that not every spec has. */
  readonly later: readonly LaterKey[];
}

/** A checked head, as a spec whose eager members are shared by all specs with this head. */
export interface HeadPattern {
  readonly head: SpecHead;
  readonly spec: ToolSpec;
  /** The admission rules under which those specs were accepted. */
  readonly rules: string;
}

/** Checks heads. */
export interface HeadReader {
  readonly rules: string;
  read(entry: unknown): ToolSpec;
}

/** The head of a spec; undefined if the spec has unknown members, or values that JSON does not preserve. */
export function headOf(spec: ToolSpec): SpecHead | undefined {
  if (spec.priority !== undefined && !isKeptByJson(spec.priority)) return undefined;
  const { kind, needs } = spec[RUN];
  const entry: Record<string, unknown> = { run: { kind } };
  if (needs !== undefined) entry.needs = needs;
  const later: LaterKey[] = [];
  const hasPolicy = Object.keys(spec.policy).length > 0;
  for (const key in spec) {
    if (key === 'policy' && !hasPolicy) continue; // all specs without a policy share one
    if (FIRST.has(key))
      entry[key] = spec[key as FirstKey]; // checked to be one
    else if (LAZY.has(key))
      later.push(key as LaterKey); // likewise
    else if (!OTHERS.has(key)) return undefined;
  }
  return { entry, later };
}

/** Checks a head like an entry. Throws a `ToolcribError` if it is invalid. */
export function toPattern(head: unknown, { read, rules }: HeadReader): HeadPattern {
  const { entry, later } = (head ?? {}) as Record<keyof SpecHead, unknown>; // read as unknown
  if (typeof entry !== 'object' || !isLater(later)) throw noHead();
  const spec = read({ ...entry, name: 'head' });
  const checked = headOf(spec);
  if (checked === undefined) throw noHead();
  return { spec, head: { entry: checked.entry, later }, rules };
}

function isKeptByJson(priority: unknown): boolean {
  return Number.isFinite(priority) && !Object.is(priority, -0); // the type was not checked before
}

function isLater(value: unknown): value is readonly LaterKey[] {
  return Array.isArray(value) && value.every((key) => LAZY.has(key)) && new Set(value).size === value.length;
}

function noHead(): ToolcribError {
  return new ToolcribError('not_a_tool', 'This is not the head of a tool.');
}

/** A file whose specs are parsed lazily. */
interface IndexedFile {
  /** The bytes that match the hash in the index. Later changes to the file do not matter. */
  readonly bytes: Buffer;
  /** A number derived from the content. Together with an offset, it identifies a spec. */
  readonly mark: number;
  read(entry: unknown): ToolSpec;
  admits(spec: ToolSpec): boolean;
  /** Called when a line contradicts the index. */
  doubt(): void;
}

/** The place of a spec in its file. */
interface Place {
  readonly file: IndexedFile;
  readonly start: number;
  readonly end: number;
}

/** Creates a spec that is parsed when more than its head is read. It can be frozen and copied like any other spec. */
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

/** A class, because there may be a hundred thousand of them, each holding its parsed spec. */
class UnreadSpec implements Unread {
  readonly mark: number;
  readonly #name: string;
  readonly #pattern: HeadPattern;
  #body: Place | ToolSpec; // once all specs are parsed, the bytes can be freed

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

// Shared by all specs, so that they have few hidden classes.
const DESCRIPTION = parsedMember('description');
const INPUT = parsedMember('input');
const RUN_MEMBER = parsedMember(RUN);
const LATER = Object.fromEntries(LATER_KEYS.map((key) => [key, parsedMember(key)])) as Record<
  LaterKey,
  PropertyDescriptor
>; // of each key

/** Parses a line. The result must match the index in name, head and admission. */
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

/** A placeholder for a spec until its file is read again. It can be shown, but not called. */
function unavailable(pattern: HeadPattern): ToolSpec {
  return {
    ...pattern.spec,
    description: 'Not available: the stored index of its file is wrong. The file is being read again.',
    [RUN]: UNREADABLE,
  };
}

const UNREADABLE = createRun({ kind: 'unreadable' });
