import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPromise, type JsonObject, type JsonSchema, type JsonValue } from '../../src/core/json.ts';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { isSameTool, type Parsed, RUN, type ToolSpec, WITHHELD } from '../../src/core/tool-spec.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { type Withholding, withhold } from '../../src/schemas/withhold.ts';
import { definitionHash } from '../../src/specs/hashes.ts';
import { specOf } from './check-with.ts';

const schemas = createSchemas();
const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;

const name = fc.constantFrom(...NAMES);
const names = fc.uniqueArray(name, { maxLength: 2 });
const value = fc.constantFrom<JsonValue>('x', 'yy', 1, 2.5, true, null, ['x']);
const plain = fc.oneof(
  fc.constantFrom<JsonSchema | boolean>({}, true, { type: 'string' }, { type: ['integer', 'null'] }, { title: 'T' }),
  value.map((one) => ({ const: one })),
  fc.array(value, { minLength: 1, maxLength: 3 }).map((some) => ({ enum: some })),
);
const delicate = fc.oneof(
  plain,
  fc.constantFrom<JsonSchema>(
    { type: 'string', minLength: 2 },
    { minimum: 2 },
    { anyOf: [{ type: 'null' }, { const: 1 }] },
  ),
);

type Keyword = readonly [string, unknown];
const keyword = (key: string, said: fc.Arbitrary<unknown>): fc.Arbitrary<Keyword> =>
  said.map((one) => [key, one] as const);

/** Schemas that say up to three things about five arguments, inside each other. */
function nodes(property: fc.Arbitrary<unknown>, more: readonly fc.Arbitrary<Keyword>[]): fc.Arbitrary<JsonSchema> {
  return fc.letrec<{ node: JsonSchema }>((tie) => {
    const inner = (key: string) => keyword(key, fc.array(tie('node'), { minLength: 1, maxLength: 3 }));
    const said = fc.oneof(
      { depthSize: 'small' },
      keyword('properties', fc.dictionary(name, property, { minKeys: 1, maxKeys: 3 })),
      keyword('required', names),
      keyword('dependentRequired', fc.dictionary(name, names, { maxKeys: 2 })),
      keyword('additionalProperties', fc.boolean()),
      keyword('minProperties', fc.integer({ min: 0, max: 3 })),
      keyword('maxProperties', fc.integer({ min: 2, max: 5 })),
      ...more,
      inner('allOf'),
      inner('anyOf'),
      inner('oneOf'),
      keyword('dependentSchemas', fc.dictionary(name, tie('node'), { maxKeys: 1 })),
    );
    return { node: fc.array(said, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)) };
  }).node;
}

/** A schema that names all five, and what it says besides. */
const whole = (property: fc.Arbitrary<unknown>, more: readonly fc.Arbitrary<Keyword>[] = []) =>
  fc
    .tuple(fc.tuple(property, property, property, property, property), fc.option(value), nodes(property, more))
    .map(([properties, fallback, node]) => {
      const named = Object.fromEntries(NAMES.map((one, index) => [one, properties[index]]));
      const hidden = typeof named.c === 'object' && fallback !== null ? { ...named.c, default: fallback } : named.c;
      return { type: 'object', ...node, properties: { ...named, c: hidden } } as JsonSchema; // plain data
    });

const wanted: fc.Arbitrary<Withholding> = fc.record({
  fixed: fc.oneof(fc.record({ a: value }), fc.record({ a: value, b: value }), fc.constant({})),
  hidden: fc.constantFrom<readonly string[]>([], ['c']),
});
const given: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom('d', 'e', 'other'), value, { maxKeys: 3 });

function check(spec: ToolSpec, input: JsonObject): Parsed {
  const parsed = schemas.input(spec)(input);
  if (isPromise(parsed)) throw new Error('a JSON Schema is checked at once');
  return parsed;
}

