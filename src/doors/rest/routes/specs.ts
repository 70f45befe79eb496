import type { JsonObject } from '../../../core/json.ts';
import type { StoredSpecs } from '../../../core/ports/store.ts';
import { notAvailable } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { toTime } from '../../shown.ts';
import { notFound, ok, refuse } from '../answers.ts';
import type { Asked, Route } from '../route.ts';
import { anyObject, choice, list, object, text, time } from '../schema-builders.ts';

/** Specs that are kept in the store. How their tools run goes in and never comes out. */
export const SPEC_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/specs',
    group: 'specs',
    says: 'The specs that are kept in the store.',
    who: 'operator',
    answers: {
      200: {
        says: 'By name, with who changed each last. What they say is seen as tools.',
        schema: object({ specs: list(object({ name: text(), by: text(), at: time() })) }),
      },
    },
    run: async ({ crib }) =>
      ok({ specs: (await specsOf(crib).list()).map(({ name, by, at }) => ({ name, by, at: toTime(at) })) }),
  },
  {
    method: 'POST',
    path: '/api/specs',
    group: 'specs',
    says: 'Adds specs or replaces those of the same name: all of them, or none where one is wrong.',
    who: 'operator',
    body: object({ tools: list(anyObject('A tool, in the format of spec files.')) }),
    answers: {
      200: {
        says: 'What became of each.',
        schema: object({
          specs: list(object({ name: text(), result: choice(['added', 'changed', 'unchanged']) })),
          unseen: list(text(), 'Stored, but not among the tools: no source reads them, or their name is taken.'),
        }),
      },
    },
    run: addSpecs,
  },
  {
    method: 'DELETE',
    path: '/api/specs/{name}',
    group: 'specs',
    says: 'Removes a spec.',
    who: 'operator',
    answers: { 200: { says: 'It is gone.', schema: object({ removed: list(text()) }) } },
    run: removeSpec,
  },
];

function specsOf({ store }: Crib): StoredSpecs {
  if (store === undefined) throw notAvailable('The store', 'give createCrib a configuration');
  return store.specs;
}

async function addSpecs({ crib, asker, body }: Asked) {
  const { tools } = body as { readonly tools: readonly JsonObject[] }; // as its schema demands
  const specs = specsOf(crib);
  const mistakes = await crib.server.checkStored(tools);
  if (mistakes.length > 0) {
    const issues = mistakes.map(({ index, message }) => ({ path: `/tools/${index}`, message }));
    return refuse(400, { code: 'invalid_input', message: 'Nothing was stored.', retryable: false, issues });
  }
  const results = await specs.putAll(tools, asker.caller.id ?? 'operator');
  await crib.server.reloadStored();
  const seen = new Set(crib.catalog.specs.map((spec) => spec.origin)); // a source may give them other names
  const names = tools.map(({ name }) => String(name));
  return ok({
    specs: names.map((name, index) => ({ name, result: results[index] })),
    unseen: names.filter((name) => !seen.has(name)),
  });
}

async function removeSpec({ crib, asker, params }: Asked) {
  const { name = '' } = params;
  if (!(await specsOf(crib).remove(name, asker.caller.id ?? 'operator')))
    return notFound(`No spec "${name}" is stored.`);
  await crib.server.reloadStored();
  return ok({ removed: [name] });
}
