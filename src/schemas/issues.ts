import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../core/json.ts';
import { escapePointer, resolveReference } from '../core/json-pointer.ts';
import type { Issue } from '../core/tool-error.ts';
import { cut, toGot, toWanted, toWords } from './issue-words.ts';

const MAX_ISSUES = 20;
const MAX_PATH = 200;
const MAX_WANTED = 400;

/** Context of the errors. */
export interface IssueOptions {
  /** The noun for a member of the top object: argument or property. */
  readonly noun: string;
  /** The checked schema, to find the branch of a union that an error belongs to. */
  readonly schema?: JsonSchema;
}

/** An error with the errors that explain it. */
interface Finding {
  readonly error: ErrorObject;
  readonly parts: readonly Finding[];
}

/** Converts Ajv's errors to issues that a model can act on: one for each thing to correct. */
export function toIssues(errors: readonly ErrorObject[], options: IssueOptions): readonly Issue[] {
  const reach = createReach(options.schema);
  const issues = toFindings(errors, reach).flatMap((finding) => describe(finding, options.noun, reach));
  return limitIssues(issues);
}

/** Removes duplicate issues, and limits their number. */
export function limitIssues(issues: readonly Issue[]): readonly Issue[] {
  const unique = new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue]));
  const all = [...unique.values()];
  if (all.length <= MAX_ISSUES) return all;
  const shown = all.slice(0, MAX_ISSUES - 1);
  return [...shown, { path: '', message: `and ${all.length - shown.length} more` }];
}

// Ajv reports a flat list, the errors inside a union before the union itself: group them under their union.
function toFindings(errors: readonly ErrorObject[], reach: Reach): readonly Finding[] {
  const findings: Finding[] = [];
  for (const error of errors) {
    // The errors of the taken branch, or of the name itself, come before these and are sufficient.
    if (error.keyword === 'if' || error.keyword === 'propertyNames') continue;
    let first = findings.length;
    if (branchesOf(error).length > 0) while (isPart(findings[first - 1], error, reach)) first -= 1;
    findings.push({ error, parts: findings.splice(first) });
  }
  return findings;
}

function branchesOf(error: ErrorObject): readonly unknown[] {
  if (error.keyword === 'contains') return [error.schema];
  const isUnion = error.keyword === 'anyOf' || error.keyword === 'oneOf';
  return isUnion && Array.isArray(error.schema) ? error.schema : [];
}

function isPart(finding: Finding | undefined, whole: ErrorObject, reach: Reach): boolean {
  if (finding === undefined) return false;
  const { instancePath, parentSchema } = finding.error;
  if (instancePath !== whole.instancePath && !instancePath.startsWith(`${whole.instancePath}/`)) return false;
  return branchesOf(whole).some((branch) => reach(branch, parentSchema));
}

function describe({ error, parts }: Finding, noun: string, reach: Reach): readonly Issue[] {
  if (parts.length === 0 || error.keyword === 'contains' || Array.isArray(error.params.passingSchemas)) {
    return [toIssue(error, noun)];
  }
  const branches = branchesOf(error).map((branch) => parts.filter((part) => reach(branch, part.error.parentSchema)));
  const nearest = nearestOf(branches, error);
  const [best = []] = nearest;
  const miss = missOf(best, error);
  if (miss === 'kind' || (miss === 'mark' && nearest.length > 1)) return [describeMismatch(error, nearest, noun)];
  const issues = best.flatMap((part) => describe(part, noun, reach));
  return nearest.length === 1 ? issues : issues.with(0, mention(issues[0] ?? toIssue(error, noun), branches.length));
}

function mention(issue: Issue, forms: number): Issue {
  return { ...issue, message: `${issue.message} (or use another of the ${forms} allowed forms)` };
}

type Miss = 'kind' | 'mark' | 'place';

// The branches that the value misses by least, those with the fewest errors first.
function nearestOf(branches: readonly (readonly Finding[])[], union: ErrorObject): readonly (readonly Finding[])[] {
  const byMiss = Object.groupBy(
    branches.filter((branch) => branch.length > 0),
    (branch) => missOf(branch, union),
  );
  const nearest = byMiss.place ?? byMiss.mark ?? byMiss.kind ?? [];
  return nearest.toSorted((a, b) => a.length - b.length);
}

// How a value misses a branch: it has another type altogether (kind), is marked as another branch (`shape: "circle"`), or
// is wrong in some place.
function missOf(branch: readonly Finding[], union: ErrorObject): Miss {
  const depth = depthOf(union.instancePath);
  let miss: Miss = 'place';
  for (const { error } of branch) {
    if (toWanted(error) === undefined) continue;
    const below = depthOf(error.instancePath) - depth;
    if (below === 0) return 'kind';
    if (below === 1 && error.keyword !== 'type') miss = 'mark';
  }
  return miss;
}

function depthOf(pointer: string): number {
  return pointer.split('/').length;
}

// No branch matches: if all of them object to the same place, list what each expects there.
function describeMismatch(union: ErrorObject, branches: readonly (readonly Finding[])[], noun: string): Issue {
  const objections = branches.map((parts) => parts.find(({ error }) => toWanted(error) !== undefined)?.error);
  const [first] = objections;
  const wanted = new Set<string>();
  for (const error of objections) {
    const one = error === undefined ? undefined : toWanted(error);
    if (one === undefined || error?.instancePath !== first?.instancePath) return toIssue(union, noun);
    wanted.add(one);
  }
  if (first === undefined) return toIssue(union, noun);
  return { path: pathOf(first), message: `must be ${cut([...wanted].join(', or '), MAX_WANTED)}; got ${toGot(first)}` };
}

function toIssue(error: ErrorObject, noun: string): Issue {
  const words = toWords(error, noun);
  const message = error.propertyName === undefined ? words : `has a name that ${words}`;
  return { path: pathOf(error), message };
}

// Point at the missing or additional member itself, not at its object.
function pathOf(error: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = error.params;
  const name: unknown = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? error.propertyName;
  const path = typeof name === 'string' ? `${error.instancePath}/${escapePointer(name)}` : error.instancePath;
  return cut(path, MAX_PATH);
}

/** True if `branch` applies `part`: it contains it, or refers to a schema that does. */
type Reach = (branch: unknown, part: unknown) => boolean;

/** Finds which part of `schema` belongs to which branch. Without a schema, every part belongs to every branch. */
function createReach(schema: JsonSchema | undefined): Reach {
  if (schema === undefined) return () => true;
  const reached = new Map<unknown, ReadonlySet<unknown>>();
  return function isReached(branch, part) {
    let parts = reached.get(branch);
    if (parts === undefined) {
      parts = collect(branch, schema);
      reached.set(branch, parts);
    }
    // `false` is a schema, too, but has no identity; among a branch's errors it counts as part of the branch.
    return parts.has(part) || typeof part !== 'object';
  };
}

function collect(branch: unknown, root: JsonSchema): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const open = [branch];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null || found.has(node)) continue;
    found.add(node);
    const { $ref } = node as { $ref?: unknown }; // an array has none
    if (typeof $ref === 'string') open.push(resolveReference($ref, root)); // anchors and embedded ids are rare; for them the message is only less specific
    for (const member of Object.values(node)) open.push(member);
  }
  return found;
}
