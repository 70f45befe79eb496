import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paramHeadersOf, toParamHeaders } from '../../../src/formats/mcp-headers.ts';
import { SELF } from '../../../src/kinds/mcp/handshake.ts';
import { idOfEnds, readMessage } from '../../../src/kinds/mcp/wire-requests.ts';
import { createLineSplitter } from '../../../src/system/processes/child-output.ts';

/** What becomes of a stream that comes in these pieces. */
function split(pieces: readonly Buffer[], maxBytes = 1_000_000): readonly string[] {
  const seen: string[] = [];
  const push = createLineSplitter(maxBytes, {
    onLine: (text) => void seen.push(text),
    onTooLong: (head, tail) => void seen.push(`too long: ${head.slice(0, 5)}...${tail.slice(-5)}`),
  });
  for (const piece of pieces) push(piece);
  return seen;
}

it('the client sends the version of this package', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  expect(SELF).toEqual({ name: manifest.name, version: manifest.version });
});

describe('lines of a stream', () => {
  it('are the same for any chunks', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(50)), (lines, cuts) => {
        const all = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const pieces: Buffer[] = [];
        let start = 0;
        for (const cut of cuts) {
          pieces.push(all.subarray(start, start + cut));
          start += cut;
        }
        pieces.push(all.subarray(start));
        expect(split(pieces)).toEqual(lines);
      }),
    );
  });

  it('that are too long are dropped, except for their ends', () => {
    const long = `abcde${'x'.repeat(100)}vwxyz`;
    const pieces = [`short\n${long.slice(0, 30)}`, long.slice(30, 60), `${long.slice(60)}\nlast\n`];
    expect(
      split(
        pieces.map((piece) => Buffer.from(piece)),
        50,
      ),
    ).toEqual(['short', 'too long: abcde...vwxyz', 'last']);
    expect(split([Buffer.from(`${long}\n${long}\n`)], 50)).toHaveLength(2);
  });
});

describe('a message', () => {
  it('is valid JSON-RPC, or ignored', () => {
    expect(readMessage('{"jsonrpc":"2.0","id":1}')).toEqual({ jsonrpc: '2.0', id: 1 });
    for (const text of ['', 'x', '1', 'null', '[]', '{}', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0"'])
      expect(readMessage(text)).toBeUndefined();
  });

  it('that is too long still names its request at its ends', () => {
    expect(idOfEnds('{"jsonrpc":"2.0","id":17,"result":{"a":', '')).toBe(17);
    expect(idOfEnds('{ "id": 5, "jsonrpc"', '')).toBe(5);
    expect(idOfEnds('{"result":{"content"', '"}]},"jsonrpc":"2.0","id":8}')).toBe(8);
    expect(idOfEnds('{"result":', ',"id":8,"jsonrpc":"2.0"}')).toBe(8);
    expect(idOfEnds('{"result":{"id":5,', '"id":5}}')).toBeUndefined();
    expect(idOfEnds('{"jsonrpc":"2.0","method":"x","params":', '"}')).toBeUndefined();
  });
});

describe('arguments in headers', () => {
  const object = (properties: object) => ({ type: 'object', properties });
  const header = (name: unknown, type = 'string') => ({ type, 'x-mcp-header': name });

  it('are found at any depth of properties, and nowhere else', () => {
    const schema = object({ a: header('A'), b: object({ c: header('C', 'integer') }), d: { type: 'string' } });
    expect(paramHeadersOf(schema)).toEqual([
      { path: ['a'], header: 'A' },
      { path: ['b', 'c'], header: 'C' },
    ]);
    expect(paramHeadersOf(object({ properties: object({ 'x-mcp-header': { type: 'string' } }) }))).toEqual([]);
  });

  it.each([
    ['no text', object({ a: header(7) })],
    ['no name of a header', object({ a: header('a b') })],
    ['an empty name', object({ a: header('') })],
    ['a number', object({ a: header('A', 'number') })],
    ['an object', object({ a: header('A', 'object') })],
    ['one name twice', object({ a: header('A'), b: header('a') })],
    ['the whole', { ...object({}), 'x-mcp-header': 'A' }],
    ['items of a list', object({ a: { type: 'array', items: header('A') } })],
    ['one of several', { ...object({}), oneOf: [object({ a: header('A') })] }],
    ['a definition', { ...object({}), $defs: { a: header('A') } }],
  ])('cannot be %s', (_, schema) => {
    expect(paramHeadersOf(schema)).toEqual(expect.any(String));
  });

  it('are text that a header can carry', () => {
    const schema = object({ a: header('A'), n: header('N', 'integer'), f: header('F', 'boolean') });
    const headers = paramHeadersOf(schema);
    if (typeof headers === 'string') throw new Error(headers);
    expect(toParamHeaders(headers, { a: 'plain', n: 5, f: false })).toEqual({
      'Mcp-Param-A': 'plain',
      'Mcp-Param-N': '5',
      'Mcp-Param-F': 'false',
    });
    for (const text of ['', ' a', 'a ', 'ä', 'a\r\nX: y', '=?base64?eA==?=']) {
      const base64 = Buffer.from(text).toString('base64');
      expect(toParamHeaders(headers, { a: text })).toEqual({ 'Mcp-Param-A': `=?base64?${base64}?=` });
    }
    expect(toParamHeaders(headers, { a: null, n: 2 ** 60, f: [true] as never })).toEqual({});
  });
});
