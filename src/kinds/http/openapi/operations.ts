import { hash } from 'node:crypto';
import { isRecord } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { type ToolSpec, toToolName } from '../../../core/tool-spec.ts';
import { compileGlob } from '../../../core/visible-text.ts';
import type { Description, Fields } from './load-description.ts';
import { DescriptionWorkError, followRefs, sizeOf, type Work } from './local-refs.ts';
import type { ApiSettings, Operation } from './reading.ts';

/** An operation with the name of its tool. */
export interface NamedOperation extends Operation {
  readonly name: string;
}

/** The methods whose operations become tools. */
export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
/** More than any real API has; such a description is hostile. */
export const MAX_OPERATIONS = 20_000;

/** The operations of a description, with the problems found. */
export interface FoundOperations {
  readonly operations: readonly NamedOperation[];
  readonly problems: readonly string[];
}

/** All operations, in document order. All are named here, before any is left out, so that names are stable. */
export function listOperations(description: Description): FoundOperations {
  const { paths } = description.root;
  const toName = createNaming();
  const operations: NamedOperation[] = [];
  const problems: string[] = [];
  if (paths !== undefined && !isRecord(paths))
    throw new ToolcribError('invalid_description', 'its paths are not an object');
  const spendOn = createShareCost(description.work);
  for (const [path, item] of entriesOf(paths ?? {})) {
    if (path.startsWith('x-')) continue;
    description.work.spend(10 + path.length / 10);
    try {
      const shared = followRefs(description, item, `the path ${shortPath(path)}`);
      if (shared !== item) spendOn(shared);
      for (const method of METHODS) {
        const fields = shared[method];
        if (fields === undefined) continue;
        if (!isRecord(fields)) throw new ToolcribError('invalid_description', `${method} is not an object`);
        const operation = { method: method.toUpperCase(), path, fields, shared };
        operations.push({ ...operation, name: toName(operation) });
      }
    } catch (cause) {
      if (!(cause instanceof ToolcribError) || cause instanceof DescriptionWorkError) throw cause;
      problems.push(`${shortPath(path)} is left out: ${cause.message}.`);
    }
    if (operations.length > MAX_OPERATIONS)
      throw new ToolcribError('invalid_description', `it has more than ${MAX_OPERATIONS} operations`);
  }
  return { operations, problems };
}

/** Many paths have no operation that becomes a tool. */
const MAX_PATHS = 2 * MAX_OPERATIONS;

/** The paths of a description. */
export function entriesOf(paths: Fields): readonly (readonly [string, unknown])[] {
  const entries = Object.entries(paths);
  if (entries.length <= MAX_PATHS) return entries;
  throw new ToolcribError('invalid_description', `it has more than ${MAX_PATHS} paths`);
}

/** Counts an item of several paths for each of them, as if it were written there: a small description could refer to one item 20,000 times. */
export function createShareCost(work: Work): (item: object) => void {
  const sizes = new Map<object, number>();
  return (item) => {
    const size = sizes.get(item) ?? sizeOf(item);
    sizes.set(item, size);
    work.spend(size);
  };
}

/** True for the status of a response that may describe the output. */
export function isSuccess(status: string): boolean {
  return /^2(\d\d|XX)$/i.test(status);
}

/** Applies include and exclude; reports selectors that match no operation. */
export function chooseOperations(all: readonly NamedOperation[], settings: ApiSettings): FoundOperations {
  const { include, exclude = [] } = settings;
  const included = include?.map(compile);
  const excluded = exclude.map(compile);
  const operations = all.filter(
    (one) => (included?.some(({ matches }) => matches(one)) ?? true) && !excluded.some(({ matches }) => matches(one)),
  );
  const idle = [...(included ?? []), ...excluded].filter(({ matches }) => !all.some(matches));
  return { operations, problems: idle.map(({ text }) => `"${text}" matches no operation.`) };
}

/** The key for the method and path on the spec of an operation. */
export const OPERATION: unique symbol = Symbol('toolcrib.operation');

type Chosen = Pick<ApiSettings, 'include' | 'exclude'>;

/** Applies the current include and exclude to specs that were read under earlier settings. */
export function chooseSpecs(specs: readonly ToolSpec[], { include, exclude = [] }: Chosen): readonly ToolSpec[] {
  const included = include?.map(compile);
  const excluded = exclude.map(compile);
  return specs.filter((spec) => {
    const { [OPERATION]: operation } = spec as ToolSpec & { readonly [OPERATION]?: Pick<Operation, 'method' | 'path'> }; // set when the spec was read
    const one = { method: '', path: '', ...operation, name: spec.origin };
    return (included?.some(({ matches }) => matches(one)) ?? true) && !excluded.some(({ matches }) => matches(one));
  });
}

interface Chooser {
  readonly text: string;
  matches(operation: Pick<NamedOperation, 'method' | 'path' | 'name'>): boolean;
}

/** `GET /pets*` selects by method and path, any other text by name. */
function compile(text: string): Chooser {
  const [, method, path] = /^(\S+)\s+(\/.*|\*)$/.exec(text.trim()) ?? [];
  const matchesName = compileGlob(text);
  if (method === undefined || path === undefined) return { text, matches: ({ name }) => matchesName(name) };
  const matchesMethod = compileGlob(method.toUpperCase());
  const matchesPath = compileGlob(path);
  return { text, matches: (one) => matchesMethod(one.method) && matchesPath(one.path) };
}

/** Shortens a path for messages. */
export function shortPath(path: string): string {
  return path.length > 100 ? `${path.slice(0, 100)}…` : path;
}

/** Assigns unique names; the same description always gives the same names. */
function createNaming(): (operation: Operation) => string {
  const taken = new Set<string>();
  return (operation) => {
    const { method, path, fields } = operation;
    const own = typeof fields.operationId === 'string' ? fields.operationId.trim() : '';
    const unique = `${wordsOf(operation)}_${sha256(`${method} ${path}`).slice(0, 8)}`;
    const name = [own, wordsOf(operation), unique].find((one) => one !== '' && !taken.has(safe(one))) ?? unique;
    taken.add(safe(name));
    return name;
  };
}

function wordsOf({ method, path }: Operation): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('_');
}

function safe(name: string): string {
  return toToolName(name, sha256);
}

function sha256(text: string): string {
  return hash('sha256', text);
}
