import { notListedYet } from '../../../call/enter-call.ts';
import { defined, nearest } from '../../../core/read-options.ts';
import { type Criteria, compileCriteria, flagsOf, isCriterion, type Matches } from '../../../core/selector.ts';
import { ToolcribError, toolError } from '../../../core/tool-error.ts';
import { EFFECT_KEYS, type ToolSpec } from '../../../core/tool-spec.ts';
import { tokensOfEach } from '../../../formats/token-cost.ts';
import { ok, refuseFor } from '../answers.ts';
import { afterCursor, openToCall, openToList, type Route, type RouteRequest, toCursor } from '../route.ts';
import { anyObject, choice, flag, list, object, SOURCE_STATES, shortText, text, whole } from '../shapes.ts';
import { DANGERS, dangerOf, describeTools, LISTED_TOOL, readStops, SHOWN_TOOL, showTool } from '../tool-shapes.ts';

const USUAL_LIMIT = 100;
const MAX_LIMIT = 1000;

export const PROFILE = shortText('The profile. Default: the default profile; for an operator, all tools.');

interface ListQuery {
  readonly tag?: readonly string[];
  readonly tagAny?: readonly string[];
  readonly category?: string;
  readonly pattern?: string;
  readonly kind?: string;
  readonly source?: string;
  readonly bundle?: string;
  readonly flag?: readonly string[];
  readonly profile?: string;
  readonly q?: string;
  readonly state?: string;
  readonly danger?: string;
  readonly sort?: (typeof SORTS)[number];
  readonly limit?: number;
  readonly cursor?: string;
}

const SORTS = ['catalog', 'name', 'tokens', 'lastUsed', 'calls'] as const;

/** Routes of tools: the list, one tool, and the explanation of its visibility. */
export const TOOL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tools',
    group: 'tools',
    says: 'Lists the tools of active bundles that match all filters.',
    who: 'caller',
    query: {
      'tag?': list(text(), 'Only tools with all of these tags.'),
      'tagAny?': list(text(), 'Only tools with any of these tags.'),
      'category?': shortText('Only tools of this category (glob).'),
      'pattern?': shortText('Only tools whose name matches this glob.'),
      'kind?': shortText('Only tools of this kind. Only for operators.'),
      'source?': shortText('Only tools of this source (glob).'),
      'bundle?': shortText('Only tools of this bundle (glob).'),
      'flag?': list(
        text(),
        'Only tools where this flag is true, such as readOnly; NAME=false: where it is false. An unknown flag matches no tool. Only operators can filter by flags other than effects.',
      ),
      'profile?': PROFILE,
      'q?': shortText('Only tools with all of these words in name, title or description.', 1000),
      'state?': choice(SOURCE_STATES, 'Only tools whose source is in this state.'),
      'danger?': choice(DANGERS, 'Only tools of this danger.'),
      'sort?': choice(
        SORTS,
        'The order. Default: that of the catalog. tokens: most first; lastUsed, calls: least first, so that unused tools come first. The last two are only for operators.',
      ),
      'limit?': whole(`Maximum number of tools. Default: ${USUAL_LIMIT}.`, 1, MAX_LIMIT),
      'cursor?': shortText('Continue after this place: nextCursor of the previous page.', 500),
    },
    answers: {
      200: {
        says: 'One page of tools.',
        schema: object({
          tools: list(LISTED_TOOL),
          total: whole('Number of tools on all pages.'),
          'nextCursor?': text(),
        }),
      },
    },
    run: listTools,
  },
  {
    method: 'GET',
    path: '/api/tools/{name}',
    group: 'tools',
    says: 'Returns one tool.',
    who: 'caller',
    query: { 'profile?': PROFILE },
    answers: { 200: { says: 'The tool.', schema: SHOWN_TOOL } },
    async run(asked) {
      const { profile } = asked.query as { readonly profile?: string }; // as its schema demands
      const { name = '' } = asked.params;
      const chest = await openToList(asked, profile);
      const spec = chest.get(name);
      if (spec === undefined)
        return refuseFor(
          asked.crib.server.isStarting()
            ? notListedYet(name)
            : toolError('unknown_tool', `The tool "${name}" was not found.`),
        );
      return ok(await showTool(asked, chest, spec));
    },
  },
  {
    method: 'GET',
    path: '/api/tools/{name}/explain',
    group: 'tools',
    says: 'Explains why a tool is visible to a caller or not, and which layer set each limit.',
    who: 'operator',
    query: {
      'profile?': shortText('The profile. Default: the default profile.'),
      'caller?': shortText('The id of the caller. Default: anonymous.'),
      'role?': list(text(), 'The roles of the caller.'),
    },
    answers: {
      200: {
        says: 'The reasons in words, in the order of the decisions.',
        schema: object({
          caller: anyObject(),
          tool: text(),
          profile: text(),
          visible: flag(),
          reasons: list(text()),
          bundles: list(text()),
          'withheld?': anyObject('Arguments that callers neither see nor set.'),
          'rates?': list(text(), 'What each rate limit counts.'),
          'stops?': list(text(), 'The emergency stops that refuse its calls.'),
          policy: anyObject('Each limit with the layers that set it.'),
        }),
      },
    },
    run: explainTool,
  },
];

