import { freezeJson, isRecord, type JsonSchema, type JsonValue } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { acceptsPlainly } from './schema-keywords.ts';
import { requireSilent } from './schema-mentions.ts';

/** Arguments that callers do not give: the value that the tool gets instead, or undefined if it gets none. */
export type Ungiven = ReadonlyMap<string, { readonly value: JsonValue } | undefined>;

/** The schema of the remaining arguments, or the reason why no arguments can satisfy it. */
type Reduced = Fitting | { readonly never: string };
interface Fitting {
  readonly schema: unknown;
  /** False if it accepts something that only the whole schema can decide. */
  readonly isExact: boolean;
}

/** The state of reducing one schema. */
interface Draft {
  readonly node: Readonly<Record<string, unknown>>;
  readonly ungiven: Ungiven;
  /** Required names besides those in `required`. */
  readonly demanded: Set<unknown>;
  /** Additional reduced schemas that must hold. */
  readonly also: unknown[];
  /** Additional limits for the number of arguments. */
  least: number;
  most: number;
  never: string | undefined;
  isExact: boolean;
}

/** Reduces a keyword to the remaining arguments; undefined if nothing is left. */
type Reducer = (value: unknown, draft: Draft) => unknown;

/**
 * The schema of the remaining arguments. It accepts everything that the whole schema accepts once the others are filled
 * in, and more only if a validator is needed to check their values. Throws if such a schema does not exist. Call `argumentsOf`
 * first, which checks that the schema can be read.
 */
export function schemaWithout(schema: JsonSchema, ungiven: Ungiven): JsonSchema {
  const reduced = reduce(schema, ungiven);
  if ('never' in reduced) throw new ToolcribError('invalid_config', reduced.never);
  return freezeJson(reduced.schema as JsonSchema); // an object stays one
}

