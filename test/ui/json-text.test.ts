import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertAt, removeAt, renameAt, setAt, swapWithNext } from '../../ui/src/json/edit-json.ts';
import { isJsonNumber, type JsonNode, parseJson } from '../../ui/src/json/json-text.ts';
import { type JsonPath, nodeAt, printJson, printPretty, toPointer, toValue } from '../../ui/src/json/json-value.ts';

function parsed(text: string): JsonNode {
  const result = parseJson(text);
  if ('problem' in result) throw new Error(`${result.problem.message} in ${text}`);
  return result.node;
}

const problemOf = (text: string) => {
  const result = parseJson(text);
  return 'problem' in result ? result.problem : undefined;
};

/** Every leaf and empty container with its path and its text as written. */
function leaves(text: string, node: JsonNode = parsed(text), path: JsonPath = []): [JsonPath, string][] {
  if (node.type === 'array' && node.items.length > 0)
    return node.items.flatMap((item, index) => leaves(text, item, [...path, index]));
  if (node.type === 'object' && node.members.length > 0)
    return node.members.flatMap(({ key, value }) => leaves(text, value, [...path, key]));
  return [[path, text.slice(node.start, node.end)]];
}

const space = fc.constantFrom('', ' ', '\n', '\n  ', '\t', ' \r\n ');
const number = fc.oneof(
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.constantFrom('1.0', '1e5', '-0', '0.10', '9007199254740993', '1E-7', '12345678901234567890.5'),
);
const string = fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text));
const { value: anyText } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    number,
    string,
    fc.constantFrom('true', 'false', 'null', '"\\u00e9"', '"\\/"'),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), space, space)
    .map(([items, before, after]) => `[${before}${items.join(`${after},${before}`)}${after}]`),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.constantFrom('a.b', '__proto__', 'a/b~c', '')), tie('value')), {
        maxLength: 4,
        selector: ([key]) => key,
      }),
      space,
      space,
    )
    .map(([members, before, after]) => {
      const written = members.map(([key, value]) => `${JSON.stringify(key)}${after}:${before}${value}`);
      return `{${before}${written.join(`${after},${before}`)}${after}}`;
    }),
}));

describe('a JSON text', () => {
  it('is read as JSON.parse reads it, or is a problem where JSON.parse refuses it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(JSON.stringify(toValue(parsed(text)))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 01-+.eEu\ntrnlfas'), maxLength: 12 }), (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const problem = problemOf(text);
        if (!problem?.message.includes('given twice')) expect(problem === undefined).toBe(isJson);
      }),
      { numRuns: 3000 },
    );
  });

  it('is printed with every digit and in its order', () => {
    expect(printJson(parsed('{ "b": 9007199254740993, "a": [1.0, 1e5], "10": null, "2": true }'))).toBe(
      '{"b":9007199254740993,"a":[1.0,1e5],"10":null,"2":true}',
    );
    fc.assert(
      fc.property(anyText, (text) => {
        expect(leaves(printPretty(parsed(text))).map(([path]) => path)).toEqual(leaves(text).map(([path]) => path));
        expect(printJson(parsed(printPretty(parsed(text))))).toBe(printJson(parsed(text)));
      }),
    );
  });

  it('that does not parse says where and why', () => {
    expect(problemOf('{\n  "a": tru\n}')).toEqual({
      message: 'A value is expected here, not "t".',
      offset: 9,
      line: 2,
      column: 8,
    });
    expect(problemOf('')?.message).toBe('There is no JSON value. Write {} for no arguments.');
    expect(problemOf('{"a":1,"a":2}')?.message).toBe('The name "a" is given twice.');
    expect(problemOf('[1')?.message).toBe('"," or "]" is expected here, but the text ends.');
    expect(problemOf('['.repeat(100_000))?.message).toBe('Values are nested more than 500 deep.');
    expect(problemOf('"a\nb"')?.column).toBe(3);
  });

  it('tells numbers from what is nearly one', () => {
    expect(['0', '-1.5e+3', '9007199254740993'].every(isJsonNumber)).toBe(true);
    expect(['', '-', '1.', '007', '.5', '1e', 'NaN', '0x1', '1 2'].some(isJsonNumber)).toBe(false);
  });

  it('has pointers with escaped names', () => {
    expect(toPointer(['a/b', 0, 'c~d', ''])).toBe('/a~1b/0/c~0d/');
  });
});

