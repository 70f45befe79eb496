import { notListedYet } from '../../call/enter-call.ts';
import { defined, nearest } from '../../core/read-options.ts';
import { type Criteria, compileCriteria, flagsOf, isCriterion, type Matches } from '../../core/selector.ts';
import { ToolcribError, toolError } from '../../core/tool-error.ts';
import { EFFECT_KEYS, type ToolSpec } from '../../core/tool-spec.ts';
import { ok, refuseFor } from './answers.ts';
import { afterCursor, openToCall, openToList, type Route, type RouteRequest, toCursor } from './route.ts';
import {
  anyObject,
  createToolLister,
  flag,
  LISTED_TOOL,
  list,
  object,
  SHOWN_TOOL,
  shortText,
  showTool,
  text,
  whole,
} from './shapes.ts';

const USUAL_LIMIT = 100;
const MAX_LIMIT = 1000;

export const PROFILE = shortText('The profile; the default one if absent, all tools for an operator.');

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
  readonly limit?: number;
  readonly cursor?: string;
}

/** Tools: all that somebody sees, one of them, and why it is seen. */
export const TOOL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tools',
    group: 'tools',
    says: 'The tools that are shown at first; all filters must hold.',
    who: 'caller',
    query: {
      'tag?': list(text(), 'Tools with all of these tags.'),
      'tagAny?': list(text(), 'Tools with any of these tags.'),
      'category?': shortText('Tools of this category; a glob.'),
      'pattern?': shortText('Tools whose name matches this glob.'),
      'kind?': shortText('Tools that run this way; for operators.'),
      'source?': shortText('Tools of this source; a glob.'),
      'bundle?': shortText('Tools of this bundle; a glob.'),
      'flag?': list(
        text(),
        'Tools of which this is true, such as readOnly; NAME=false: false. A flag that no tool has selects none; those other than effects are for operators.',
      ),
      'profile?': PROFILE,
      'q?': shortText('Tools that have all of these words in name, title or description.', 1000),
      'limit?': whole(`At most so many; ${USUAL_LIMIT} if absent.`, 1, MAX_LIMIT),
      'cursor?': shortText('Where to go on: nextCursor of the page before.', 500),
    },
    answers: {
      200: {
        says: 'A page of them, in the order of the catalog.',
        schema: object({ tools: list(LISTED_TOOL), total: whole('On all pages.'), 'nextCursor?': text() }),
      },
    },
    run: listTools,
  },
  {
    method: 'GET',
    path: '/api/tools/{name}',
    group: 'tools',
    says: 'One tool.',
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
            : toolError('unknown_tool', `There is no tool "${name}".`),
        );
      return ok(await showTool(asked, chest, spec));
    },
  },
  {
    method: 'GET',
    path: '/api/tools/{name}/explain',
    group: 'tools',
    says: 'Why a tool is visible to somebody or not, and which layer set each limit.',
    who: 'operator',
    query: {
      'profile?': shortText('The profile; the default one if absent.'),
      'caller?': shortText('Who asks; nobody in particular if absent.'),
      'role?': list(text(), 'Their roles.'),
    },
    answers: {
      200: {
        says: 'In words, in the order in which it was decided.',
        schema: object({
          caller: anyObject(),
          tool: text(),
          profile: text(),
          visible: flag(),
          reasons: list(text()),
          bundles: list(text()),
          'withheld?': anyObject('Arguments that callers neither see nor give.'),
          'rates?': list(text(), 'How each rate counts.'),
          policy: anyObject('Each limit with the layers that said it.'),
        }),
      },
    },
    run: explainTool,
  },
];

async function listTools(asked: RouteRequest) {
  const { profile, limit = USUAL_LIMIT, cursor, ...filters } = asked.query as ListQuery; // as its schema demands
  // A filter by what a caller is not shown would tell it.
  if (filters.kind !== undefined && !asked.asker.operator) return refuseFor(KIND_IS_FOR_OPERATORS);
  const chest = await openToList(asked, profile);
  const all = chest.listActive();
  const matches = compileFilters(filters, flagsFor(asked, all));
  const bundlesOf = (spec: ToolSpec) => asked.crib.bundles.of(spec.name).map((bundle) => bundle.name);
  const found = all.filter((spec) => matches(spec, bundlesOf(spec)));
  const rest = afterCursor(found, cursor);
  const page = rest.slice(0, limit);
  const [last] = page.slice(-1);
  return ok({
    tools: page.map(createToolLister(asked, chest)),
    total: found.length,
    ...(rest.length > page.length && last !== undefined && { nextCursor: toCursor(last.name, found.indexOf(last)) }),
  });
}

const KIND_IS_FOR_OPERATORS = toolError(
  'denied',
  'The filter "kind" is for operators: leave it out, or send the operator token.',
);

/** The flags that may be asked for: those of tools that the caller sees, and of these only what the caller is shown. */
function flagsFor({ asker }: RouteRequest, specs: readonly ToolSpec[]): ReadonlySet<string> {
  return new Set([...EFFECT_KEYS, ...(asker.operator ? specs.flatMap((spec) => [...flagsOf(spec).keys()]) : [])]);
}

/** Each flag on its own: of two that contradict each other, both must hold. */
function compileFilters({ flag = [], ...filters }: ListQuery, flags: ReadonlySet<string>): Matches {
  const tests = [compileCriteria(toCriteria(filters), flags), ...flag.map((given) => compileFlag(given, flags))];
  return (spec, bundles) => tests.every((matches) => matches(spec, bundles));
}

/** A flag that no tool has, as far as the caller is shown, selects none; one that is nearly an effect is a mistake. */
function compileFlag(given: string, flags: ReadonlySet<string>): Matches {
  const [name, value] = readFlag(given);
  const isAbsent = !flags.has(name) && !isCriterion(name) && nearest(name, EFFECT_KEYS) === undefined;
  return isAbsent ? () => false : compileCriteria(Object.fromEntries([[name, value]]), flags);
}

function toCriteria({ tag, tagAny, pattern, q, ...rest }: Omit<ListQuery, 'limit' | 'flag'>): Criteria {
  return defined({ ...rest, tags: tag, tagsAny: tagAny, namePattern: pattern, text: q });
}

/** Only a boolean: `flag=kind=shell` would be the filter "kind" by another name. */
function readFlag(given: string): readonly [string, boolean] {
  const [name = '', ...rest] = given.split('=');
  const value = rest.length === 0 ? 'true' : rest.join('=');
  if (value !== 'true' && value !== 'false')
    throw new ToolcribError('invalid_criterion', `The flag "${name}" takes true or false, not "${value}".`);
  return [name, value === 'true'];
}

async function explainTool(asked: RouteRequest) {
  const { profile, caller: id, role: roles } = asked.query as ExplainQuery; // as its schema demands
  await openToCall(asked, profile); // a profile that is not there is no tool that is hidden
  const caller = { ...(id !== undefined && { id }), ...(roles !== undefined && { roles }) };
  return ok({ caller, ...asked.crib.explain(caller, profile, asked.params.name ?? '') });
}

interface ExplainQuery {
  readonly profile?: string;
  readonly caller?: string;
  readonly role?: readonly string[];
}
