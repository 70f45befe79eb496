import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../../core/json.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { isThere } from '../placeholders.ts';

/** An installed package, with the text of its package.json. */
export interface InstalledPackage {
  readonly name: string;
  readonly folder: string;
  readonly manifest: string;
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

/** The packages that the project of a folder depends on, sorted by name. Reads only their package.json. */
export function installedPackages(folder: string): readonly InstalledPackage[] {
  const project = ancestorsOf(folder).find(isProject) ?? folder;
  const manifest = join(project, 'package.json');
  const shelves = nodeModulesOf(project);
  const names = isThere(manifest) ? dependenciesIn(manifest) : shelves.slice(0, 1).flatMap(namesOn);
  return [...new Set(names)].sort().flatMap((name) => findOn(shelves, name) ?? []);
}

/** The package with this name, as resolved from a file in `folder`. */
export function findPackage(name: string, folder: string): InstalledPackage | undefined {
  return findOn(nodeModulesOf(folder), name);
}

/** Parses a package.json. Throws if it is not an object. */
export function readManifest(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(text);
    if (isRecord(manifest)) return manifest;
  } catch (cause) {
    throw new ToolcribError('invalid_file', `${path} is not JSON: ${messageOf(cause)}`, { cause });
  }
  throw new ToolcribError('invalid_file', `${path} must contain a JSON object`);
}

function ancestorsOf(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestorsOf(parent)];
}

function isProject(folder: string): boolean {
  return isThere(join(folder, 'package.json')) || isThere(join(folder, 'node_modules'));
}

function nodeModulesOf(folder: string): readonly string[] {
  return ancestorsOf(folder)
    .map((ancestor) => join(ancestor, 'node_modules'))
    .filter(isThere);
}

function dependenciesIn(path: string): readonly string[] {
  const manifest = readManifest(path, readFileSync(path, 'utf8'));
  return DEPENDENCIES.flatMap((key) => {
    const dependencies = manifest[key];
    return isRecord(dependencies) ? Object.keys(dependencies) : [];
  });
}

function namesOn(shelf: string): readonly string[] {
  return readdirSync(shelf).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(shelf, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function findOn(shelves: readonly string[], name: string): InstalledPackage | undefined {
  for (const shelf of shelves) {
    const folder = join(shelf, name);
    try {
      return { name, folder, manifest: readFileSync(join(folder, 'package.json'), 'utf8') };
    } catch {
      // Not in this folder. A package that cannot be read could not be imported either.
    }
  }
  return undefined;
}
