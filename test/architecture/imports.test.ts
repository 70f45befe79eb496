import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { RULE_BREAKERS, SYSTEM_KNOWS } from './allowed.ts';
import { files, type Import, imports, readSource, roomOf } from './source-files.ts';

const BASE = ['core', 'schemas', 'system'];
const TOOLBOX = ['store', 'formats', 'define', 'specs', 'config', 'testing'];
const FEATURES = ['sources', 'extensions', 'approvals', 'audit', 'identity', 'search', 'stops', 'tasks'];
/** Files that list the leaves of a room, and are all that knows each of them. */
const _TABLES = ['kinds/index.ts', 'sources/index.ts'];
const KINDS = [...new Set(files.filter((file) => /^kinds\/.+\//.test(file)).map(roomOf))];

/** The import rule of docs/architecture.md: what a room may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  schemas: ['core'],
  system: ['core', 'schemas'],
  ...Object.fromEntries(TOOLBOX.map((room) => [room, BASE])),
  specs: [...BASE, 'define'],
  ...Object.fromEntries([...FEATURES, ...KINDS].map((room) => [room, [...BASE, ...TOOLBOX]])),
  'kinds/index.ts': [...BASE, ...TOOLBOX, ...KINDS],
  call: ['core'],
  crib: [...BASE, ...TOOLBOX, ...FEATURES, ...KINDS, 'kinds/index.ts', 'call'],
  doors: ['core', 'system', 'formats', 'config', 'call', 'crib'],
};
/** Of these rooms doors may know types. */
const SHOWN_AT_DOORS = [...FEATURES, ...KINDS];

/** Rooms whose files are leaves: none knows its sibling. */
const LEAF_ROOMS = ['extensions', 'sources'];

/** An npm package is wrapped in one place. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  ajv: /^(schemas|testing)\//,
  'ajv-formats': /^schemas\//,
  re2js: /^schemas\//,
  yaml: /^(specs\/spec-text\.ts|config\/|kinds\/http\/openapi\/)/,
  pg: /^store\/engines\//,
  'prom-client': /^system\/prometheus\.ts$/,
  '@opentelemetry/api': /^system\/telemetry\.ts$/,
  croner: /^tasks\/cron\.ts$/,
  jose: /^identity\/jwt\.ts$/,
  '@modelcontextprotocol/client': /^kinds\/mcp\//,
  '@modelcontextprotocol/server': /^doors\/mcp\//,
  '@langchain/core': /^formats\/langchain\.ts$/,
  'quickjs-emscripten-core': /^kinds\/script\/empty-machine\.ts$/,
  '@jitl/quickjs-wasmfile-release-sync': /^kinds\/script\/empty-machine\.ts$/,
  'gpt-tokenizer': /^formats\/token-cost\.ts$/,
  '@clack/prompts': /^doors\/cli\//,
  hono: /^doors\/rest\//,
  '@hono/node-server': /^doors\/rest\/http-listener\.ts$/,
};

/** The words for a tool, a spec and a kind. */
const TOOL_WORDS =
  /^core\/(tool-(call|result|spec)|bundle|catalog|executor|extension|policy|profile|retriever|selector|source|view)\.ts$/;

const known = new Set(files);
const inside = imports.filter(({ target }) => known.has(target));
const say = ({ file, target }: Pick<Import, 'file' | 'target'>) => `${file} -> ${target}`;

/** True for an import that the rule does not allow. */
function breaksRule({ file, target, isType }: Import): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (!file.includes('/') || from === to || MAY_IMPORT[from]?.includes(to)) return false;
  return !(from === 'doors' && isType && SHOWN_AT_DOORS.includes(to));
}

describe('which rooms may import which', () => {
  it('the rule names every room of src', () => {
    const rooms = new Set(files.filter((file) => file.includes('/')).map(roomOf));
    expect([...rooms].filter((room) => MAY_IMPORT[room] === undefined)).toEqual([]);
  });

  it('a room imports only what the rule allows; the list of exceptions only shrinks', () => {
    const breaking = new Set(inside.filter(breaksRule).map(say));
    expect([...breaking].filter((edge) => !RULE_BREAKERS.includes(edge))).toEqual([]);
    expect(RULE_BREAKERS.filter((edge) => !breaking.has(edge))).toEqual([]);
  });

  it('core imports nothing from outside itself', () => {
    const outside = imports.filter(({ file, target }) => file.startsWith('core/') && !target.startsWith('core/'));
    expect(outside.map(say)).toEqual([]);
  });

  it('system knows neither tools nor specs nor kinds; the list of exceptions only shrinks', () => {
    const knowing = inside.filter(({ file, target }) => file.startsWith('system/') && TOOL_WORDS.test(target)).map(say);
    expect(knowing.filter((edge) => !SYSTEM_KNOWS.includes(edge))).toEqual([]);
    expect(SYSTEM_KNOWS.filter((edge) => !knowing.includes(edge))).toEqual([]);
  });

  it('leaves of one room do not import each other; their table, index.ts, imports all of them', () => {
    const isLeaf = (path: string) => path.split('/').length === 2;
    const leaves = inside.filter(({ file }) => LEAF_ROOMS.includes(roomOf(file)) && !/^\w+\/index\.ts$/.test(file));
    const wrong = leaves.filter(({ file, target }) => roomOf(file) === roomOf(target) && isLeaf(target));
    expect(wrong.map(say)).toEqual([]);
  });

  it('extensions and the spec reader name no kind', () => {
    const kinds = KINDS.map((room) => room.replace('kinds/', '')).filter((kind) => kind !== 'function'); // also a word of JavaScript
    const named = new RegExp(`'(?:${kinds.join('|')})'|\\bkind [!=]== '(?!string)`);
    const formerFormat = 'specs/legacy-spec.ts'; // it had kinds of its own
    const asked = files.filter((file) => /^(extensions|specs)\//.test(file) && file !== formerFormat);
    expect(asked.filter((file) => named.test(readSource(file)))).toEqual([]);
  });

  it('lexical search and dense search do not import each other', () => {
    const wrong = inside.filter(
      ({ file, target }) =>
        (file.startsWith('search/lexical/') && target.startsWith('search/dense/')) ||
        (file.startsWith('search/dense/') && target.startsWith('search/lexical/')),
    );
    expect(wrong.map(say)).toEqual([]);
  });

  it('an npm package is wrapped in one place', () => {
    const packages = imports.filter(({ target }) => !known.has(target) && !isBuiltin(target));
    const wrong = packages.filter(({ file, target }) => !PACKAGES[packageOf(target)]?.test(file));
    expect(wrong.map(say)).toEqual([]);
  });

  it('no file imports itself in a circle', () => {
    const next = new Map<string, string[]>();
    const atRunTime = inside.filter(({ isType }) => !isType);
    for (const { file, target } of atRunTime) next.set(file, [...(next.get(file) ?? []), target]);
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of next.get(file) ?? []) walk(target, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe('how the sources read', () => {
  it('every noun of the design is defined in the file of that name', () => {
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
      const text = file === undefined ? '' : readSource(file);
      return !new RegExp(`export (interface|type) ${noun}\\b`).test(text);
    });
    expect(missing).toEqual([]);
  });

  it('no file has an empty name such as util or helper', () => {
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
