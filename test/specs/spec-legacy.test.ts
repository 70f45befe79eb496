import { describe, expect, it } from 'vitest';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { splitCommand } from '../../src/specs/legacy-spec.ts';
import { createEntryReader } from '../../src/specs/spec-entry.ts';
import { readSpecText } from '../../src/specs/spec-text.ts';

/** The `tools.yaml` of seed 003, to the letter. */
const SEED_003 = `# tools.yaml
tools:
  - name: file_reader
    description: Read file contents
    tool_type: python
    input_schema:
      type: object
      properties:
        path: {type: string}
    implementation_config:
      module: file_tools
      function_name: read_file
    metadata:
      category: filesystem
      requires_approval: false

  - name: dangerous_delete
    description: Delete files
    tool_type: shell
    input_schema:
      type: object
      properties:
        path: {type: string}
    implementation_config:
      command: "rm {path}"
    metadata:
      is_dangerous: true
      requires_approval: true
`;

const read = (entry: unknown): ToolSpec => createEntryReader({ source: 'old' })(entry);
const runOf = (tool_type: string, implementation_config: object) =>
  read({ name: 'a', tool_type, implementation_config })[RUN];

describe('the tools.yaml of seed 003', () => {
  it('is accepted as it is', () => {
    const reading = readSpecText(Buffer.from(SEED_003), { format: 'yaml', file: 'tools.yaml', source: 'old' });
    expect(reading).toMatchObject({ ok: true, problems: [] });
    const [reader, remover] = reading.ok ? reading.entries.map(({ spec }) => spec) : [];
    expect(reader).toEqual({
      name: 'file_reader',
      description: 'Read file contents',
      input: { type: 'object', properties: { path: { type: 'string' } } },
      effects: {},
      policy: {},
      tags: [],
      category: 'filesystem',
      source: 'old',
      origin: 'file_reader',
      [RUN]: { kind: 'python', module: 'file_tools', function: 'read_file' },
    });
    expect(remover).toEqual({
      name: 'dangerous_delete',
      description: 'Delete files',
      input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      effects: { destructive: true },
      policy: { approval: 'always' },
      tags: [],
      source: 'old',
      origin: 'dangerous_delete',
      [RUN]: { kind: 'shell', command: ['rm', '{path}'] },
    });
  });

  it('keeps all of its metadata', () => {
    const metadata = { version: 1.2, tags: ['x'], permissions: ['files.read'], is_dangerous: false, author: 'ann' };
    expect(read({ name: 'a', tool_type: 'python', output_schema: { type: 'string' }, metadata })).toMatchObject({
      version: '1.2',
      tags: ['x'],
      output: { type: 'string' },
      effects: { destructive: false },
      policy: { access: [{ permissions: ['files.read'] }] },
      meta: { author: 'ann' },
    });
  });

  it('names each type of tool', () => {
    expect(runOf('SHELL', { command: ['ls'], working_dir: '/srv', environment: { A: 'b' } })).toEqual({
      kind: 'shell',
      command: ['ls'],
      cwd: '/srv',
      env: { A: 'b' },
    });
    expect(runOf('sandbox', { command: 'ls -l' })).toEqual({ kind: 'shell', sandbox: {}, command: ['ls', '-l'] });
    expect(runOf('sandbox', { command: 'ls', sandbox: { network: false } })).toMatchObject({
      sandbox: { network: false },
    });
    expect(runOf('mcp', { server_name: 'gh', tool_name: 'list' })).toEqual({ kind: 'mcp', source: 'gh', tool: 'list' });
    expect(runOf('mcp', { server: 'gh' })).toEqual({ kind: 'mcp', source: 'gh', tool: 'a' });
    expect(runOf('http', { url: 'https://x', params: { q: '{q}' } })).toEqual({
      kind: 'http',
      method: 'GET',
      url: 'https://x',
      query: { q: '{q}' },
    });
    expect(runOf('function', { module: './a.js', function_name: 'f' })).toEqual({
      kind: 'function',
      module: './a.js',
      export: 'f',
    });
    expect(runOf('custom', { anything: 1 })).toEqual({ kind: 'custom', anything: 1 });
  });

  it('makes every argument that a command or address needs a required property', () => {
    const spec = read({
      name: 'a',
      tool_type: 'shell',
      input_schema: { properties: { from: { type: 'integer' }, depth: {} }, required: ['depth'] },
      implementation_config: { command: 'cp --from={from} "{to}" {{nor}}' },
    });
    expect(spec.input).toEqual({
      type: 'object',
      properties: { from: { type: 'integer' }, depth: {}, to: { type: 'string' } },
      required: ['depth', 'from', 'to'],
    });
    const http = read({ name: 'a', tool_type: 'http', implementation_config: { url: 'https://x/{id}' } });
    expect(http.input).toMatchObject({ required: ['id'] });
  });

  it.each<[object, string]>([
    [
      { name: 'a', tool_type: 'shell', implementation_config: { command: 'cat {path} | wc' } },
      'uses "|", which needs a shell',
    ],
    [{ name: 'a', tool_type: 'shell', implementation_config: 'rm' }, 'implementation_config must be an object'],
    [{ name: 'a', implementation_config: { command: 'rm' } }, 'tool_type must be a string'],
    [
      { name: 'a', tool_type: 'shell', implementation_config: { command: 'rm' }, input_schma: {} },
      'has no "input_schma"',
    ],
    [{ name: 'a', tool_type: 'python', metadata: { is_dangerous: 'yes' } }, 'effects.destructive'],
  ])('refuses %j', (entry, message) => {
    expect(() => read(entry)).toThrow(message);
  });
});

describe('a command line', () => {
  it.each<[string, readonly string[]]>([
    ['rm {path}', ['rm', '{path}']],
    ['  git   log\t--format={format}  ', ['git', 'log', '--format={format}']],
    [`echo 'a b' "c d" e\\ f`, ['echo', 'a b', 'c d', 'e f']],
    [`grep "say \\"x\\"" '{file}'`, ['grep', 'say "x"', '{file}']],
    [`awk '{print $1}' {file}`, ['awk', '{print $1}', '{file}']],
    [`echo '' "" x`, ['echo', '', '', 'x']],
    [`echo 'a|b; $(c)' "d|e"`, ['echo', 'a|b; $(c)', 'd|e']],
    [`echo \\$HOME "\\$HOME"`, ['echo', '$HOME', '$HOME']],
  ])('%j is split on white space, quotes respected', (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  it.each<[string, string]>([
    ['cat x | wc', 'uses "|"'],
    ['cat x > y', 'uses ">"'],
    ['a && b', 'uses "&"'],
    ['a; b', 'uses ";"'],
    ['echo $(whoami)', 'uses "$("'],
    ['echo `whoami`', 'uses "`"'],
    ['echo $HOME', 'uses "$H"'],
    ['echo "$HOME"', 'uses "$H"'],
    [`echo 'a`, 'an unclosed quote'],
    ['echo "a', 'an unclosed quote'],
    ['echo \\', 'a \\ at its end'],
    ['  ', 'is empty'],
  ])('%j is refused, because no shell runs it', (command, message) => {
    expect(() => splitCommand(command)).toThrow(message);
  });
});
