import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import type { SpecFormat, SpecReading } from '../../src/specs/entry-collector.ts';
import { createSpecTextReader, readSpecText } from '../../src/specs/spec-text.ts';

function read(text: string | Uint8Array, format: SpecFormat = 'yaml'): SpecReading {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return readSpecText(bytes, { format, file: `tools.${format}`, source: 'local' });
}

function specsOf(reading: SpecReading): readonly ToolSpec[] {
  if (!reading.ok) throw new Error(reading.reason);
  expect(reading.problems).toEqual([]);
  return reading.entries.map((entry) => entry.spec);
}

function problemsOf(reading: SpecReading) {
  if (!reading.ok) throw new Error(reading.reason);
  return reading.problems;
}

function reasonOf(reading: SpecReading): string {
  return reading.ok ? 'it was read' : reading.reason;
}

const entry = (name: string) => ({
  name,
  description: `Does ${name}`,
  run: { kind: 'http', method: 'GET', url: 'https://x' },
});

describe('a spec file', () => {
  it('yields one spec per entry, in the form of the contract', () => {
    const [spec] = specsOf(
      read(`tools:
  - name: file_reader
    description: Read a file of the workspace
    input: { type: object, properties: { path: { type: string } }, required: [path], additionalProperties: false }
    run: { kind: shell, command: ["cat", "--", "{path}"], cwd: ./workspace, sandbox: { read: ["./workspace"], network: false } }
    effects: { readOnly: true }
    policy: { timeoutMs: 5000 }
    tags: [files, read]
    meta: { supportsStreaming: false }
`),
    );
    expect(spec).toEqual({
      name: 'file_reader',
      description: 'Read a file of the workspace',
      input: {
        type: 'object',
        properties: { path: { type: 'string' } },
        required: ['path'],
        additionalProperties: false,
      },
      effects: { readOnly: true },
      policy: { timeoutMs: 5000 },
      tags: ['files', 'read'],
      meta: { supportsStreaming: false },
      source: 'local',
      origin: 'file_reader',
      [RUN]: {
        kind: 'shell',
        command: ['cat', '--', '{path}'],
        cwd: './workspace',
        sandbox: { read: ['./workspace'], network: false },
      },
    });
  });

  it.each<[SpecFormat, string]>([
    ['yaml', 'tools:\n- name: one\n  run: {kind: http}\n- name: two\n  run: {kind: http}\n'],
    ['yaml', '- name: one\n  run: {kind: http}\n- name: two\n  run: {kind: http}\n'],
    ['json', '{"tools": [{"name": "one", "run": {"kind": "http"}},\n{"name": "two", "run": {"kind": "http"}}]}'],
    ['json', '[{"name": "one", "run": {"kind": "http"}},\n\n{"name": "two", "run": {"kind": "http"}}]'],
    ['ndjson', '{"name": "one", "run": {"kind": "http"}}\n\n{"name": "two", "run": {"kind": "http"}}\n'],
    ['ndjson', '\ufeff{"name": "one", "run": {"kind": "http"}}\r\n{"name": "two", "run": {"kind": "http"}}'],
  ])('is read as %s: %j', (format, text) => {
    expect(specsOf(read(text, format)).map((spec) => spec.name)).toEqual(['one', 'two']);
  });

  it.each<[SpecFormat, string, readonly number[]]>([
    ['yaml', '# first\ntools:\n- name: one\n  run: {kind: http}\n\n- name: two\n  run: {kind: http}\n', [3, 6]],
    [
      'json',
      '{\n"other": [["tools", {}]], "x": "a\\"]", "tools":\n [\n{"name": "one", "run": {"kind": "http"}},\n{"name":\n"two", "run": {"kind": "http"}}]}',
      [4, 5],
    ],
    [
      'json',
      '[\n\n{"name": "one", "run": {"kind": "http", "list": [1,\n2]}}, {"name": "two", "run": {"kind": "http"}}]',
      [3, 4],
    ],
    ['ndjson', '\n{"name": "one", "run": {"kind": "http"}}\n\n{"name": "two", "run": {"kind": "http"}}\n', [2, 4]],
    [
      'json',
      '{"tools": [{"name": "gone"}, {}],\n"tools": [\n{"name": "one", "run": {"kind": "http"}},\n{"name": "two", "run": {"kind": "http"}}]}',
      [3, 4],
    ],
  ])('has the place in %s of an entry', (format, text, lines) => {
    const reading = read(text, format);
    expect(reading.ok && reading.entries.map(({ line, index }) => [line, index])).toEqual(
      lines.map((line, index) => [line, index]),
    );
  });
});

