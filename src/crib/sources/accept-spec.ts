import type { Executor } from '../../core/executor.ts';
import { canonicalJson, frozenCopy, isPromise } from '../../core/json.ts';
import { distrust } from '../../core/policy.ts';
import type { Schemas } from '../../core/ports/crib-context.ts';
import { didYouMean } from '../../core/read-options.ts';
import type { Admission, Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createRun, ELSEWHERE, kindOf, type Parse, REMOTE, RUN, type ToolSpec, UNREAD } from '../../core/tool-spec.ts';
import { readTool } from '../../define/read-tool.ts';
import { KINDS } from '../../kinds/index.ts';
import { isSurelyValid } from '../../schemas/surely-valid.ts';

/** The built-in kinds. Without their executor such tools are listed, and calls fail with `unavailable`. */
const NAMED_KINDS: readonly string[] = KINDS.map(({ kind }) => kind);

export interface AdmitOptions extends Judges {
  readonly admission: Admission;
  warn(message: string): void;
}

interface Judges {
  readonly executors: ReadonlyMap<string, Executor>;
  readonly schemas: Schemas;
}

/** Increase this number when a check of a built-in executor changes, so that cached specs are checked again. */
const CHECKS = 3;

/** The checks that sources can apply to their specs in advance. */
export function createAdmission(judges: Judges): Admission {
  let rules: string | undefined;
  return {
    rules() {
      rules ??= canonicalJson([CHECKS, ...Array.from(judges.executors, ([kind, { runSchema }]) => [kind, runSchema])]);
      return rules;
    },
    admits(spec) {
      try {
        requireRun(spec, judges);
        return tooLongIn(spec).length === 0 && schemaProblems(spec, judges.schemas).length === 0;
      } catch (error) {
        if (error instanceof ToolcribError) return false;
        throw error;
      }
    },
  };
}

/** Checks a tool of a source and returns its spec for the catalog. Throws for an invalid tool. */
export function admit(tool: unknown, source: Source, options: AdmitOptions): ToolSpec {
  const given = readTool(tool, source.name);
  const isJudged = given[UNREAD]?.rules === options.admission.rules(); // it passed the same checks before
  const spec = isJudged ? given : boundTexts(given, source, options);
  requireAllowedKind(spec, source);
  requireKnownKind(spec, options);
  if (!isJudged) requireRun(spec, options);
  const problems = isJudged ? [] : schemaProblems(spec, options.schemas);
  if (problems.length === 0) return ofSource(spec, source);
  const message = `Tool "${spec.name}" of ${source.name}: ${problems.join('; ')}.`;
  // The operator can fix a trusted source; an untrusted schema is used as far as it is safe.
  if (source.trust === true) throw new ToolcribError('invalid_schema', message);
  options.warn(message);
  return ofSource(spec, source);
}

/** Weakens the claims of a spec whose source is not trusted, and marks specs of remote sources. */
function ofSource(spec: ToolSpec, { trust, isLocal }: Source): ToolSpec {
  const judged = trust === true ? spec : distrust(spec);
  if (isLocal === true && trust !== false) return judged;
  return Object.freeze({ ...judged, [RUN]: createRun({ ...judged[RUN], [REMOTE]: true }) });
}

// The operator can fix a trusted source; texts of an untrusted one are cut.
function boundTexts(spec: ToolSpec, source: Source, { warn }: AdmitOptions): ToolSpec {
  const tooLong = tooLongIn(spec);
  if (tooLong.length === 0) return spec;
  const message = `Tool "${spec.name}" of ${source.name}: ${tooLong.join('; ')}`;
  if (source.trust === true) throw new ToolcribError('too_long', `${message}; shorten it.`);
  const cut = cutTexts(spec);
  warn(`${message}; longer texts were cut, and larger examples and meta were removed.`);
  return cut;
}