/** The spec without the arguments; undefined where that is refused. */
function tryToWithhold(schema: JsonSchema, what: Withholding): ToolSpec | undefined {
  try {
    return withhold(specOf(schema), what);
  } catch (cause) {
    expect(cause).toBeInstanceOf(ToolcribError);
    return undefined;
  }
}

/** What the tool gets besides: what is fixed, and the default of what is hidden. */
function besides(schema: JsonSchema, { fixed, hidden }: Withholding): JsonObject {
  const { c } = schema.properties as { c?: { default?: JsonValue } }; // made above
  return { ...(hidden.length > 0 && c?.default !== undefined && { c: c.default }), ...fixed };
}

/** The arguments that are left to callers. */
const ofCaller = (input: JsonObject, { fixed, hidden }: Withholding): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([key]) => !Object.hasOwn(fixed, key) && !hidden.includes(key)));

describe('laws of withholding', () => {
  const anything = whole(delicate, [
    keyword('not', nodes(delicate, [])),
    keyword('if', nodes(plain, [])),
    keyword('then', nodes(plain, [])),
    keyword('propertyNames', fc.constant({ maxLength: 3 })),
    keyword('unevaluatedProperties', fc.constant(false)),
    keyword('const', fc.constant({ a: 1 })),
  ]);

  it('The shown schema accepts exactly the arguments that the whole schema accepts with the withheld ones.', () => {
    let compared = 0;
    fc.assert(
      fc.property(anything, wanted, fc.array(given, { minLength: 8, maxLength: 8 }), (schema, what, inputs) => {
        const spec = tryToWithhold(schema, what);
        if (spec === undefined) return;
        for (const input of inputs) {
          const original = check(specOf(schema), { ...input, ...besides(schema, what) });
          const parted = check(spec, input);
          expect(parted.ok).toBe(original.ok);
          if (!parted.ok || !original.ok) continue;
          compared += 1;
          expect(parted.value).toEqual(original.value);
          expect(parted.given).toEqual(ofCaller(original.value as JsonObject, what)); // arguments are an object
        }
      }),
      { numRuns: 600 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  it('The shown schema never refuses what the tool would accept, and accepts no more where a quick check can tell.', () => {
    const exact = whole(plain);
    fc.assert(
      fc.property(exact, wanted, fc.array(given, { minLength: 8, maxLength: 8 }), (schema, what, inputs) => {
        const spec = tryToWithhold(schema, what);
        if (spec === undefined) return;
        for (const input of inputs) {
          const shown = check(specOf(spec.input), input);
          expect(shown.ok).toBe(check(specOf(schema), { ...input, ...besides(schema, what) }).ok);
        }
      }),
      { numRuns: 600 },
    );
  });

  it.each([{ minProperties: 3 }, { required: ['c'] }, { allOf: [{ minProperties: 3 }] }])(
    'The requirement of a fixed argument (%j) may be met by a default.',
    (needs) => {
      const properties = { a: {}, b: {}, c: { default: 'x' } };
      const schema = { type: 'object', dependentSchemas: { a: needs }, properties };
      const { input } = withhold(specOf(schema), { fixed: { a: 'x', b: 'x' }, hidden: [] });
      expect(check(specOf(schema), { a: 'x', b: 'x' }).ok).toBe(true);
      expect(check(specOf(input), {}).ok).toBe(true);
    },
  );

  it('The shown schema does not name withheld arguments, and a caller that sends one is refused.', () => {
    fc.assert(
      fc.property(anything, wanted, given, fc.constantFrom('a', 'b', 'c'), value, (schema, what, input, key, sent) => {
        const spec = tryToWithhold(schema, what);
        if (spec === undefined || !(Object.hasOwn(what.fixed, key) || what.hidden.includes(key))) return;
        const text = JSON.stringify(spec.input);
        expect(text).not.toContain(`"${key}"`);
        expect(check(spec, { ...input, [key]: sent })).toMatchObject({
          ok: false,
          issues: expect.arrayContaining([{ path: `/${key}`, message: 'is not a known argument.' }]),
        });
      }),
    );
  });

  it('Withholding arguments one after the other equals withholding all at once.', () => {
    fc.assert(
      fc.property(anything, value, given, (schema, fixed, input) => {
        const once = tryToWithhold(schema, { fixed: { a: fixed }, hidden: ['c'] });
        const first = tryToWithhold(schema, { fixed: { a: fixed }, hidden: [] });
        if (once === undefined || first === undefined) return;
        const twice = withhold(first, { fixed: { a: 'another' }, hidden: ['c'] });
        expect(twice.input).toEqual(once.input);
        expect(check(twice, input)).toEqual(check(once, input));
      }),
    );
  });
});

const PROPERTIES = { repo: { type: 'string' }, title: { type: 'string' }, dry: { type: 'boolean', default: true } };
const ISSUE: JsonSchema = { type: 'object', properties: PROPERTIES, required: ['repo', 'title'] };
const shownOf = (schema: JsonSchema, what: Partial<Withholding>) =>
  withhold(specOf(schema), { fixed: {}, hidden: [], ...what }).input;

describe('possible differences between the two schemas', () => {
  const accepts = (schema: JsonSchema, what: Partial<Withholding>, input: JsonObject) =>
    check(withhold(specOf(schema), { fixed: {}, hidden: [], ...what }), input);

  it('a default of the shown schema does not decide the result of the whole one', () => {
    const schema = {
      properties: { a: {}, c: { default: 1 } },
      oneOf: [{ properties: { c: { const: 'x' } } }, { propertyNames: { maxLength: 3 } }],
    };
    expect(check(specOf(schema), { a: 1 }).ok).toBe(false);
    expect(accepts(schema, { fixed: { a: 1 } }, {}).ok).toBe(false);
  });

  it('the whole schema distinguishes forms that differ only in fixed values', () => {
    const form = (repo: JsonSchema) => ({ properties: { repo }, required: ['title'] });
    const schema = { properties: { repo: {}, title: {} }, oneOf: [form({ minLength: 3 }), form({ maxLength: 2 })] };
    expect(accepts(schema, { fixed: { repo: 'abc' } }, { title: 't' }).ok).toBe(true);
    expect(accepts(schema, { fixed: { repo: 'abc' } }, {}).ok).toBe(false);
  });

  it('the default of a hidden argument is there before anything is validated', () => {
    const schema = { properties: { mode: { default: 'fast' }, title: {} }, anyOf: [{ required: ['mode'] }] };
    expect(accepts(schema, { hidden: ['mode'] }, {})).toEqual({ ok: true, value: { mode: 'fast' }, given: {} });
  });
});

describe('the shown schema', () => {
  it('has neither the property nor its requirement', () => {
    expect(shownOf(ISSUE, { fixed: { repo: 'acme/site' }, hidden: ['dry'] })).toEqual({
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
    });
  });

  it('keeps only the forms that fit the fixed values', () => {
    const form = (kind: string, key: string) => ({
      properties: { kind: { const: kind }, [key]: { type: 'string' } },
      required: ['kind', key],
    });
    const schema = { type: 'object', oneOf: [form('file', 'path'), form('page', 'url')] };
    expect(shownOf(schema, { fixed: { kind: 'page' } })).toEqual({
      type: 'object',
      oneOf: [{ properties: { url: { type: 'string' } }, required: ['url'] }],
    });
  });

  it('requires the dependencies of values that are always present', () => {
    const schema = { ...ISSUE, dependentRequired: { repo: ['owner'] } };
    expect(shownOf(schema, { fixed: { repo: 'x' } }).required).toEqual(['title', 'owner']);
  });

  it('has examples and defaults without the withheld arguments', () => {
    const example = { request: 'open it', input: { repo: 'x', title: 'y' } };
    const spec = { ...specOf({ ...ISSUE, examples: [example.input], default: { repo: 'x' } }), examples: [example] };
    const { input, examples } = withhold(spec, { fixed: { repo: 'z' }, hidden: [] });
    expect(examples).toEqual([{ request: 'open it', input: { title: 'y' } }]);
    expect(input).toMatchObject({ examples: [{ title: 'y' }], default: {} });
  });

  it('keeps the definitions that properties refer to', () => {
    const schema = { type: 'object', properties: { a: {}, b: { $ref: '#/$defs/B' } }, $defs: { B: { const: 1 } } };
    expect(shownOf(schema, { fixed: { a: 1 } })).toEqual({
      type: 'object',
      properties: { b: { $ref: '#/$defs/B' } },
      $defs: { B: { const: 1 } },
    });
  });
});

describe('an argument that cannot be withheld is an error with the tool, the argument and the reason', () => {
  it.each<[string, JsonSchema, Partial<Withholding>, RegExp]>([
    ['a required one without a default', ISSUE, { hidden: ['title'] }, /"title" is required and has no default/],
    ['a value of another type', ISSUE, { fixed: { repo: 5 } }, /the value of "repo" does not match its schema/],
    ['one behind a reference', { $ref: '#/$defs/X', $defs: { X: ISSUE } }, { fixed: { repo: 'x' } }, /behind a \$ref/],
    [
      'one of a schema that refers to itself',
      { ...ISSUE, properties: { ...PROPERTIES, child: { $ref: '#' } } },
      { fixed: { repo: 'x' } },
      /refers to itself by \$ref "#"/,
    ],
    ['one in a condition', { ...ISSUE, not: { required: ['repo'] } }, { fixed: { repo: 'x' } }, /condition \(not\)/],
    ['one in an if', { ...ISSUE, if: { properties: { repo: {} } } }, { fixed: { repo: 'x' } }, /condition \(if\)/],
    ['one of a listed set', { ...ISSUE, enum: [{ repo: 'x' }] }, { fixed: { repo: 'x' } }, /const or enum/],
    [
      'one that another needs',
      { ...ISSUE, dependentRequired: { title: ['who'] }, properties: { ...PROPERTIES, who: {} } },
      { hidden: ['who'] },
      /"title" requires "who"/,
    ],
    [
      'one that leaves no form',
      { anyOf: [{ properties: { a: { const: 1 } } }] },
      { fixed: { a: 2 } },
      /none of the forms/,
    ],
    ['a circle', circular(), { fixed: { a: 1 } }, /too large, or contains itself/],
  ])('%s', (_, schema, what, why) => {
    const names = [...Object.keys(what.fixed ?? {}), ...(what.hidden ?? [])];
    expect(() => shownOf(schema, what)).toThrow(ToolcribError);
    expect(() => shownOf(schema, what)).toThrow(why);
    expect(() => shownOf(schema, what)).toThrow(`Tool "tool": "${names[0]}" cannot be withheld`);
  });

  function circular(): JsonSchema {
    const schema: Record<string, unknown> = { properties: { a: {} } };
    schema.allOf = [schema];
    return schema;
  }
});

describe('another fixed value is another tool', () => {
  const fixedTo = (repo: string) => withhold(specOf(ISSUE), { fixed: { repo }, hidden: [] });

  it('for reload and for approvals', () => {
    expect(isSameTool(fixedTo('a'), fixedTo('a'))).toBe(true);
    expect(isSameTool(fixedTo('a'), fixedTo('b'))).toBe(false);
    expect(definitionHash(fixedTo('a'))).toBe(definitionHash(fixedTo('a')));
    expect(definitionHash(fixedTo('a'))).not.toBe(definitionHash(fixedTo('b')));
  });

  it('and its value is in no output', () => {
    const spec = fixedTo('acme-secret');
    expect(JSON.stringify([spec, spec[RUN]])).not.toContain('acme-secret');
    expect(spec[RUN][WITHHELD]?.values).toEqual({ repo: 'acme-secret' });
  });
});