describe('an edit of a JSON text', () => {
  const edited = fc.tuple(anyText, fc.nat(), number);

  it('replaces one value and keeps every other byte', () => {
    fc.assert(
      fc.property(edited, ([text, pick, raw]) => {
        const all = leaves(text);
        const [path] = all[pick % all.length] ?? [[], ''];
        const node = nodeAt(parsed(text), path);
        const after = setAt(text, path, raw);
        expect(after).toBe(text.slice(0, node?.start) + raw + text.slice(node?.end));
      }),
    );
  });

  it('adds a member and keeps all others as they are written', () => {
    fc.assert(
      fc.property(edited, ([inner, pick, raw]) => {
        const text = `{"x": ${inner}, "y": {}}`;
        const path = pick % 2 === 0 ? ['new', 'deep', 0, 'end'] : ['y', 'a.b'];
        const after = setAt(text, path, raw);
        const rest = leaves(after).filter(([at]) => toPointer(at) !== toPointer(path));
        const before = leaves(text).filter(([at]) => path[0] !== 'y' || at[0] !== 'y');
        expect(rest).toEqual(before);
        expect(nodeAt(parsed(after), path)).toMatchObject({ type: 'number', raw });
      }),
    );
  });

  it('removes a value and keeps all others as they are written', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (inner, pick) => {
        const text = `{"k":[${inner}, 1],\n"x": ${inner},"z":[]}`;
        const members = ['k', 'x', 'z'];
        const path: JsonPath = [members[pick % 3] ?? 'k'];
        const after = removeAt(text, path);
        expect(leaves(after)).toEqual(leaves(text).filter(([at]) => at[0] !== path[0]));
        expect(removeAt(after, path)).toBe(after);
        expect(leaves(removeAt(text, ['k', 0]), nodeAt(parsed(removeAt(text, ['k', 0])), ['k']))).toEqual([[[0], '1']]);
      }),
    );
  });

  it('adds, swaps and removes items of a list', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 5 }), fc.nat(5), number, (items, at, raw) => {
        const text = `{ "list": [${items.join(',')}] }`;
        const after = insertAt(text, ['list'], { index: at, raw });
        const list = nodeAt(parsed(after), ['list']);
        const written = list?.type === 'array' ? list.items.map((item) => after.slice(item.start, item.end)) : [];
        expect(written).toEqual(items.toSpliced(at, 0, raw));
        const swapped = swapWithNext(after, ['list'], at);
        expect(swapWithNext(swapped, ['list'], at)).toBe(after);
      }),
    );
  });

  it('follows the style of the text', () => {
    expect(setAt('{}', ['a'], '1')).toBe('{\n  "a": 1\n}');
    expect(setAt('{\n  "a": 1\n}', ['b', 'c'], '2')).toBe('{\n  "a": 1,\n  "b": {\n    "c": 2\n  }\n}');
    expect(setAt('{"a":1}', ['b', 0], '"x"')).toBe('{"a":1, "b": ["x"]}');
    expect(setAt('{\n\t"a": {}\n}', ['a', 'b'], '1')).toBe('{\n\t"a": {\n\t  "b": 1\n\t}\n}');
    expect(setAt('{ "a": null }', ['a', 'b'], '1')).toBe('{ "a": {"b": 1} }');
    expect(removeAt('{\n  "a": 1,\n  "b": 2\n}', ['a'])).toBe('{\n  "b": 2\n}');
    expect(removeAt('{\n  "a": 1\n}', ['a'])).toBe('{}');
    expect(insertAt('{}', ['tags'], { index: 0, raw: '""' })).toBe('{\n  "tags": [\n    ""\n  ]\n}');
  });

  it('renames a member, but not to a name that is taken', () => {
    expect(renameAt('{"a\\"b" : 1, "c": 2}', ['a"b'], 'd.e')).toBe('{"d.e" : 1, "c": 2}');
    expect(renameAt('{"a": 1, "c": 2}', ['a'], 'c')).toBe('{"a": 1, "c": 2}');
  });

  it('leaves a text that does not parse as it is', () => {
    expect(setAt('{"a": ', ['a'], '1')).toBe('{"a": ');
    expect(removeAt('{"a": ', ['a'])).toBe('{"a": ');
  });
});