async function listTools(asked: RouteRequest) {
  const { profile, limit = USUAL_LIMIT, cursor, sort, state, danger, ...filters } = asked.query as ListQuery; // as its schema demands
  // A filter by a hidden property would reveal it.
  if (filters.kind !== undefined && !asked.asker.operator) return refuseFor(KIND_IS_FOR_OPERATORS);
  if ((sort === 'lastUsed' || sort === 'calls') && !asked.asker.operator) return refuseFor(USE_IS_FOR_OPERATORS);
  const chest = await openToList(asked, profile);
  const all = chest.listActive();
  const matches = compileFilters(filters, flagsFor(asked, all));
  const states = new Map(asked.crib.sources().map((source) => [source.name, source.state]));
  const bundlesOf = (spec: ToolSpec) => asked.crib.bundles.of(spec.name).map((bundle) => bundle.name);
  const found = all.filter(
    (spec) =>
      (state === undefined || (states.get(spec.source) ?? 'ready') === state) &&
      (danger === undefined || dangerOf(spec.effects) === danger) &&
      matches(spec, bundlesOf(spec)),
  );
  const sorted = await sortTools(found, sort, asked);
  const rest = afterCursor(sorted, cursor);
  const page = rest.slice(0, limit);
  const [last] = page.slice(-1);
  return ok({
    tools: await describeTools(asked, chest, page),
    total: sorted.length,
    ...(rest.length > page.length && last !== undefined && { nextCursor: toCursor(last.name, sorted.indexOf(last)) }),
  });
}

async function sortTools(
  specs: readonly ToolSpec[],
  sort: ListQuery['sort'],
  { use }: RouteRequest,
): Promise<readonly ToolSpec[]> {
  if (sort === undefined || sort === 'catalog') return specs;
  if (sort === 'name') return specs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (sort === 'tokens') {
    const costs = await tokensOfEach(specs, 'openai', 'estimate');
    const byName = new Map(specs.map(({ name }, index) => [name, costs[index] ?? 0]));
    return specs.toSorted((a, b) => (byName.get(b.name) ?? 0) - (byName.get(a.name) ?? 0));
  }
  const used = await use.byTool();
  const figure = ({ name }: ToolSpec) => (sort === 'calls' ? used.get(name)?.calls : used.get(name)?.lastAt) ?? 0;
  return specs.toSorted((a, b) => figure(a) - figure(b));
}

const USE_IS_FOR_OPERATORS = toolError(
  'denied',
  'Only operators can sort by use. Remove "sort", or send the operator token.',
);
const KIND_IS_FOR_OPERATORS = toolError(
  'denied',
  'Only operators can filter by "kind". Remove the filter, or send the operator token.',
);

/** The flags that a caller can filter by: only flags that it can see, of tools that it can see. */
function flagsFor({ asker }: RouteRequest, specs: readonly ToolSpec[]): ReadonlySet<string> {
  return new Set([...EFFECT_KEYS, ...(asker.operator ? specs.flatMap((spec) => [...flagsOf(spec).keys()]) : [])]);
}

/** Compiles each flag separately: two contradicting flags match no tool. */
function compileFilters({ flag = [], ...filters }: ListQuery, flags: ReadonlySet<string>): Matches {
  const tests = [compileCriteria(toCriteria(filters), flags), ...flag.map((given) => compileFlag(given, flags))];
  return (spec, bundles) => tests.every((matches) => matches(spec, bundles));
}

/** An unknown flag matches no tool; a misspelled effect is an error. */
function compileFlag(given: string, flags: ReadonlySet<string>): Matches {
  const [name, value] = readFlag(given);
  const isAbsent = !flags.has(name) && !isCriterion(name) && nearest(name, EFFECT_KEYS) === undefined;
  return isAbsent ? () => false : compileCriteria(Object.fromEntries([[name, value]]), flags);
}

function toCriteria({
  tag,
  tagAny,
  pattern,
  q,
  ...rest
}: Omit<ListQuery, 'limit' | 'flag' | 'state' | 'danger' | 'sort'>): Criteria {
  return defined({ ...rest, tags: tag, tagsAny: tagAny, namePattern: pattern, text: q });
}

/** Accepts only booleans: `flag=kind=shell` would bypass the restriction of the filter "kind". */
function readFlag(given: string): readonly [string, boolean] {
  const [name = '', ...rest] = given.split('=');
  const value = rest.length === 0 ? 'true' : rest.join('=');
  if (value !== 'true' && value !== 'false')
    throw new ToolcribError('invalid_criterion', `The flag "${name}" must be true or false, not "${value}".`);
  return [name, value === 'true'];
}

async function explainTool(asked: RouteRequest) {
  const { profile, caller: id, role: roles } = asked.query as ExplainQuery; // as its schema demands
  await openToCall(asked, profile); // an unknown profile is an error, not a hidden tool
  const caller = { ...(id !== undefined && { id }), ...(roles !== undefined && { roles }) };
  await readStops(asked.crib);
  return ok({ caller, ...asked.crib.explain(caller, profile, asked.params.name ?? '') });
}

interface ExplainQuery {
  readonly profile?: string;
  readonly caller?: string;
  readonly role?: readonly string[];
}
