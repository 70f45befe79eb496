import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AVAILABLE, COMMANDS } from '../../../src/doors/cli/commands.ts';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const DOCS = readFileSync(join(import.meta.dirname, '../../../docs/cli.md'), 'utf8');
const documented = [...DOCS.matchAll(/^```json toolcrib (.+)\n([\s\S]*?)^```$/gm)].map(
  ([, command = '', shape = '']) => [command, JSON.parse(shape)] as const,
);

const SPEC = {
  name: 'get_pet',
  input: { type: 'object' },
  run: { kind: 'http', method: 'GET', url: 'https://example.com' },
};
const office = createWorkshop({
  ...OFFICE,
  'other.yaml': OFFICE['toolcrib.yaml'].replace('sqlite:.toolcrib/crib.db', 'sqlite:.toolcrib/other.db'),
  'short.yaml': 'sources: { office: { modules: ./tools } }',
  'sum.js': 'return tools.add({ a: input.a, b: 2 })',
  'pet.yaml': JSON.stringify(SPEC),
  'requests.jsonl':
    '{"id":"1","query":"add two numbers","relevant":["add"]}\n{"id":"2","query":"add salt","relevant":[]}',
  'said.jsonl': '{"tool":"add","of":"0123456789abcdef","requests":["what do these make together"]}\n',
  'mcp.json': '{ "mcpServers": { "github": { "command": "github-mcp" } } }',
});
afterAll(office.remove);

/** Where a value is not of the documented shape: a missing or unknown key, or another type. */
function differences(value: unknown, shape: unknown, path = '$'): readonly string[] {
  if (typeOf(value) !== typeOf(shape)) return [`${path} is ${typeOf(value)}, documented as ${typeOf(shape)}`];
  if (Array.isArray(value) && Array.isArray(shape)) {
    return shape.length === 0 ? [] : value.flatMap((item, index) => differences(item, shape[0], `${path}[${index}]`));
  }
  if (!isObject(value) || !isObject(shape) || Object.keys(shape).length === 0) return [];
  const known = new Map(Object.entries(shape).map(([key, member]) => [key.replace('?', ''), member]));
  const required = Object.keys(shape).filter((key) => !key.endsWith('?'));
  return [
    ...required.filter((key) => !(key in value)).map((key) => `${path}.${key} is missing`),
    ...Object.entries(value).flatMap(([key, member]) =>
      known.has(key) ? differences(member, known.get(key), `${path}.${key}`) : [`${path}.${key} is not documented`],
    ),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('JSON has the shape that docs/cli.md shows', () => {
  // In order: what one command stores the next one reads.
  const inOrder = documented.toSorted(
    ([a], [b]) => Number(b.startsWith('specs add')) - Number(a.startsWith('specs add')),
  );
  it.each(inOrder)('toolcrib %s', async (command, shape) => {
    const args = command === 'init' ? ['init', '--config', 'new.yaml', '--from', 'mcp.json'] : command.split(' ');
    expect(differences(await office.json(args), shape)).toEqual([]);
  });

  it('of every command that has one', () => {
    const shown = new Set(documented.map(([command]) => command.split(' ')[0]));
    const others = ['completion', 'serve', 'logs', 'worker']; // logs and worker print an object a line, which other tests read
    const withJson = AVAILABLE.filter(({ name }) => !others.includes(name));
    expect(withJson.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  it('and the comparison notices missing, unknown and wrongly typed members', () => {
    const shape = { a: 1, 'b?': ['x'], c: {} };
    expect(differences({ a: 1, c: { any: 1 } }, shape)).toEqual([]);
    expect(differences({ a: '1', b: [1], d: 1 }, shape)).toEqual([
      '$.c is missing',
      '$.a is string, documented as number',
      '$.b[0] is number, documented as string',
      '$.d is not documented',
    ]);
  });
});

describe('docs/cli.md', () => {
  it('names every command', () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !DOCS.includes(`\`${name}`))).toEqual([]);
  });
});
