import { toTime } from '../../shown.ts';
import { notFound, ok } from '../answers.ts';
import type { Route } from '../route.ts';
import { anyObject, flag, object, text, time, whole } from '../shapes.ts';

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
  says: 'Returns the hashes that an answer is bound to, and the last approved request of the same caller for the same tool.',
  who: 'credential',
  answers: {
    200: {
      says: 'The hashes and the earlier request.',
      schema: object({ argumentsHash: text(), definitionHash: text(), 'previous?': PREVIOUS }),
    },
  },
  async run({ crib, asker, params }) {
    const { id = '' } = params;
    const binding = await crib.approvals.binding(id, asker.caller);
    if (binding === undefined) return notFound(`The approval "${id}" was not found.`);
    const { previous, ...hashes } = binding;
    return ok({ ...hashes, ...(previous !== undefined && { previous: { ...previous, at: toTime(previous.at) } }) });
  },
};