function requireAllowedKind(spec: ToolSpec, source: Source): void {
  const kind = kindOf(spec);
  if (source.kinds === undefined || source.kinds.includes(kind)) return;
  const allowed = source.kinds.length === 0 ? 'no tools at all' : `only ${source.kinds.join(', ')}`;
  throw new ToolcribError(
    'kind_not_allowed',
    `Tool "${spec.name}" of ${source.name} has kind ${kind}, but its source allows ${allowed}; add the kind to "kinds" of the source to allow it.`,
  );
}

function requireKnownKind(spec: ToolSpec, { executors }: Judges): void {
  const kind = kindOf(spec);
  if (executors.has(kind) || NAMED_KINDS.includes(kind)) return;
  const known = new Set([...NAMED_KINDS, ...executors.keys()]);
  throw new ToolcribError(
    'unknown_kind',
    `Tool "${spec.name}" has the unknown kind "${kind}"; register an executor for it.${didYouMean(kind, known)}`,
  );
}

function requireRun(spec: ToolSpec, { executors, schemas }: Judges): void {
  const kind = kindOf(spec);
  const executor = executors.get(kind);
  if (spec[RUN][ELSEWHERE] === true) return; // a worker has checked it
  if (executor === undefined || typeof spec[RUN].run === 'function') return; // a function was checked when the tool was defined
  const { needs: _needs, parse: _parse, parseOutput: _parseOutput, settings: _settings, ...own } = spec[RUN];
  const refused = isSurelyValid(own, executor.runSchema) ? [] : wrongIn(own, schemas.parser(executor.runSchema));
  const cure = refused.length > 0 ? executor.cure?.(own) : undefined;
  const wrong = cure === undefined ? refused : [...refused, cure];
  const issues = wrong.length > 0 ? wrong : (executor.check?.(spec[RUN], spec) ?? []);
  if (issues.length === 0) return;
  throw new ToolcribError('invalid_run', `Tool "${spec.name}" of kind ${kind}: ${issues.join('; ')}.`);
}

function wrongIn(run: object, parse: Parse): readonly string[] {
  const parsed = parse(run);
  if (isPromise(parsed) || parsed.ok) return [];
  return parsed.issues.map((issue) => `run${issue.path} ${issue.message}`);
}

// A schema library validates itself, so the JSON Schema next to it is only shown.
function schemaProblems(spec: ToolSpec, schemas: Schemas): readonly string[] {
  const run = spec[RUN];
  return [
    ...(run.parse === undefined ? schemas.problems(spec.input) : []),
    ...(spec.output === undefined || run.parseOutput !== undefined ? [] : schemas.problems(spec.output)),
  ];
}

/** Maximum length of each text of a spec, as lists, prompts and search include them. */
const TEXTS = { title: 500, version: 500, category: 500, description: 16_000, instructions: 64_000 } as const;
const TEXT_KEYS = Object.keys(TEXTS) as readonly (keyof typeof TEXTS)[]; // its own keys
const SCHEMAS = ['input', 'output'] as const;
const DATA = ['examples', 'meta'] as const;
/** Maximum approximate JSON length of a schema, of examples or of meta. */
const LONGEST_DATA = 1_000_000;
/** Maximum length of one description inside a schema. */
const LONGEST_NOTE = 16_000;
const NOTES: readonly string[] = ['title', 'description', '$comment'];
/** Keys of data that arguments are compared with, which must not be cut. */
const VALUES: readonly string[] = ['const', 'enum', 'default', 'examples'];

const NOTHING: readonly string[] = Object.freeze([]);

/** Lists the parts of a spec that are too long. */
function tooLongIn(spec: ToolSpec): readonly string[] {
  if (isSurelyShort(spec)) return NOTHING;
  return [
    ...textKeysOf(spec).map((key) => `its ${key} has more than ${TEXTS[key]} characters`),
    ...SCHEMAS.filter((key) => hasLongNote(spec[key])).map(
      (key) => `its ${key} schema has a text of more than ${LONGEST_NOTE} characters`,
    ),
    ...[...SCHEMAS, ...DATA]
      .filter((key) => isTooLarge(spec[key]))
      .map((key) => `its ${key} has more than ${LONGEST_DATA} characters`),
  ];
}

