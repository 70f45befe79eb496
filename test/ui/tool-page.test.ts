import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { localParts, toRfc3339 } from '../../ui/src/form/rfc3339.ts';
import { parseJson } from '../../ui/src/json/json-text.ts';
import { toEntries } from '../../ui/src/pages/sources/source-entries.ts';
import { toBody } from '../../ui/src/pages/tool/call-request.ts';
import { toSnippets } from '../../ui/src/pages/tool/snippets.ts';
import { countFacet, filterRows, sortRows, type ToolRow } from '../../ui/src/pages/tools/tool-rows.ts';
import { toCallCommand } from '../../ui/src/parts/call-command.ts';
import { isMarkdown, readAnswer } from '../../ui/src/result/call-answer.ts';
import { compareJson } from '../../ui/src/result/compare-json.ts';

const nodeOf = (text: string) => {
  const parsed = parseJson(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.node;
};

describe('a call to be copied', () => {
  const call = { tool: 'it', argumentsText: `{ "a": "it's $HOME \\"x\\"" }`, profile: "o'brien", origin: 'http://h:1' };

  it('is quoted for the shell, so that no value becomes a command', () => {
    for (const { name, text } of toSnippets(call).filter(({ name }) => name === 'curl' || name === 'Command line')) {
      const program = `curl() { printf '%s\\n' "$@"; }; toolcrib() { printf '%s\\n' "$@"; }; ${text}`;
      const output = execFileSync('sh', ['-c', program], { encoding: 'utf8', env: {} });
      expect(output, name).toContain(`it's $HOME`);
      expect(output, name).toContain("o'brien");
    }
  });

  it('has a word for each required argument where none was entered', () => {
    expect(toCallCommand('remove_file', { required: ['path'] })).toBe('toolcrib call remove_file path=PATH');
    expect(toCallCommand('look', {})).toBe('toolcrib call look');
    const program = `toolcrib() { printf '%s|' "$@"; }; ${toCallCommand('it', { required: ["a'; rm -rf $HOME"] })}`;
    expect(execFileSync('sh', ['-c', program], { encoding: 'utf8', env: {} })).toBe(
      "call|it|a'; rm -rf $HOME=A'; RM -RF $HOME|",
    );
  });

  it('keeps every digit of the arguments, and so does the request', () => {
    const large = { ...call, argumentsText: '{"id":90071992547409931234}' };
    for (const { name, text } of toSnippets(large)) expect(text, name).toContain('90071992547409931234');
    expect(toBody({ ...large, mode: 'dry run' })).toBe(
      '{"arguments":{"id":90071992547409931234},"profile":"o\'brien","dryRun":true}',
    );
  });
});

describe('the entries of sources', () => {
  it('have a type, their values and their place; other sections do not count', () => {
    const entries = toEntries([
      { path: '/sources/notes/trust', value: true, from: 'toolcrib.yaml:2' },
      { path: '/sources/notes/mcp/args', value: ['a.js', '-v'], from: 'toolcrib.yaml:3' },
      { path: '/sources/a~1b/files', value: './specs', from: 'toolcrib.yaml:4' },
      { path: '/profiles/notes/mcp', value: 1, from: 'toolcrib.yaml:9' },
    ]);
    expect([...entries.keys()]).toEqual(['notes', 'a/b']);
    expect(entries.get('notes')).toEqual({
      type: 'mcp',
      values: [
        { name: 'trust', text: 'true' },
        { name: 'mcp.args', text: 'a.js -v' },
      ],
      from: 'toolcrib.yaml:2',
    });
    expect(entries.get('a/b')?.type).toBe('files');
  });
});

describe('an answer', () => {
  it('keeps digits, and leaves out a text that only repeats the data', () => {
    const answer = readAnswer(
      '{"ok":true,"status":"done","callId":"1","durationMs":2,"data":{"id":9007199254740993},"content":[{"type":"text","text":"{\\"id\\": 9007199254740993}"}]}',
    );
    expect(answer).toMatchObject({ ok: true, callId: '1', durationMs: 2 });
    expect(answer.parts).toEqual([{ kind: 'json', of: { text: '{\n  "id": 9007199254740993\n}', bytes: 28 } }]);
  });

  it('has the issues of a refusal, and is a failure if it is not JSON', () => {
    const refusal = '{"ok":false,"status":"failed","error":{"code":"invalid_input","message":"No.","issues":[]}}';
    expect(readAnswer(refusal).error).toMatchObject({ code: 'invalid_input', issues: [] });
    expect(readAnswer('<html>').error?.message).toBe('The server answered with something that is not JSON.');
  });

  it('above 2 MB is cut, with a file of the whole', () => {
    const body = JSON.stringify({ ok: true, status: 'done', content: [{ type: 'text', text: 'é'.repeat(1_500_000) }] });
    const [part] = readAnswer(body).parts;
    expect(part).toMatchObject({ kind: 'text', of: { bytes: 3_000_000 } });
    if (part?.kind !== 'text') return;
    expect(part.of.text.length).toBe(64_000);
    expect(part.of.file?.size).toBe(3_000_000);
  });

  it('tells Markdown from text', () => {
    expect(['# A', '- a\n- b', '```\nx\n```', '[a](http://b)', '**a**'].every(isMarkdown)).toBe(true);
    expect(['a - b', '#tag', '2 * 3 * 4', 'x'].some(isMarkdown)).toBe(false);
  });
});

describe('two results', () => {
  it('are compared place by place; the order of members does not count', () => {
    expect(compareJson(nodeOf('{"a":1,"b":[1,2]}'), nodeOf('{"b":[1,3,4],"a":1}'))).toEqual([
      { pointer: '/b/1', kind: 'changed', before: '2', after: '3' },
      { pointer: '/b/2', kind: 'added', after: '4' },
    ]);
    expect(compareJson(nodeOf('9007199254740993'), nodeOf('9007199254740992'))).toHaveLength(1);
    expect(compareJson(nodeOf('{"x":null}'), nodeOf('{}'))).toEqual([
      { pointer: '/x', kind: 'removed', before: 'null' },
    ]);
    const spaced = '{ "a": 1, "b": [1, "c"], "d": {} }';
    expect(
      compareJson(nodeOf('{"x":{"a":1,"b":[1,"c"],"d":{}}}'), nodeOf('{}')),
      'with spaces, so that it wraps',
    ).toEqual([{ pointer: '/x', kind: 'removed', before: spaced }]);
  });
});

describe('a picked time', () => {
  it('is written as RFC 3339', () => {
    expect(toRfc3339('2026-11-16T18:04', 'date-time', 'UTC')).toBe('2026-11-16T18:04:00Z');
    expect(toRfc3339('2026-11-16T18:04:05', 'date-time', 'Local')).toMatch(/^2026-11-16T18:04:05(?:Z|[+-]\d\d:\d\d)$/);
    expect(toRfc3339('18:04', 'time', 'UTC')).toBe('18:04:00Z');
    expect(toRfc3339('2026-11-16', 'date', 'UTC')).toBe('2026-11-16');
    expect(localParts('2026-11-16T19:04:00+01:00', 'UTC').both).toBe('2026-11-16T18:04:00');
    expect(localParts('nonsense', 'UTC').both).toBe('');
  });
});

describe('the list of tools', () => {
  const row = (name: string, more: Partial<ToolRow> = {}): ToolRow => ({
    name,
    description: '',
    source: 'a',
    status: 'ready',
    tags: [],
    bundles: [],
    effects: {},
    danger: 'read',
    tokens: 1,
    ...more,
  });
  const rows = [
    row('one', { tags: ['x'] }),
    row('two', { source: 'b', tokens: 9 }),
    row('three', { tags: ['x', 'y'] }),
  ];

  it('is narrowed by every facet and widened by the values of one', () => {
    expect(filterRows(rows, { tags: ['x', 'y'], source: ['a'] }).map(({ name }) => name)).toEqual(['one', 'three']);
    expect(countFacet(rows, { tags: ['x'], source: ['b'] }, 'source')).toEqual([
      { value: 'a', count: 2 },
      { value: 'b', count: 0 },
    ]);
  });

  it('is sorted by name, and by figures from the largest', () => {
    expect(sortRows(rows, 'name', false).map(({ name }) => name)).toEqual(['one', 'three', 'two']);
    expect(sortRows(rows, 'tokens', false).map(({ name }) => name)).toEqual(['two', 'one', 'three']);
  });
});
