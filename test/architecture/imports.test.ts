import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');

/** The import table of docs/architecture.md: what a folder may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  extensions: ['core'],
  retrieval: ['core'],
  runtime: ['core'],
  store: ['core'],
  formats: ['core'],
  testing: ['core'],
  sources: ['core', 'runtime', 'formats'],
  executors: ['core', 'runtime', 'formats'],
  tasks: ['core'],
  crib: ['core', 'extensions', 'retrieval', 'runtime', 'store', 'formats', 'sources', 'executors', 'tasks'],
  doors: ['core', 'crib', 'formats'],
};

/** Folders whose files are leaves: none knows its sibling. Formats and runtime hold shared files, too; retrieval is one leaf of many files. */
const LEAF_FOLDERS = ['sources', 'executors', 'extensions'];

/** An npm package is wrapped in one place. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  ajv: /^(runtime|testing)\//,
  'ajv-formats': /^runtime\//,
  re2js: /^runtime\//,
  yaml: /^(runtime|crib\/config)\//,
  pg: /^store\//,
  'prom-client': /^runtime\/prometheus\.ts$/,
  '@opentelemetry/api': /^runtime\/telemetry\.ts$/,
  jose: /^runtime\/identity\/jwt\.ts$/,
  '@modelcontextprotocol/client': /^runtime\/mcp\//,
  '@modelcontextprotocol/server': /^doors\/mcp\//,
  'gpt-tokenizer': /^crib\/token-cost\.ts$/,
  '@clack/prompts': /^doors\/cli\//,
  hono: /^doors\/rest\//,
  '@hono/node-server': /^doors\/rest\/start-server\.ts$/,
};

interface Import {
  readonly file: string;
  readonly folder: string;
  readonly target: string;
}

const files = globSync('**/*.ts', { cwd: SRC });

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const patterns = [
    /\bfrom\s+'([^']+)'/g,
    /\bimport\s*\(\s*'([^']+)'/g,
    /\bimport\s+'([^']+)'/g,
    /\b(?:require|load)\(\s*'([^']+)'/g,
  ];
  const targets = patterns.flatMap((pattern) => [...text.matchAll(pattern)].flatMap((match) => match[1] ?? []));
  return targets.map((target) => ({ file, folder: file.split('/')[0] ?? '', target }));
}

const imports = files.flatMap(importsOf);
const inside = imports
  .filter(({ target }) => target.startsWith('.'))
  .map((edge) => ({ ...edge, target: relative(SRC, join(SRC, dirname(edge.file), edge.target)) }));
const say = ({ file, target }: { file: string; target: string }) => `${file} -> ${target}`;

describe('who may import whom', () => {
  it('every folder of src stands in the table', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
    expect([...folders].filter((folder) => MAY_IMPORT[folder ?? ''] === undefined)).toEqual([]);
  });

  it('a folder imports only what the table allows', () => {
    const wrong = inside.filter(({ file, folder, target }) => {
      const to = target.split('/')[0] ?? '';
      return file.includes('/') && to !== folder && !MAY_IMPORT[folder]?.includes(to);
    });
    expect(wrong.map(say)).toEqual([]);
  });

  it('core imports nothing from outside itself', () => {
    const outside = imports.filter(({ folder, target }) => folder === 'core' && !target.startsWith('./'));
    expect(outside.map(say)).toEqual([]);
  });

  it('leaves of one folder do not import each other', () => {
    const wrong = inside.filter(
      ({ folder, target }) => LEAF_FOLDERS.includes(folder) && target.startsWith(`${folder}/`),
    );
    expect(wrong.map(say)).toEqual([]);
  });

  it('search by words and search by meaning do not know each other', () => {
    const wrong = inside.filter(
      ({ file, target }) =>
        (file.startsWith('retrieval/lexical/') && target.startsWith('retrieval/dense/')) ||
        (file.startsWith('retrieval/dense/') && target.startsWith('retrieval/lexical/')),
    );
    expect(wrong.map(say)).toEqual([]);
  });

  it('an npm package is wrapped in one place', () => {
    const packages = imports.filter(({ target }) => !target.startsWith('.') && !isBuiltin(target));
    const wrong = packages.filter(({ file, target }) => !PACKAGES[packageOf(target)]?.test(file));
    expect(wrong.map(say)).toEqual([]);
  });

  it('nobody imports in a circle', () => {
    const next = new Map<string, string[]>();
    for (const { file, target } of inside) next.set(file, [...(next.get(file) ?? []), target]);
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of next.get(file) ?? []) walk(target, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles.filter((circle) => !isTypeCircle(circle))).toEqual([]);
  });
});

describe('how the sources read', () => {
  it('every noun of the design stands in the file that bears its name', () => {
    const nouns = [
      'ToolSpec',
      'Policy',
      'Bundle',
      'Profile',
      'ToolCall',
      'ToolResult',
      'Source',
      'Catalog',
      'Executor',
      'Extension',
      'Retriever',
      'Crib',
      'Chest',
    ];
    const missing = nouns.filter((noun) => {
      const name = noun.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
      const file = files.find((candidate) => candidate.endsWith(`/${name}.ts`));
      const text = file === undefined ? '' : readFileSync(join(SRC, file), 'utf8');
      return !new RegExp(`export (interface|type) ${noun}\\b`).test(text);
    });
    expect(missing).toEqual([]);
  });

  it('no file is named after nothing in particular', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|misc|manager|service|handler|old|v\d)(\.|-|$)/;
    expect(files.filter((file) => vague.test(file))).toEqual([]);
  });
});

function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

/** A circle closed by a type-only import exists for the compiler alone. */
function isTypeCircle(circle: string): boolean {
  const path = circle.split(' -> ');
  return path.slice(0, -1).some((file, index) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    const to = relative(dirname(file), path[index + 1] ?? '');
    const specifier = to.startsWith('.') ? to : `./${to}`;
    return new RegExp(`import type [^;]*'${specifier.replaceAll('.', '\\.')}'`).test(text);
  });
}
