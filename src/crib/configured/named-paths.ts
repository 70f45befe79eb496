import { resolve } from 'node:path';
import type { SchemaNode } from '../../config/schema-node.ts';
import { isRecord } from '../../core/json.ts';
import { nearest } from '../../core/read-options.ts';
import { isCodeVariable } from '../../kinds/shell/caller-code.ts';
import { namedInVariables } from '../../kinds/shell/own-code.ts';
import { configNode } from '../config/config-schema.ts';
import { guessPath, pathsOf, pathsOfCommandLine, type TextPlace } from './text-paths.ts';

/** A path in a configuration. */
export interface NamedPath {
  readonly path: string;
  /** The content of the file, if it is special. */
  readonly holds?: SchemaNode['holds'];
}

/** The context of a walk over a configuration. */
export interface PathPlace extends TextPlace {
  /** The folder of the configuration. */
  readonly folder: string;
  /** Reads a string by its node; undefined for an invalid one. */
  read(node: SchemaNode, text: string): string | undefined;
  /** The files that a tool names; absent if the tools of the data were read. */
  pathsOfTool?(tool: unknown): readonly NamedPath[];
}

const PATH_USES: readonly SchemaNode['use'][] = ['path', 'pathOrUrl', 'command', 'argument', 'module', 'commandLine'];

type Nodes = readonly SchemaNode[];

/**
 * Finds every path in a value. Walking the schema finds all keys marked as paths, so none can be forgotten.
 * Where the value does not match the schema, misplaced and misspelled keys count as the nearest known key,
 * and other strings count if they look like a path: once the mistake is fixed, the crib runs the file.
 */
export function namedPaths(node: SchemaNode, value: unknown, place: PathPlace): readonly NamedPath[] {
  return pathsIn([node], value, place);
}

function pathsIn(nodes: Nodes, value: unknown, place: PathPlace): readonly NamedPath[] {
  if (nodes.some(({ use }) => use === 'spec')) return place.pathsOfTool?.(value) ?? [];
  const shapes = nodes.flatMap(shapesOf);
  if (shapes.length === 0) return [];
  if (typeof value === 'string') return pathsOfText(shapes, value, place);
  if (Array.isArray(value)) return pathsOfList(shapes, value, place);
  return isRecord(value) ? pathsOfMap(shapes, value, place) : [];
}

/** The possible shapes of a value; free data and specs contain no paths. */
function shapesOf(node: SchemaNode): Nodes {
  if (node.anyOf !== undefined) return node.anyOf.flatMap(shapesOf);
  return node.type === undefined || node.use === 'spec' ? [] : [node];
}

function pathsOfText(shapes: Nodes, text: string, place: PathPlace): readonly NamedPath[] {
  const texts = shapes.filter(({ type }) => type === 'string');
  if (texts.length > 0) return texts.flatMap((node) => pathsByNode(node, text, place));
  const lists = shapes.filter(({ type }) => type === 'array');
  const isMapWanted = shapes.some(({ type }) => type === 'object');
  return [
    ...lists.flatMap((node) => pathsOfList([node], node.use === 'commandLine' ? text.split(/\s+/) : [text], place)),
    ...(isMapWanted ? guessPaths(text, place) : []),
  ];
}

function pathsByNode(node: SchemaNode, text: string, place: PathPlace): readonly NamedPath[] {
  const read = place.read(node, text);
  if (read === undefined) return [];
  return pathsOf(node, read, place).map((path) => (node.holds === undefined ? { path } : { path, holds: node.holds }));
}

function pathsOfList(shapes: Nodes, list: readonly unknown[], place: PathPlace): readonly NamedPath[] {
  const lists = shapes.filter(({ type }) => type === 'array');
  if (lists.length === 0) {
    const inside = shapes.flatMap(({ additionalProperties: others }) => (others ? [others] : []));
    return list.flatMap((item) => pathsIn([...shapes, ...inside], item, place)); // a list where a map is expected
  }
  return lists.flatMap(({ items = {}, use }) => {
    if (use !== 'commandLine') return list.flatMap((item) => pathsIn([items], item, place));
    const words = list.flat().map((item) => place.read(items, String(item)) ?? '');
    return pathsOfCommandLine(words, place).map((path) => ({ path }));
  });
}

type Members = Readonly<Record<string, unknown>>;