/** True for most specs: no part of a value as short as this can be too long. A start checks every spec, so this check comes first. */
function isSurelyShort(spec: ToolSpec): boolean {
  const { input, output, examples, meta } = spec;
  if (isLonger(input, LONGEST_NOTE) || isLonger(output, LONGEST_NOTE)) return false;
  return !isTooLarge(examples) && !isTooLarge(meta) && textKeysOf(spec).length === 0;
}

/** Cuts long texts and removes large examples and meta. Throws if a schema is still too large, as a cut schema would accept other arguments. */
function cutTexts(spec: ToolSpec): ToolSpec {
  const schemas = SCHEMAS.map((key) => [key, hasLongNote(spec[key]) ? cutNotes(spec[key]) : spec[key]] as const);
  const [large] = schemas.find(([, schema]) => isTooLarge(schema)) ?? [];
  if (large !== undefined) {
    const message = `Tool "${spec.name}" of ${spec.source}: its ${large} schema has more than ${LONGEST_DATA} characters; make it smaller at its source.`;
    throw new ToolcribError('too_long', message);
  }
  const texts = textKeysOf(spec).map((key) => [key, cutText(spec[key] ?? '', TEXTS[key])]);
  const changed = schemas
    .filter(([key, schema]) => schema !== spec[key])
    .map(([key, schema]) => [key, frozenCopy(schema)]);
  const { examples, meta, ...rest } = spec;
  return Object.freeze({
    ...rest,
    ...(examples !== undefined && !isTooLarge(examples) && { examples }),
    ...(meta !== undefined && !isTooLarge(meta) && { meta }),
    ...Object.fromEntries([...texts, ...changed]),
  });
}

function textKeysOf(spec: ToolSpec): readonly (keyof typeof TEXTS)[] {
  return TEXT_KEYS.filter((key) => (spec[key]?.length ?? 0) > TEXTS[key]);
}

/** Cuts a text without splitting a character, and appends an ellipsis. */
function cutText(text: string, longest: number): string {
  return `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** Visits each part once, as a schema may share parts or contain itself. */
function hasLongNote(value: unknown, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, member]) =>
    isNote(key, member) ? member.length > LONGEST_NOTE : !VALUES.includes(key) && hasLongNote(member, seen),
  );
}

function cutNotes(value: unknown, known = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const cut: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  known.set(value, cut);
  const cutMember = (key: string, member: unknown): unknown => {
    if (isNote(key, member)) return member.length > LONGEST_NOTE ? cutText(member, LONGEST_NOTE) : member;
    return VALUES.includes(key) ? member : cutNotes(member, known);
  };
  const members = Object.entries(value).map(([key, member]) => [key, cutMember(key, member)] as const);
  for (const [key, value] of members) Object.defineProperty(cut, key, { value, enumerable: true });
  return cut;
}

function isNote(key: string, member: unknown): member is string {
  return typeof member === 'string' && NOTES.includes(key);
}

function isTooLarge(value: unknown): boolean {
  return isLonger(value, LONGEST_DATA);
}

/** Compares the approximate JSON length. Stops at the limit, so it also ends for a value that contains itself. */
function isLonger(value: unknown, limit: number): boolean {
  if (value === undefined) return false;
  const waiting: unknown[] = [value];
  let room = limit;
  while (waiting.length > 0 && room >= 0) {
    const one = waiting.pop();
    if (typeof one === 'string') room -= one.length;
    if (typeof one !== 'object' || one === null) continue;
    for (const key in one) {
      room -= key.length + 1;
      if (room < 0) break;
      waiting.push((one as Record<string, unknown>)[key]); // keys come from the object itself
    }
  }
  return room < 0;
}
