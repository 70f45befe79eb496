import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearlyValuesOf, valuesOf } from './schema-values.ts';
import { execute, type Heard, type Served, serve } from './served.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

const SEED = 22;
const RUNS = 12;
/** Operations that start programs, measure, or stop everything: a few runs are enough. */
const COSTLY = /doctor|check|evaluation|audit|stops|reload/;
/** A stream without an end, and a call without one. */
const LEFT_OUT = ['GET /api/events', 'POST /api/tools/execute/wait'];

function operationsIn(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>;
}): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** Ids and names that exist, so that requests go further than "not found". */
async function fill({ ask, crib, token }: Served): Promise<Readonly<Record<string, readonly string[]>>> {
  const asOperator = (path: string, body: unknown) => ask(path, { body, token });
  const done = await execute(ask, 'add', { a: 1, b: 2 }, { conversation: 'c', turn: 't' }, token);
  const parked = await execute(ask, 'wipe', { what: 'x' }, {}, token);
  const task = await execute(ask, 'add', { a: 1, b: 2 }, { async: true }, token);
  const long = await execute(ask, 'long', {}, {}, token);
  const label = await asOperator('/api/labels', { query: 'add numbers', relevant: ['add'] });
  await crib.schedules.add({ name: 'nightly', tool: 'add', arguments: { a: 1, b: 2 }, cron: '@daily' }, 'test');
  return {
    name: ['add', 'wipe', 'echo', 'tell', 'long', 'fail_with', 'usual', 'other', 'nightly'],
    file: ['usual.json', 'other.json', 'usual'],
    id: [
      done.json.callId,
      parked.json.callId,
      parked.json.waiting.id,
      task.json.callId,
      long.json.meta['toolcrib/result'].id,
      label.json.label.id,
      'stored',
    ],
  };
}

/** Checks answers by the schemas of the document. */
function createCheck(components: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv); // its types are those of CommonJS
  const compiled = new Map<Schema, ValidateFunction>();
  return (schema: Schema, value: unknown): unknown => {
    const check = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, check);
    return check(value) ? [] : check.errors;
  };
}

interface Asked {
  readonly path: string;
  readonly body: unknown;
  readonly who: 'operator' | 'caller' | 'stranger' | 'wrong';
  readonly isOurs: boolean;
}

function requestsFor(operation: Operation, known: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Asked> {
  const { path, parameters = [], requestBody } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const partOf = (name: string) =>
    fc.oneof(
      { arbitrary: fc.constantFrom(...(known[name] ?? ['x'])), weight: 4 },
      { arbitrary: fc.string({ minLength: 1, maxLength: 12 }), weight: 1 },
    );
  const inQuery = parameters.filter((parameter) => parameter.in === 'query' && parameter.name !== 'follow');
  // Few parameters at a time: most filters together select nothing.
  const parameterValues = ({ schema }: (typeof inQuery)[number]) =>
    fc.oneof({ arbitrary: valuesOf(schema), weight: 6 }, { arbitrary: fc.string({ maxLength: 10 }), weight: 1 });
  const required = inQuery.filter((parameter) => parameter.required);
  const query = fc.subarray([...inQuery], { maxLength: Math.min(2, inQuery.length) }).chain((chosen) => {
    const members = [...new Set([...required, ...chosen])].map((one) => [one.name, parameterValues(one)] as const);
    return fc.record(Object.fromEntries(members));
  });
  return fc.record({
    path: fc.tuple(fc.tuple(...names.map(partOf)), query).map(([parts, given]) => {
      const filled = names.reduce(
        (text, name, index) => text.replace(`{${name}}`, encodeURIComponent((parts[index] ?? 'x').toWellFormed())),
        path,
      );
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(given as object))
        for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one).toWellFormed());
      return search.size === 0 ? filled : `${filled}?${search}`;
    }),
    body:
      requestBody === undefined
        ? fc.constant(undefined)
        : nearlyValuesOf(requestBody.content['application/json'].schema),
    who: fc.constantFrom('operator', 'operator', 'operator', 'caller', 'stranger', 'wrong'),
    isOurs: fc.boolean(),
  });
}

describe('the OpenAPI document and the answers', () => {
  it('agree for every operation and status, whatever a client sends', async () => {
    const served = await serve({ access: true });
    const { ask, crib, token } = served;
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const known = await fill(served);
    const { json: document } = await ask('/openapi.json', { token });
    const check = createCheck(document.components);
    const seen = new Map<number, number>();
    const tokens = { operator: { token }, caller: { token: key }, stranger: {}, wrong: { token: 'tco_wrong' } };
    const send = async (operation: Operation, { path, body, who, isOurs }: Asked): Promise<Heard> => {
      const headers = isOurs ? { 'x-toolcrib-console': '1', 'sec-fetch-site': 'same-origin' } : {};
      return ask(path, {
        method: operation.method,
        ...tokens[who],
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    };
    const { json: typed } = await ask('/openapi/usual.json', { token });
    const checkTyped = createCheck(typed.components);
    const operations = [
      ...operationsIn(document).map((operation) => ({ operation, isRight: check })),
      ...operationsIn(typed).map((operation) => ({ operation, isRight: checkTyped })),
    ];
    for (const { operation, isRight } of operations) {
      const name = `${operation.method} ${operation.path}`;
      if (LEFT_OUT.includes(name)) continue;
      const property = fc.asyncProperty(requestsFor(operation, known), async (asked) => {
        const heard = await send(operation, asked);
        seen.set(heard.status, (seen.get(heard.status) ?? 0) + 1);
        const documented = operation.responses[heard.status] ?? operation.responses.default;
        expect(documented, `${name} answered ${heard.status}: ${heard.text.slice(0, 300)}`).toBeDefined();
        const type = heard.headers.get('content-type')?.split(';')[0] ?? '';
        const content = documented?.content?.[type];
        if (type !== '') expect(content, `${name} ${heard.status} ${type}`).toBeDefined();
        if (type === 'application/json')
          expect(isRight(content?.schema ?? {}, heard.json), `${name}: ${heard.text.slice(0, 500)}`).toEqual([]);
      });
      await fc.assert(property, { seed: SEED, numRuns: COSTLY.test(name) ? 3 : RUNS, endOnFailure: true });
    }
    for (const status of [200, 201, 202, 400, 401, 403, 404])
      expect(seen.get(status) ?? 0, `status ${status}`).toBeGreaterThan(0);
  }, 60_000);
});