function pathsOfMap(shapes: Nodes, map: Members, place: PathPlace): readonly NamedPath[] {
  const maps = shapes.filter(({ type }) => type === 'object');
  // A map where a string or a list is expected.
  if (maps.length === 0) return Object.values(map).flatMap((member) => pathsIn(shapes, member, place));
  return pathsOfMembers(map, place, (key, member, inside) => {
    if (maps.some((node) => isFree(node, key))) return [];
    const known = maps.flatMap((node) => childOf(node, key));
    if (known.length === 0) return pathsUnder(key, member, { maps, place: inside });
    const isMapMissing = !isRecord(member) && known.flatMap(shapesOf).some(({ type }) => type === 'object');
    const found = pathsIn(known, member, inside);
    return isMapMissing ? [...found, ...pathsUnder(key, member, { maps: [], place: inside })] : found;
  });
}

type FindPaths = (key: string, member: unknown, inside: PathPlace) => readonly NamedPath[];

/** The paths of all members and of environment variables. Relative paths start in `cwd` if the map has one. */
function pathsOfMembers(map: Members, place: PathPlace, find: FindPaths): readonly NamedPath[] {
  const cwd = typeof map.cwd === 'string' ? place.read({ type: 'string', use: 'path' }, map.cwd) : undefined;
  const inside = cwd === undefined ? place : { ...place, base: resolve(place.base, cwd) };
  const members = Object.entries(map).flatMap(([key, member]) => find(key, member, inside));
  return [...pathsOfVariables(map.env, inside), ...members];
}

function pathsOfVariables(env: unknown, { base, read }: PathPlace): readonly NamedPath[] {
  if (!isRecord(env)) return [];
  const texts = Object.entries(env).flatMap(([name, value]) => {
    return typeof value === 'string' ? [[name, read({ type: 'string' }, value)]] : [];
  });
  return namedInVariables(Object.fromEntries(texts), { base, around: base, isCode: isCodeVariable }).map((path) => ({
    path,
  }));
}

function isFree({ properties = {}, additionalProperties: others }: SchemaNode, key: string): boolean {
  return others === undefined && !Object.hasOwn(properties, key);
}

function childOf({ properties = {}, additionalProperties: others }: SchemaNode, key: string): Nodes {
  const child = Object.hasOwn(properties, key) ? properties[key] : others;
  return child === undefined || child === false ? [] : [child];
}

/** The paths under an unknown key, which is read as the nearest known key, here or elsewhere in the schema. */
function pathsUnder(
  key: string,
  member: unknown,
  { maps, place }: { readonly maps: Nodes; readonly place: PathPlace },
): readonly NamedPath[] {
  const here = maps.flatMap(({ properties = {} }) => Object.entries(properties));
  for (const known of [here, pathKeys(configNode)]) {
    const meant = known.filter(([name]) => nearest(key, [name]) !== undefined).map(([, node]) => node);
    if (meant.length > 0) return pathsIn(meant, member, place);
  }
  return guessPaths(member, place);
}

function guessPaths(value: unknown, place: PathPlace): readonly NamedPath[] {
  if (Array.isArray(value)) return value.flatMap((item) => guessPaths(item, place));
  if (isRecord(value)) {
    return pathsOfMembers(value, place, (key, member, inside) => pathsUnder(key, member, { maps: [], place: inside }));
  }
  if (typeof value !== 'string') return [];
  const [text, path] = [place.read({ type: 'string' }, value), place.read({ type: 'string', use: 'path' }, value)];
  return text === undefined || path === undefined
    ? []
    : guessPath(text, path, place.folder).map((found) => ({ path: found }));
}

/** All keys of the schema that hold paths. */
function pathKeys({
  properties = {},
  additionalProperties: others,
  items,
  anyOf = [],
}: SchemaNode): readonly [string, SchemaNode][] {
  const own = Object.entries(properties).filter(([, node]) => namesPaths(node));
  const inside = [...Object.values(properties), ...anyOf, ...(others ? [others] : []), ...(items ? [items] : [])];
  return [...own, ...inside.flatMap(pathKeys)];
}

function namesPaths({ use, items, anyOf = [] }: SchemaNode): boolean {
  return PATH_USES.includes(use) || (items !== undefined && namesPaths(items)) || anyOf.some(namesPaths);
}
