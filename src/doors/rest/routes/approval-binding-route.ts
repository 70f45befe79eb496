import { toTime } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import type { Route } from '../route.ts';
import { anyObject, choice, flag, object, text, time, whole } from '../shapes.ts';
import { DANGERS, dangerOf } from '../tool-shapes.ts';

const PREVIOUS = object(
  {
    id: text(),
    arguments: anyObject('The arguments of that call. Long ones are cut.'),
    'argumentsLength?': whole('Length of the full arguments as JSON, in characters. Present if arguments is cut.', 0),
    'by?': text('The approver.'),
    at: time(),
    sameArguments: flag('True if the arguments are the same as now.'),
    sameDefinition: flag('True if the definition of the tool is the same as now.'),
  },
  'The last approved request of the same caller for the same tool.',
);

/** The route of the data that an answer is bound to, and of the changes since the last approved request. */
export const APPROVAL_BINDING_ROUTE: Route = {
  method: 'GET',
  path: '/api/approvals/{id}/binding',
  group: 'approvals',
  says: 'Returns the hashes that an answer is bound to, the danger of the tool, and the last approved request of the same caller for the same tool.',
  who: 'credential',
  answers: {
    200: {
      says: 'The hashes, the danger of the tool, and the earlier request.',
      schema: object({
        argumentsHash: text(),
        definitionHash: text(),
        'danger?': choice(DANGERS, 'By the effects of the tool now. Absent if the tool is gone.'),
        'previous?': PREVIOUS,
      }),
    },
  },
  async run({ crib, asker, params }) {
    const { id = '' } = params;
    const [binding, approval] = await Promise.all([
      crib.approvals.binding(id, asker.caller),
      crib.approvals.get(id, asker.caller),
    ]);
    if (binding === undefined) return notFound(`The approval "${id}" was not found.`);
    const { previous, ...hashes } = binding;
    const tool = approval?.items?.find((item) => item.id === id)?.tool ?? approval?.tool ?? '';
    const effects = crib.catalog.get(tool)?.effects;
    const danger = effects === undefined ? {} : { danger: dangerOf(effects) };
    return ok({
      ...hashes,
      ...danger,
      ...(previous !== undefined && { previous: { ...previous, at: toTime(previous.at) } }),
    });
  },
};
