import type { Executor } from '../../core/executor.ts';
import { canonicalJson, isPromise } from '../../core/json.ts';
import { distrust } from '../../core/policy.ts';
import type { Schemas } from '../../core/ports/crib-context.ts';
import { didYouMean } from '../../core/read-options.ts';
import type { Admission, Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createRun, ELSEWHERE, kindOf, type Parse, REMOTE, RUN, type ToolSpec, UNREAD } from '../../core/tool-spec.ts';
import { readTool } from '../../define/read-tool.ts';
import { KINDS } from '../../kinds/index.ts';
import { isSurelyValid } from '../../schemas/surely-valid.ts';
import { boundTexts, tooLongIn } from './bound-texts.ts';

/** The fields of built-in kinds that name files of this machine, which no list of another one may choose. */
const LOCAL_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  KINDS.map(({ kind, localFields = [] }) => [kind, localFields]),
);
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
const CHECKS = 4;

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
    isCheckedAnew: (spec) => judges.executors.get(kindOf(spec))?.runsFiles?.(spec[RUN], spec) === true,
  };
}

/** Checks a tool of a source and returns its spec for the catalog. Throws for an invalid tool. */
export function admit(tool: unknown, source: Source, options: AdmitOptions): ToolSpec {
  const given = readTool(tool, source.name);
  const isJudged = given[UNREAD]?.rules === options.admission.rules(); // it passed the same checks before
  const spec = isJudged ? given : boundTexts(given, source, options.warn);
  requireAllowedKind(spec, source);
  if (!isOfOperator(source)) requireNoLocalFile(spec);
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
function ofSource(spec: ToolSpec, source: Source): ToolSpec {
  const judged = source.trust === true ? spec : distrust(spec);
  if (isOfOperator(source)) return judged;
  return Object.freeze({ ...judged, [RUN]: createRun({ ...judged[RUN], [REMOTE]: true }) });
}

/** True for a source whose specs the operator wrote on this machine. */
function isOfOperator({ trust, isLocal }: Source): boolean {
  return isLocal === true && trust !== false;
}

function requireNoLocalFile(spec: ToolSpec): void {
  const field = LOCAL_FIELDS.get(kindOf(spec))?.find((name) => Object.hasOwn(spec[RUN], name));
  if (field === undefined) return;
  const message = `Tool "${spec.name}" of ${spec.source}: its run must not have "${field}", a file of this machine; only specs in local files may name one.`;
  throw new ToolcribError('invalid_run', message);
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