function reduce(node: unknown, ungiven: Ungiven): Reduced {
  if (node === false) return { never: 'its schema accepts nothing' };
  if (!isRecord(node)) return { schema: node, isExact: true };
  const draft: Draft = {
    node,
    ungiven,
    demanded: new Set(),
    also: [],
    least: 0,
    most: Number.POSITIVE_INFINITY,
    never: undefined,
    isExact: true,
  };
  const entries = Object.entries(node).flatMap(([keyword, value]) => {
    const left = (REDUCERS.get(keyword) ?? keepAsIs)(value, draft);
    return left === undefined ? [] : [[keyword, left] as const];
  });
  if (draft.never !== undefined) return { never: draft.never };
  const added = [
    ...(draft.demanded.size > 0 ? [['required', [...draft.demanded]] as const] : []),
    ...(draft.also.length > 0 ? [['allOf', draft.also] as const] : []),
  ];
  const schema: Record<string, unknown> = Object.fromEntries([...entries, ...added]);
  if (draft.least > 0) schema.minProperties = Math.max(draft.least, numberOr(schema.minProperties, 0));
  if (draft.most < Number.POSITIVE_INFINITY)
    schema.maxProperties = Math.min(draft.most, numberOr(schema.maxProperties, draft.most));
  return { schema, isExact: draft.isExact };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

const keepAsIs: Reducer = (value) => value;

/** Keeps a keyword that a withheld value may violate, which only a validator could tell. */
const leaveOpen: Reducer = (value, draft) => {
  draft.isExact = false;
  return value;
};

const withoutNames: Reducer = (value, { ungiven }) => omit(value, ungiven);

const REDUCERS: ReadonlyMap<string, Reducer> = new Map<string, Reducer>([
  ['properties', reduceProperties],
  ['required', (value, draft) => demand(value, draft)],
  ['dependentRequired', reduceDependents],
  ['dependentSchemas', reduceDependents],
  ['dependencies', reduceDependents],
  ['allOf', reduceAllOf],
  ['anyOf', reduceAnyOf],
  ['oneOf', reduceOneOf],
  ['then', (value, { ungiven }) => orFalse(reduce(value, ungiven))],
  ['else', (value, { ungiven }) => orFalse(reduce(value, ungiven))],
  ['if', (value, { ungiven }) => requireSilent('if', value, ungiven)],
  ['not', (value, { ungiven }) => requireSilent('not', value, ungiven)],
  ['minProperties', (value, { ungiven }) => lower(value, ungiven)],
  ['maxProperties', reduceMaximum],
  ['additionalProperties', judgeAdditional],
  ['patternProperties', leaveOpen],
  ['propertyNames', leaveOpen],
  ['unevaluatedProperties', leaveOpen],
  ['default', withoutNames],
  ['examples', (value, draft) => (Array.isArray(value) ? value.map((one) => withoutNames(one, draft)) : value)],
]);

function reduceProperties(value: unknown, draft: Draft): unknown {
  if (!isRecord(value)) return value;
  for (const [name, given] of draft.ungiven) {
    if (given !== undefined && Object.hasOwn(value, name))
      judge(acceptsPlainly(value[name], given.value), draft, `the value of "${name}" does not match its schema`);
  }
  return omit(value, draft.ungiven);
}

function judge(verdict: boolean | undefined, draft: Draft, never: string): void {
  if (verdict === false) draft.never ??= never;
  if (verdict === undefined) draft.isExact = false;
}

/** Records the arguments that callers must give. If a required one can be given by neither side, the schema is impossible. */
function demand(names: unknown, draft: Draft): unknown {
  if (!Array.isArray(names)) return names;
  for (const name of names) {
    if (!draft.ungiven.has(name)) draft.demanded.add(name);
    else if (draft.ungiven.get(name) === undefined)
      draft.never ??= `"${name}" is required and has no default; set its value in fixedArguments`;
  }
  return undefined; // written later, with the other required names
}

function reduceDependents(value: unknown, draft: Draft): unknown {
  if (!isRecord(value)) return value;
  const left = Object.entries(value).flatMap(([name, needs]) => {
    if (!draft.ungiven.has(name)) return [[name, reduceNeeds(name, needs, draft)] as const];
    if (draft.ungiven.get(name) === undefined) return [];
    // The argument is always present, so what it requires is always required.
    if (Array.isArray(needs)) demand(needs, draft);
    else hold(reduce(needs, draft.ungiven), draft, (schema) => countHere(schema, draft));
    return [];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

function reduceNeeds(name: string, needs: unknown, { ungiven }: Draft): unknown {
  if (!Array.isArray(needs)) return orFalse(reduce(needs, ungiven));
  const lacking = needs.find((need) => ungiven.has(need) && ungiven.get(need) === undefined);
  if (lacking !== undefined)
    throw new ToolcribError('invalid_config', `"${name}" requires "${lacking}", which callers could no longer give`);
  return needs.filter((need) => !ungiven.has(need));
}

/** Moves required names and limits to the top level, where they apply after defaults are filled in; `allOf` is checked before. */
function countHere(schema: unknown, draft: Draft): unknown {
  if (!isRecord(schema)) return schema;
  const { required, minProperties, maxProperties, allOf, ...rest } = schema;
  for (const name of Array.isArray(required) ? required : []) draft.demanded.add(name);
  draft.least = Math.max(draft.least, numberOr(minProperties, 0));
  draft.most = Math.min(draft.most, numberOr(maxProperties, draft.most));
  const parts = (Array.isArray(allOf) ? allOf : [])
    .map((part) => countHere(part, draft))
    .filter((part) => !isEmpty(part));
  return parts.length === 0 ? rest : { ...rest, allOf: parts };
}

function hold(reduced: Reduced, draft: Draft, taken: (schema: unknown) => unknown = (schema) => schema): void {
  if ('never' in reduced) draft.never ??= reduced.never;
  else {
    draft.isExact &&= reduced.isExact;
    const schema = taken(reduced.schema);
    if (!isEmpty(schema)) draft.also.push(schema);
  }
}

function reduceAllOf(value: unknown, draft: Draft): unknown {
  if (!Array.isArray(value)) return value;
  for (const branch of value) hold(reduce(branch, draft.ungiven), draft);
  return undefined; // written later, with the other parts
}

function reduceAnyOf(value: unknown, draft: Draft): unknown {
  if (!Array.isArray(value)) return value;
  const branches = possible(value, draft);
  draft.isExact &&= branches.every((branch) => branch.isExact);
  return branches.every(({ schema }) => isEmpty(schema)) ? undefined : branches.map(({ schema }) => schema);
}

function reduceOneOf(value: unknown, draft: Draft): unknown {
  if (!Array.isArray(value)) return value;
  const branches = possible(value, draft);
  const schemas = branches.map(({ schema }) => schema);
  if (branches.every((branch) => branch.isExact)) return schemas;
  // Two branches that differ only in removed arguments may both match now; the whole schema decides.
  draft.isExact = false;
  draft.also.push({ anyOf: schemas });
  return undefined;
}

function possible(branches: readonly unknown[], draft: Draft): readonly Fitting[] {
  const left = branches.flatMap((branch) => {
    const reduced = reduce(branch, draft.ungiven);
    return 'never' in reduced ? [] : [reduced];
  });
  if (left.length === 0) draft.never ??= 'none of the forms that its schema allows remains';
  return left;
}

function orFalse(reduced: Reduced): unknown {
  return 'never' in reduced ? false : reduced.schema;
}

function reduceMaximum(value: unknown, draft: Draft): unknown {
  if (typeof value === 'number' && value < countGiven(draft.ungiven))
    draft.never ??= 'its schema allows fewer arguments';
  return lower(value, draft.ungiven);
}

function lower(limit: unknown, ungiven: Ungiven): unknown {
  return typeof limit === 'number' ? Math.max(0, limit - countGiven(ungiven)) : limit;
}

function countGiven(ungiven: Ungiven): number {
  return [...ungiven.values()].filter((given) => given !== undefined).length;
}

/** Arguments that `properties` does not name here are additional, even if another part of the schema names them. */
function judgeAdditional(value: unknown, draft: Draft): unknown {
  const { properties, patternProperties } = draft.node;
  for (const [name, given] of draft.ungiven) {
    if (given === undefined || (isRecord(properties) && Object.hasOwn(properties, name))) continue;
    const verdict = patternProperties === undefined ? acceptsPlainly(value, given.value) : undefined;
    judge(verdict, draft, `a part of its schema does not allow "${name}"`);
  }
  return value;
}

function omit(value: unknown, ungiven: Ungiven): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ungiven.has(name)));
}

function isEmpty(schema: unknown): boolean {
  return schema === true || (isRecord(schema) && Object.keys(schema).length === 0);
}
