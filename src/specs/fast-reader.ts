import type { JsonSchema } from '../core/json.ts';
import type { Policy } from '../core/policy.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { createRun, type Effects, isToolName, RUN, type Run, type ToolSpec } from '../core/tool-spec.ts';
import { readPolicy } from '../define/read-policy.ts';

/** An entry whose keys are all ordinary. */
type Entry = { readonly [Key in (typeof ORDINARY_KEYS)[number]]?: unknown };
type Draft = { -readonly [Key in keyof ToolSpec]: ToolSpec[Key] };

const ORDINARY_KEYS = [
  'name',
  'title',
  'description',
  'input',
  'output',
  'effects',
  'policy',
  'category',
  'tags',
  'version',
  'instructions',
  'meta',
  'run',
] as const;
const ORDINARY: ReadonlySet<string> = new Set(ORDINARY_KEYS);

/** Fields of a run that need a closer look in every kind: those that only code may set, and names that every object has. */
const SPECIAL_RUN_FIELDS: ReadonlySet<string> = new Set(['needs', 'parse', 'parseOutput', 'toJSON', '__proto__']);

/** The fields of a kind's runs that are resolved as paths. */
type PathFields = (kind: string) => ReadonlySet<string>;

const NO_FIELDS: ReadonlySet<string> = new Set();
const MAX_DEPTH = 100;
const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_INPUT: JsonSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) });

/**
 * The fast path from parsed text to a spec: the entry, which must not be shared, is frozen in place, not copied. Equal
 * parts are shared. Returns `undefined` for anything unusual, mistakes included; `toToolSpec` then decides.
 */
export function createSpecAdoption(
  source: string,
  pathFields: PathFields = () => NO_FIELDS,
): (entry: unknown) => ToolSpec | undefined {
  const shareEffects = createSharedEffects();
  const sharePolicy = createSharedPolicies();
  // The same as `createRun`, three times as fast: an assigned copy on the prototype that seals.
  const seal: object = Object.getPrototypeOf(createRun({ kind: '' }));
  return function adoptSpec(entry) {
    if (!isOrdinary(entry)) return undefined;
    const { name, description = '', input = NO_INPUT, tags = NO_TAGS, run } = entry;
    if (!isToolName(name) || typeof description !== 'string') return undefined;
    if (!isInputSchema(input) || !isTags(tags) || !isRun(run, pathFields)) return undefined;
    const effects = shareEffects(entry.effects);
    const policy = sharePolicy(entry.policy);
    if (effects === undefined || policy === undefined) return undefined;
    const sealed: Run = Object.freeze(Object.assign(Object.create(seal), run));
    const spec = { name, description, input, effects, policy, tags, source, origin: name, [RUN]: sealed };
    return addRest(spec, entry) ? Object.freeze(spec) : undefined;
  };
}

function isOrdinary(entry: unknown): entry is Entry {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return false;
  for (const key in entry) if (!ORDINARY.has(key)) return false;
  return true;
}

function addRest(spec: Draft, { title, output, category, version, instructions, meta }: Entry): boolean {
  if (!isText(title) || !isText(category) || !isText(version) || !isText(instructions)) return false;
  if (title !== undefined) spec.title = title;
  if (category !== undefined) spec.category = category;
  if (version !== undefined) spec.version = version;
  if (instructions !== undefined) spec.instructions = instructions;
  if (output !== undefined) {
    if (!isSchema(output)) return false;
    spec.output = output;
  }
  if (meta !== undefined) {
    if (typeof meta !== 'object' || meta === null || !freezeMembers(meta, 0)) return false;
    spec.meta = meta as NonNullable<ToolSpec['meta']>; // free data
  }
  return true;
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isTags(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  for (const tag of value) if (typeof tag !== 'string' || tag === '') return false;
  Object.freeze(value);
  return true;
}

function isInputSchema(value: unknown): value is JsonSchema {
  return isSchema(value) && (value.type === 'object' || value.type === undefined);
}

function isSchema(value: unknown): value is JsonSchema {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { $schema, '~standard': standard } = value as JsonSchema; // an object
  return $schema === undefined && standard === undefined && freezeMembers(value, 0);
}

function isRun(value: unknown, pathFields: PathFields): value is Run {
  if (typeof value !== 'object' || value === null || typeof (value as Run).kind !== 'string') return false; // read as unknown
  const paths = pathFields((value as Run).kind);
  for (const key in value) {
    if (SPECIAL_RUN_FIELDS.has(key) || paths.has(key) || !freezeMember((value as Run)[key], 0)) return false; // an own key
  }
  return true;
}

/** Freezes parsed JSON recursively. False if it is nested too deeply or contains something that `copyJson` refuses. */
function freezeMembers(value: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!freezeMember(value[index], depth)) return false;
    return true;
  }
  for (const key in value) {
    if (key === '__proto__' || !freezeMember((value as Record<string, unknown>)[key], depth)) return false; // an own key
  }
  return true;
}

function freezeMember(value: unknown, depth: number): boolean {
  if (typeof value === 'object') return value === null || freezeMembers(value, depth + 1);
  return typeof value !== 'number' || Number.isFinite(value); // 1e999 parses as Infinity
}

const MAX_SHARED_POLICIES = 1000;

/** Reads plain effects. There are only 81 combinations, and each is one shared object. `undefined` for invalid effects. */
function createSharedEffects(): (value: unknown) => Effects | undefined {
  const shared = new Map<number, Effects>();
  return (value) => {
    let code = 0;
    if (value !== undefined) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      for (const key in value) {
        const claim = (value as Record<string, unknown>)[key]; // an own key
        const place = placeOf(key);
        if (typeof claim !== 'boolean' || place === 0) return undefined;
        code += claim ? place : 2 * place;
      }
    }
    const known = shared.get(code);
    if (known !== undefined) return known;
    const effects: Effects = Object.freeze({ ...(value as Effects | undefined) }); // its keys and values were checked above
    shared.set(code, effects);
    return effects;
  };
}

function placeOf(effect: string): number {
  switch (effect) {
    case 'readOnly':
      return 1;
    case 'destructive':
      return 3;
    case 'idempotent':
      return 9;
    case 'openWorld':
      return 27;
    default:
      return 0;
  }
}

/** Reads policies. Tools of one list tend to have the same few, so equal ones share one object. `undefined` for an invalid policy. */
function createSharedPolicies(): (value: unknown) => Policy | undefined {
  const shared = new Map<string, Policy>();
  return (value) => {
    const key = value === undefined ? '' : JSON.stringify(value);
    const known = shared.get(key);
    if (known !== undefined) return known;
    const policy = policyIn(value);
    if (policy !== undefined && shared.size < MAX_SHARED_POLICIES) shared.set(key, policy);
    return policy;
  };
}

function policyIn(value: unknown): Policy | undefined {
  try {
    return readPolicy(value, 'a tool');
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}
