import type { Executor } from '../core/executor.ts';
import { isPromise } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Schemas } from '../core/ports.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { distrust } from '../core/trust.ts';
import { toToolSpec } from '../runtime/define-tool.ts';

/** Kinds that belong to the contract: without their executor such tools are listed and answer `unavailable`. */
const NAMED_KINDS = ['function', 'python', 'mcp', 'http', 'shell', 'script', 'agent'];

export interface AdmitOptions {
  readonly executors: ReadonlyMap<string, Executor>;
  readonly schemas: Schemas;
  warn(message: string): void;
}

/** A spec as its source may bring it into the catalog. Throws for one that cannot be let in. */
export function admit(tool: unknown, source: Source, options: AdmitOptions): ToolSpec {
  const spec = toToolSpec(tool, source.name);
  requireAllowedKind(spec, source);
  requireKnownKind(spec, options);
  const problems = schemaProblems(spec, options.schemas);
  if (problems.length === 0) return source.trust === true ? spec : distrust(spec);
  const message = `Tool "${spec.name}" of ${source.name}: ${problems.join('; ')}.`;
  // What was written here can be mended here; a stranger's schema is used as far as it is safe.
  if (source.trust === true) throw new ToolcribError('invalid_schema', message);
  options.warn(message);
  return distrust(spec);
}

function requireAllowedKind(spec: ToolSpec, source: Source): void {
  const { kind } = spec[RUN];
  if (source.kinds === undefined || source.kinds.includes(kind)) return;
  throw new ToolcribError(
    'kind_not_allowed',
    `Tool "${spec.name}" of ${source.name} runs as ${kind}; this source may bring only ${source.kinds.join(', ')}.`,
  );
}

function requireKnownKind(spec: ToolSpec, { executors, schemas }: AdmitOptions): void {
  const run = spec[RUN];
  const executor = executors.get(run.kind);
  if (executor === undefined) {
    if (NAMED_KINDS.includes(run.kind)) return;
    const known = new Set([...NAMED_KINDS, ...executors.keys()]);
    throw new ToolcribError(
      'unknown_kind',
      `Tool "${spec.name}" runs as "${run.kind}", a kind nobody registered.${didYouMean(run.kind, known)}`,
    );
  }
  if (run.kind === 'function') return; // a function is all it takes, and defining the tool has seen one
  const { needs: _needs, parse: _parse, parseOutput: _parseOutput, ...own } = run;
  const parsed = schemas.parser(executor.runSchema)(own);
  if (isPromise(parsed) || parsed.ok) return;
  const issues = parsed.issues.map((issue) => `run${issue.path} ${issue.message}`).join('; ');
  throw new ToolcribError('invalid_run', `Tool "${spec.name}" of kind ${run.kind}: ${issues}.`);
}

// An author's own schema does its own checking, so the JSON Schema beside it is only shown.
function schemaProblems(spec: ToolSpec, schemas: Schemas): readonly string[] {
  const run = spec[RUN];
  return [
    ...(run.parse === undefined ? schemas.problems(spec.input) : []),
    ...(spec.output === undefined || run.parseOutput !== undefined ? [] : schemas.problems(spec.output)),
  ];
}