describe('a bad entry', () => {
  it.each<[SpecFormat, string, number]>([
    [
      'yaml',
      'tools:\n- name: good\n  run: {kind: http}\n- name: bad\n  efects: {}\n  run: {kind: http}\n- name: last\n  run: {kind: http}\n',
      4,
    ],
    [
      'json',
      '{"tools":[{"name":"good","run":{"kind":"http"}},\n{"name":"bad","efects":{},"run":{"kind":"http"}},{"name":"last","run":{"kind":"http"}}]}',
      2,
    ],
    [
      'ndjson',
      '{"name":"good","run":{"kind":"http"}}\n\n{"name":"bad","efects":{},"run":{"kind":"http"}}\n{"name":"last","run":{"kind":"http"}}\n',
      3,
    ],
  ])('of %s is reported with file, line and index, and the good ones load', (format, text, line) => {
    const reading = read(text, format);
    expect(problemsOf(reading)).toEqual([
      {
        file: `tools.${format}`,
        line,
        index: 1,
        name: 'bad',
        message: 'Tool "bad" has no "efects". Did you mean "effects"?',
      },
    ]);
    expect(reading.ok && reading.entries.map(({ spec }) => spec.name)).toEqual(['good', 'last']);
  });

  it.each<[string, string]>([
    ['- #x', 'null is not a tool'],
    ['- hello', '"hello" is not a tool'],
    ['- [a]', 'a list is not a tool'],
    ['- {run: {kind: http}}', 'is not a tool name'],
    ['- {name: a b, run: {kind: http}}', '"a b" is not a tool name'],
    ['- {name: a}', 'has no run'],
    ['- {name: a, run: cat}', 'has no run'],
    ['- {name: a, run: {kind: http, parse: x}}', '"parse" is not allowed in run'],
    ['- {name: a, run: {kind: http, needs: [clock]}}', 'write it beside run'],
    ['- {name: a, run: {kind: http}, input: [1]}', 'input schema must be'],
    ['- {name: a, run: {kind: http}, input: {type: string}}', 'must describe an object'],
    ['- {name: a, run: {kind: http}, policy: {timeoutMs: 0}}', 'timeoutMs'],
    ['- {name: a, run: {kind: http}, meta: {x: .inf}}', 'not JSON'],
    ['- {name: a, run: {kind: http}, tags: [1]}', 'tags must be a name'],
    ['- {name: a, run: {kind: http}, __proto__: {x: 1}}', 'has no "__proto__"'],
    ['- {name: a, run: {kind: http}, meta: {__proto__: {x: 1}}}', 'not allowed as a name'],
    ['- {name: a, name: b, run: {kind: http}}', 'A key is duplicated, at line 1, column 13'],
    ['- {name: a, run: *nothing}', 'nothing'],
    ['- &a {name: a, run: {kind: http}, meta: {x: *a}}', 'contains itself'],
  ])('such as %j gets the reason', (text, message) => {
    expect(problemsOf(read(text))).toEqual([
      expect.objectContaining({ line: 1, index: 0, message: expect.stringContaining(message) }),
    ]);
  });

  it('with a duplicate key, at any depth, affects no other', () => {
    const reading = read(
      '- {name: a, run: {kind: http}}\n- {name: b, meta: [{x: 1, x: 2}], run: {kind: http}}\n- {name: c, run: {kind: http}}',
    );
    expect(problemsOf(reading)).toMatchObject([
      { line: 2, index: 1, message: 'A key is duplicated, at line 2, column 27.' },
    ]);
    expect(reading.ok && reading.entries.map(({ spec }) => spec.name)).toEqual(['a', 'c']);
  });

  it('of NDJSON that is not JSON affects only its line', () => {
    const reading = read(`${JSON.stringify(entry('a'))}\n{"name": "b"\n${JSON.stringify(entry('c'))}`, 'ndjson');
    expect(problemsOf(reading)).toEqual([
      { file: 'tools.ndjson', line: 2, index: 1, message: expect.stringContaining('The line is not JSON') },
    ]);
    expect(reading.ok && reading.entries.map(({ index }) => index)).toEqual([0, 2]);
  });

  it('with a number that JSON cannot carry is refused in NDJSON, too', () => {
    const text = '{"name":"a","input":{"type":"object","properties":{"x":{"maximum":1e999}}},"run":{"kind":"http"}}';
    expect(problemsOf(read(text, 'ndjson'))[0]?.message).toContain('Infinity');
  });

  it('that is nested too deeply is refused before the stack overflows', () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const text = `{"name":"a","meta":{"x":${deep}},"run":{"kind":"http"}}`;
    expect(problemsOf(read(text, 'ndjson'))[0]?.message).toContain('nested deeper');
  });
});

