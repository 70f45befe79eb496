import { canonicalJson, isRecord } from '../../core/json.ts';

/** How a field of a definition changed. `words`: only text for people and models changed. */
export const CHANGE_KINDS = ['added', 'removed', 'narrowed', 'widened', 'words', 'changed'] as const;

/** One changed field of a definition. */
export interface DefinitionChange {
  /** A JSON pointer. */
  readonly path: string;
  readonly kind: (typeof CHANGE_KINDS)[number];
  readonly before?: unknown;
  readonly after?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 30;
const MAX_CHANGES = 500;
const WORDS = ['title', 'description', '$comment', 'examples', 'instructions'];
/** Bounds that allow less the higher they are, and those that allow less the lower they are. */
const LEASTS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
const MOSTS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];
/** Keywords whose presence allows less, and whose value cannot be compared. */
const LIMITS = ['pattern', 'format', 'multipleOf', 'const', 'not', 'uniqueItems', 'if', 'then', 'else', 'contains'];
/** Keywords with named or single schemas. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SCHEMAS = ['items', 'additionalProperties', 'propertyNames', 'unevaluatedProperties', 'unevaluatedItems'];

/** Compares two definitions field by field; schemas are compared by what they allow. */
export function definitionChanges(before: Fields, after: Fields): readonly DefinitionChange[] {
  const changes = keysOf(before, after).flatMap((key) => {
    const [path, a, b] = [`/${escaped(key)}`, before[key], after[key]];
    if (isSame(a, b)) return [];
    if (/Schema$/.test(key) && isRecord(a) && isRecord(b)) return schemaChanges(path, a, b);
    if (WORDS.includes(key)) return [{ path, kind: 'words' as const, ...given(a, b) }];
    if (isRecord(a) && isRecord(b)) return memberChanges(path, a, b);
    return [{ path, kind: presence(a, b) ?? ('changed' as const), ...given(a, b) }];
  });
  return changes.slice(0, MAX_CHANGES);
}

function memberChanges(path: string, before: Fields, after: Fields): readonly DefinitionChange[] {
  return keysOf(before, after).flatMap((key) => {
    const [a, b] = [before[key], after[key]];
    if (isSame(a, b)) return [];
    return [{ path: `${path}/${escaped(key)}`, kind: presence(a, b) ?? ('changed' as const), ...given(a, b) }];
  });
}

function schemaChanges(path: string, before: Fields, after: Fields): readonly DefinitionChange[] {
  if (path.split('/').length > MAX_DEPTH) return [{ path, kind: 'changed' }];
  const required = requiredChanges(path, before, after);
  const others = keysOf(before, after).flatMap((key) => {
    const [a, b] = [before[key], after[key]];
    return key === 'required' || isSame(a, b) ? [] : keywordChanges({ key, path: `${path}/${escaped(key)}`, a, b });
  });
  return [...others, ...required];
}

interface Keyword {
  readonly key: string;
  readonly path: string;
  readonly a: unknown;
  readonly b: unknown;
}

function keywordChanges({ key, path, a, b }: Keyword): readonly DefinitionChange[] {
  if (NAMED.includes(key) && (isRecord(a) || isRecord(b))) return namedChanges(path, asRecord(a), asRecord(b));
  if (SCHEMAS.includes(key) && isRecord(a) && isRecord(b)) return schemaChanges(path, a, b);
  return [{ path, kind: kindOfKeyword({ key, path, a, b }), ...given(a, b) }];
}

function namedChanges(path: string, before: Fields, after: Fields): readonly DefinitionChange[] {
  return keysOf(before, after).flatMap((name) => {
    const [at, a, b] = [`${path}/${escaped(name)}`, before[name], after[name]];
    if (isSame(a, b)) return [];
    if (isRecord(a) && isRecord(b)) return schemaChanges(at, a, b);
    return [{ path: at, kind: presence(a, b) ?? ('changed' as const), ...given(a, b) }];
  });
}

/** A member that is required only now makes calls fail that passed before. */
function requiredChanges(path: string, before: Fields, after: Fields): readonly DefinitionChange[] {
  const [was, is] = [new Set(listOf(before.required)), new Set(listOf(after.required))];
  const at = (name: unknown) => `${path}/required/${escaped(String(name))}`;
  return [
    ...Array.from(is.difference(was), (name) => ({ path: at(name), kind: 'narrowed' as const })),
    ...Array.from(was.difference(is), (name) => ({ path: at(name), kind: 'widened' as const })),
  ];
}

function kindOfKeyword({ key, a, b }: Keyword): DefinitionChange['kind'] {
  if (WORDS.includes(key)) return 'words';
  if (key === 'type' || key === 'enum' || key === 'anyOf' || key === 'oneOf') return byChoices(a, b);
  if (key === 'allOf') return opposite(byChoices(a ?? [], b ?? []));
  if (SCHEMAS.includes(key)) return byOpenness(a, b);
  const isNumbers = typeof a === 'number' && typeof b === 'number';
  if (isNumbers && LEASTS.includes(key)) return b > a ? 'narrowed' : 'widened';
  if (isNumbers && MOSTS.includes(key)) return b < a ? 'narrowed' : 'widened';
  if ([...LEASTS, ...MOSTS, ...LIMITS].includes(key) && presence(a, b) !== undefined)
    return a === undefined ? 'narrowed' : 'widened';
  return presence(a, b) ?? 'changed';
}

/** Compares alternatives: fewer narrow, more widen. Absent means that everything is allowed. */
function byChoices(a: unknown, b: unknown): DefinitionChange['kind'] {
  if (a === undefined || b === undefined) return a === undefined ? 'narrowed' : 'widened';
  const [was, is] = [new Set(listOf(a).map(canonicalJson)), new Set(listOf(b).map(canonicalJson))];
  const isFewer = is.isSubsetOf(was);
  const isMore = was.isSubsetOf(is);
  if (isFewer === isMore) return 'changed';
  return isFewer ? 'narrowed' : 'widened';
}

/** `true` and absent allow everything, `false` nothing, and a schema is between them. */
function byOpenness(a: unknown, b: unknown): DefinitionChange['kind'] {
  const rank = (value: unknown) => (value === false ? 0 : value === true || value === undefined ? 2 : 1);
  if (rank(a) === rank(b)) return 'changed';
  return rank(b) < rank(a) ? 'narrowed' : 'widened';
}

function opposite(kind: DefinitionChange['kind']): DefinitionChange['kind'] {
  if (kind === 'narrowed') return 'widened';
  return kind === 'widened' ? 'narrowed' : kind;
}

function presence(a: unknown, b: unknown): 'added' | 'removed' | undefined {
  if (a === undefined) return 'added';
  return b === undefined ? 'removed' : undefined;
}

function given(before: unknown, after: unknown): Pick<DefinitionChange, 'before' | 'after'> {
  return { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}

function keysOf(a: Fields, b: Fields): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function asRecord(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
