import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../src/core/tool-spec.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

const options = { limit: 10, minScore: 0 };

async function find(query: string, more: readonly ToolSpec[] = []): Promise<readonly string[]> {
  const retriever = createRetriever();
  retriever.add([...OFFICE, ...more]);
  return namesOf(await retriever.rank(query, options));
}

describe('odd requests', () => {
  it.each([
    ['empty', ''],
    ['one letter', 'q'],
    ['line breaks', '\n\r\n\t'],
    ['emoji', '🙂🚀👩‍👩‍👧'],
    ['a lone surrogate', '\ud83d and \udc00'],
    ['noughts', '\0\0\0'],
    ['nothing but stop words', 'what is it that you do for me'],
    ['brackets of a pattern', '(((((((a+)+)+)+$ [[['],
  ])('%s: no error, no results', async (_, query) => {
    expect(await find(query)).toEqual([]);
  });

  it('a request of a megabyte is answered by its beginning', async () => {
    expect((await find(`convert currency ${'lorem ipsum dolor '.repeat(60_000)}`))[0]).toBe('convert_currency');
    expect(await find('x'.repeat(1_000_000))).toEqual([]);
    expect(await find('(a_b-c.d "'.repeat(100_000))).toEqual([]);
  });

  it('other languages find tools in that language', async () => {
    const tools = [
      specOf('cn', '查询城市的天气预报'),
      specOf('jp', 'ファイルを読み込むツール'),
      specOf('ar', 'إرسال بريد إلكتروني إلى شخص'),
      specOf('ru', 'Отправить письмо человеку'),
      specOf('de', 'Überweist Geld auf ein anderes Konto'),
    ];
    expect((await find('北京天气预报', tools))[0]).toBe('cn');
    expect((await find('ファイルを読む', tools))[0]).toBe('jp');
    expect((await find('أريد إرسال بريد', tools))[0]).toBe('ar');
    expect((await find('ПИСЬМО', tools))[0]).toBe('ru');
    expect((await find('geld uberweist', tools))[0]).toBe('de');
  });
});

describe('odd tools', () => {
  it('empty, identical and enormous descriptions are all indexed, and the right one wins', async () => {
    const tools = [
      specOf('empty'),
      specOf('same_1', 'Water the garden'),
      specOf('same_2', 'Water the garden'),
      specOf('enormous', `Everything about anything. ${'lorem ipsum dolor water garden '.repeat(20_000)}`),
    ];
    expect((await find('water the garden', tools)).slice(0, 3)).toEqual(['same_1', 'same_2', 'enormous']);
    expect(await find('empty', tools)).toEqual(['empty']);
  });

  it('a tool stuffed with keywords does not win requests for other tools', async () => {
    const everything = OFFICE.map(({ name, description }) => `${name} ${description}`).join(' ');
    const stuffed = specOf('best_tool', `${everything} `.repeat(50), { tags: everything.split(' ') });
    const repeated = specOf('repeat', 'file '.repeat(500));
    for (const [query, expected] of [
      ['read a file of the workspace', 'read_file'],
      ['write to a file', 'write_file'],
      ['send an email', 'send_mail'],
      ['weather forecast', 'get_weather'],
      ['convert money to another currency', 'convert_currency'],
      ['create a calendar event', 'create_calendar_event'],
    ] as const)
      expect((await find(query, [stuffed, repeated]))[0]).toBe(expected);
  });

  it('a value that is not text or not a schema is ignored', async () => {
    const odd = {
      ...specOf('odd_one', 'An odd one'),
      title: 7,
      tags: [null, 3, 'peculiar'],
      category: {},
      examples: [null, { request: 5 }, { request: 'strange things' }],
      input: { properties: { a: null, b: true, c: { description: 9, enum: [1, 'rare'] } }, items: 'no', anyOf: [3] },
    } as unknown as ToolSpec; // what a careless source may bring
    for (const query of ['peculiar', 'strange', 'rare', 'odd']) expect(await find(query, [odd])).toEqual(['odd_one']);
  });

  it('a schema that contains itself does not loop', async () => {
    const input: Record<string, unknown> = { type: 'object' };
    input.properties = { child: input, other: input };
    expect(await find('child', [specOf('recursive', '', { input })])).toEqual(['recursive']);
    const list: Record<string, unknown> = { properties: { leaf: {} } };
    list.items = list;
    list.anyOf = Array.from({ length: 500 }, () => list);
    expect(await find('leaf', [specOf('endless', '', { input: list })])).toEqual(['endless']);
  });

  it('ten thousand parameters and words do not hide the others', async () => {
    const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, {}]));
    const words = Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ');
    const tools = Array.from({ length: 20 }, (_, index) => specOf(`wide_${index}`, words, { input: { properties } }));
    expect((await find('read a file', tools))[0]).toBe('read_file');
    expect(await find('w17', tools)).toHaveLength(10);
  });
});
