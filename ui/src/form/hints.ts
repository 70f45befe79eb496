import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { type JsonNode, parseJson } from '../json/json-text.ts';
import { nodeAt, toPointer, toSteps, toValue } from '../json/json-value.ts';
import { counted } from './field.ts';
import { IS_REQUIRED, type Issue } from './issue.ts';
import type { Schema } from './schema.ts';

const MAX_HINTS = 100;
/** Keywords that only say that something inside them is wrong. */
const WRAPPERS = new Set(
  '$ref $recursiveRef allOf if properties patternProperties additionalProperties unevaluatedProperties items prefixItems additionalItems dependentSchemas propertyNames'.split(
    ' ',
  ),
);

/** Compares arguments with a schema, in words. These are hints: the verdict is the server's. */
export function findHints(schema: Schema, text: string): readonly Issue[] {
  const parsed = parseJson(text);
  if ('problem' in parsed) return [];
  const { node } = parsed;
  return [...schemaHints(schema, node), ...lostDigits(node)].slice(0, MAX_HINTS);
}

function schemaHints(schema: Schema, node: JsonNode): readonly Issue[] {
  try {
    const { errors } = new Validator(schema, '2020-12', false).validate(toValue(node));
    const issues = nearestErrors(errors).map((error) => toIssue(error, node));
    return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
  } catch {
    return []; // a schema that this validator does not read: the server decides
  }
}

/** Of a union only the branch with the fewest errors, and of wrappers only what is inside. */
function nearestErrors(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const dropped = new Set<OutputUnit>();
  for (const union of unions) {
    const inside = errors.filter((error) => error.keywordLocation.startsWith(`${union.keywordLocation}/`));
    const branches = Map.groupBy(inside, (error) => branchOf(error, union)).values();
    const costs = [...branches].map((branch) => ({ branch, cost: costOf(branch, union) }));
    const best = costs.toSorted((a, b) => a.cost - b.cost)[0];
    const isNear = best !== undefined && best.cost < COST_OF_OTHER_TYPE;
    for (const error of inside) if (!isNear || !best.branch.includes(error)) dropped.add(error);
    if (isNear) dropped.add(union);
  }
  return errors.filter((error) => !dropped.has(error) && !WRAPPERS.has(error.keyword));
}

const COST_OF_OTHER_TYPE = 1000;

function branchOf({ keywordLocation }: OutputUnit, union: OutputUnit): string {
  return keywordLocation.slice(union.keywordLocation.length + 1).split('/')[0] ?? '';
}

function costOf(branch: readonly OutputUnit[], union: OutputUnit): number {
  let cost = 0;
  for (const { keyword, instanceLocation } of branch) {
    const isHere = instanceLocation === union.instanceLocation;
    if (isHere && (keyword === 'type' || keyword === 'const' || keyword === 'enum')) cost += COST_OF_OTHER_TYPE;
    else cost += keyword === 'const' ? COST_OF_OTHER_TYPE / 2 : 1;
  }
  return cost;
}

const NAMED = /property "([\s\S]*)"|Property "([\s\S]*)"/;

function toIssue(error: OutputUnit, root: JsonNode): Issue {
  const pointer = decodeURI(error.instanceLocation.slice(1));
  const name = NAMED.exec(error.error)?.[1];
  if (error.keyword === 'required' && name !== undefined)
    return { path: pointer + toPointer([name]), message: IS_REQUIRED };
  if (error.keyword === 'false') return { path: pointer, message: 'is not an argument of this tool' };
  return { path: pointer, message: wordsOf(error, nodeAt(root, toSteps(pointer))?.type === 'string') };
}

function wordsOf({ keyword, error }: OutputUnit, isText: boolean): string {
  const figures = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
  const limit = error.match(figures)?.at(-1) ?? '';
  const length = isText ? counted(limit, 'character') : limit;
  const words: Record<string, string> = {
    type: `must be ${/Expected "([\s\S]*)"\.$/.exec(error)?.[1]?.replaceAll('", "', ' or ') ?? 'of another type'}`,
    enum: 'must be one of the choices',
    const: `must be ${/match ([\s\S]*)\.$/.exec(error)?.[1] ?? 'the fixed value'}`,
    format: `must be written as ${/format "([\s\S]*)"/.exec(error)?.[1] ?? 'the schema says'}`,
    pattern: 'does not match the pattern',
    anyOf: 'fits none of the forms',
    oneOf: error.includes('(0') ? 'fits none of the forms' : 'fits more than one of the forms',
    not: 'is excluded by the schema',
    uniqueItems: 'has an item twice',
    minimum: `must be at least ${limit}`,
    maximum: `must be at most ${limit}`,
    exclusiveMinimum: `must be more than ${limit}`,
    exclusiveMaximum: `must be less than ${limit}`,
    multipleOf: `must be a multiple of ${limit}`,
    minLength: `must have at least ${length}`,
    maxLength: `must have at most ${length}`,
    minItems: `must have at least ${counted(limit, 'item')}`,
    maxItems: `must have at most ${counted(limit, 'item')}`,
  };
  return words[keyword] ?? error;
}

/** Integers that a number would round. The server refuses them, so the page says it before. */
function lostDigits(root: JsonNode): readonly Issue[] {
  const found: Issue[] = [];
  const walk = (node: JsonNode, path: readonly (string | number)[]) => {
    if (found.length >= MAX_HINTS) return;
    if (node.type === 'object') for (const { key, value } of node.members) walk(value, [...path, key]);
    if (node.type === 'array') for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    if (node.type === 'number' && isRounded(node.raw))
      found.push({
        path: toPointer(path),
        message: `has more digits than a number keeps: it would be rounded to ${Number(node.raw)}. Send it as text`,
      });
  };
  walk(root, []);
  return found;
}

function isRounded(raw: string): boolean {
  const value = Number(raw);
  return /^-?\d+$/.test(raw) && Number.isFinite(value) && String(value) !== raw && BigInt(value) !== BigInt(raw);
}
