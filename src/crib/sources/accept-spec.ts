import { distrust } from '../../core/algebra.ts';
import type { Executor } from '../../core/executor.ts';
import { canonicalJson, isPromise } from '../../core/json.ts';
import type { Schemas } from '../../core/ports/ports.ts';
import type { Admission, Source } from '../../core/source.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createRun, kindOf, type Parse, REMOTE, RUN, type ToolSpec, UNREAD } from '../../core/tool-spec.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { KINDS } from '../../kinds/index.ts';
import { isSurelyValid } from '../../schemas/surely-valid.ts';
import { cutTexts, tooLongIn } from './bound-texts.ts';

/** Kinds that belong to the contract: without their executor such tools are listed and answer `unavailable`. */
const NAMED_KINDS: readonly string[] = KINDS.map(({ kind }) => kind);

export interface AdmitOptions extends Judges {
  readonly admission: Admission;
  warn(message: string): void;
}

/** What the data of a spec is checked by. */
interface Judges {
  readonly executors: ReadonlyMap<string, Executor>;
  readonly schemas: Schemas;
}

/** To be raised when a check of an executor of ours becomes another one, so that what was found good before is judged again. */
const CHECKS = 3;

/** What sources may know of how their specs are judged. */
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

/** A spec as its source may bring it into the catalog. Throws for one that cannot be let in. */
export function admit(tool: unknown, source: Source, options: AdmitOptions): ToolSpec {
  const given = toToolSpec(tool, source.name);
  const isJudged = given[UNREAD]?.rules === options.admission.rules(); // parsing it would show nothing new
  const spec = isJudged ? given : boundTexts(given, source, options);
  requireAllowedKind(spec, source);
  requireKnownKind(spec, options);
  if (!isJudged) requireRun(spec, options);
  const problems = isJudged ? [] : schemaProblems(spec, options.schemas);
  if (problems.length === 0) return ofSource(spec, source);
  const message = `Tool "${spec.name}" of ${source.name}: ${problems.join('; ')}.`;
  // What was written here can be mended here; a stranger's schema is used as far as it is safe.
  if (source.trust === true) throw new ToolcribError('invalid_schema', message);
  options.warn(message);
  return ofSource(spec, source);
}

/** What a spec says of itself counts as far as its source is trusted and local. */
function ofSource(spec: ToolSpec, { trust, isLocal }: Source): ToolSpec {
  const judged = trust === true ? spec : distrust(spec);
  if (isLocal === true && trust !== false) return judged;
  return Object.freeze({ ...judged, [RUN]: createRun({ ...judged[RUN], [REMOTE]: true }) });
}

// What was written here can be shortened here; of a stranger's texts the beginning is used.
function boundTexts(spec: ToolSpec, source: Source, { warn }: AdmitOptions): ToolSpec {
  const tooLong = tooLongIn(spec);
  if (tooLong.length === 0) return spec;
  const message = `Tool "${spec.name}" of ${source.name}: ${tooLong.join('; ')}`;
  if (source.trust === true) throw new ToolcribError('too_long', `${message}; shorten it.`);
  const cut = cutTexts(spec);
  warn(`${message}; texts were cut there, and examples and meta of that size left out.`);
  return cut;
}

function requireAllowedKind(spec: ToolSpec, source: Source): void {
  const kind = kindOf(spec);
  if (source.kinds === undefined || source.kinds.includes(kind)) return;
  const allowed = source.kinds.length === 0 ? 'no tools at all' : `only ${source.kinds.join(', ')}`;
  throw new ToolcribError(
    'kind_not_allowed',
    `Tool "${spec.name}" of ${source.name} runs as ${kind}; this source may bring ${allowed}.`,
  );
}

function requireKnownKind(spec: ToolSpec, { executors }: Judges): void {
  const kind = kindOf(spec);
  if (executors.has(kind) || NAMED_KINDS.includes(kind)) return;
  const known = new Set([...NAMED_KINDS, ...executors.keys()]);
  throw new ToolcribError(
    'unknown_kind',
    `Tool "${spec.name}" runs as "${kind}", a kind nobody registered.${didYouMean(kind, known)}`,
  );
}

function requireRun(spec: ToolSpec, { executors, schemas }: Judges): void {
  const kind = kindOf(spec);
  const executor = executors.get(kind);
  if (executor === undefined || typeof spec[RUN].run === 'function') return; // a function is all it takes, and defining the tool has seen one
  const { needs: _needs, parse: _parse, parseOutput: _parseOutput, settings: _settings, ...own } = spec[RUN];
  const wrong = isSurelyValid(own, executor.runSchema) ? [] : wrongIn(own, schemas.parser(executor.runSchema));
  const issues = wrong.length > 0 ? wrong : (executor.check?.(spec[RUN], spec) ?? []);
  if (issues.length === 0) return;
  throw new ToolcribError('invalid_run', `Tool "${spec.name}" of kind ${kind}: ${issues.join('; ')}.`);
}

function wrongIn(run: object, parse: Parse): readonly string[] {
  const parsed = parse(run);
  if (isPromise(parsed) || parsed.ok) return [];
  return parsed.issues.map((issue) => `run${issue.path} ${issue.message}`);
}

// An author's own schema does its own checking, so the JSON Schema beside it is only shown.
function schemaProblems(spec: ToolSpec, schemas: Schemas): readonly string[] {
  const run = spec[RUN];
  return [
    ...(run.parse === undefined ? schemas.problems(spec.input) : []),
    ...(spec.output === undefined || run.parseOutput !== undefined ? [] : schemas.problems(spec.output)),
  ];
}