describe('a text that is not a list of tools', () => {
  it.each<[string, SpecFormat, string | Uint8Array, string]>([
    ['empty', 'yaml', '', 'it is empty'],
    ['tabs', 'yaml', 'tools:\n\t- name: x\n', 'Tabs are not allowed as indentation at line 2, column 1'],
    ['an open bracket', 'yaml', 'tools: [', 'it is not YAML'],
    ['two documents', 'yaml', '- a\n---\n- b\n', 'multiple documents'],
    ['a key twice at the top', 'yaml', 'tools: []\ntools: []\n', 'a key is duplicated, at line 2, column 1'],
    [
      'keys twice in a hundred entries and one',
      'yaml',
      '- {name: a, name: a, run: {kind: http}}\n'.repeat(101),
      'a key is duplicated, at line 1, column 13',
    ],
    ['only a comment', 'yaml', '# nothing here\n', 'it contains null'],
    ['a text', 'yaml', 'hello', 'it contains "hello"'],
    ['another key', 'yaml', 'tool:\n- name: a\n', 'it has no "tools", but "tool"'],
    ['tools that are not a list', 'yaml', 'tools: {a: 1}\n', '"tools" must be a list, got an object'],
    ['broken JSON', 'json', '{"tools": [', 'it is not JSON'],
    ['JSON of something else', 'json', '{"name": "package"}', 'it has no "tools"'],
    ['a binary', 'yaml', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2), 'it is not text in UTF-8'],
    ['a binary', 'ndjson', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2), 'it is not text in UTF-8'],
    ['UTF-16', 'json', Buffer.from('\ufeff{"tools":[]}', 'utf16le'), 'it is not text in UTF-8'],
    ['a thousand bad lines', 'ndjson', 'no\n'.repeat(1001), 'more than 1000 entries are invalid'],
  ])('(%s) is refused with a sentence', (_, format, text, reason) => {
    expect(reasonOf(read(text, format))).toContain(reason);
    expect(reasonOf(read(text, format))).not.toMatch(/\.$/); // who tells it ends the sentence
  });

  it('is not expanded through its aliases', () => {
    const letters = [...'abcdefghi'];
    const lists = letters.map(
      (letter, index) =>
        `${letter}: &${letter} [${Array(9)
          .fill(index === 0 ? 'x' : `*${letters[index - 1]}`)
          .join(',')}]`,
    );
    const bomb = `${lists.join('\n')}\ntools:\n- {name: a, meta: {x: *i}, run: {kind: http}}\n- {name: b, run: {kind: http}}\n`;
    const reading = read(bomb);
    expect(problemsOf(reading)[0]?.message).toContain('alias');
    expect(reading.ok && reading.entries.map(({ spec }) => spec.name)).toEqual(['b']);
  });

  it('may have a hundred thousand keys, without a quadratic comparison', () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `key_${index}: 1\n`).join('');
    expect(reasonOf(read(keys))).toContain('it has no "tools"');
  });

  it('may be nested too deeply', () => {
    expect(reasonOf(read(`tools: ${'['.repeat(20_000)}`))).toMatch(/nested too deeply|not YAML/);
  });
});

describe('NDJSON', () => {
  it('is read the same in any chunks', () => {
    const text = Buffer.from(
      `${JSON.stringify(entry('ä'.repeat(3)))}\n\nbroken\n${['a', 'b', 'c'].map((name) => JSON.stringify(entry(name))).join('\n')}`,
    );
    const options = { format: 'ndjson', file: 'f', source: 's' } as const;
    const whole = readSpecText(text, options);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const reader = createSpecTextReader(options);
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const shared = Buffer.alloc(text.length); // overwritten by the next piece, as a reader of files does
        for (let index = 1; index < at.length; index++) {
          const piece = text.subarray(at[index - 1], at[index]);
          reader.take(shared.subarray(0, piece.copy(shared)));
        }
        expect(reader.end()).toEqual(whole);
      }),
    );
  });
});
