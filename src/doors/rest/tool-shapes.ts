import type { Stop } from '../../core/ports/stored-stops.ts';
import { defined } from '../../core/read-options.ts';
import { flagsOf } from '../../core/selector.ts';
import { type Effects, kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { withheldNames } from '../../crib/catalog/explain.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { TOKEN_FORMATS, tokensByFormat, tokensOf } from '../../formats/token-cost.ts';
import { toTime } from '../shown.ts';
import type { RouteRequest } from './route.ts';
import { anyObject, anything, choice, flag, list, object, SOURCE_STATES, text, time, whole } from './shapes.ts';

/** How much harm a tool can do, by its effects. */
export const DANGERS = ['read', 'write', 'destructive', 'unknown'] as const;
type Danger = (typeof DANGERS)[number];

/** The danger of a tool. A tool that says nothing about its effects is `unknown`. */
export function dangerOf({ destructive, readOnly }: Effects): Danger {
  if (destructive === true) return 'destructive';
  if (readOnly === true) return 'read';
  return destructive === false || readOnly === false ? 'write' : 'unknown';
}

const LISTED = {
  name: text(),
  'title?': text(),
  description: text(),
  'kind?': text('How it runs. Only for operators.'),
  source: text('The source of the tool.'),
  status: choice(SOURCE_STATES, 'The state of the source.'),
  'category?': text(),
  tags: list(text()),
  bundles: list(text()),
  effects: anyObject('What the tool does to the world. An absent effect means unknown.'),
  danger: choice(DANGERS, 'By its effects: read, write (not destructive), destructive, or unknown.'),
};

/** The schema of a tool in a list. */
export const LISTED_TOOL = object({
  ...LISTED,
  tokens: whole('Estimated token cost of its definition in the OpenAI format.'),
  'since?': time('Since when the list of its source is stale.'),
  'lastUsedAt?': time('Its last call of the last 30 days. Only for operators.'),
  'calls30Days?': whole('Number of calls that ended in the last 30 days. Only for operators.'),
  'stopped?': { const: true, description: 'An emergency stop refuses its calls. Only for operators.' },
});

/** The schema of one tool. */
export const SHOWN_TOOL = object({
  ...LISTED,
  'version?': text(),
  'instructions?': text(),
  'requires?': list(text()),
  'examples?': list(anything('An example: a request in words and matching arguments.')),
  active: flag('True if a bundle of the tool is active.'),
  inputSchema: anyObject(),
  'outputSchema?': anyObject(),
  tokens: object(Object.fromEntries(TOKEN_FORMATS.map((format) => [format, whole()])), 'Token cost of its definition.'),
  'origin?': text('Its name at its source. Only for operators.'),
  'policy?': anyObject('The limits of its calls. Only for operators.'),
  'flags?': anyObject('The booleans of its meta and effects. Only for operators.'),
  'meta?': anyObject('Further metadata of the tool. Only for operators.'),
  'fixedArguments?': list(text()),
  'hiddenArguments?': list(text()),
  'stops?': list(text(), 'The emergency stops that refuse its calls. Only for operators.'),
});

/** Describes a page of tools, with token cost and, for operators, use. */
export async function describeTools(
  asked: RouteRequest,
  chest: Chest,
  specs: readonly ToolSpec[],
): Promise<readonly object[]> {
  const { crib, asker, use } = asked;
  const describe = createToolLister(asked, chest);
  const sinces = new Map(crib.sources().map(({ name, since }) => [name, since]));
  const used = asker.operator ? await use.byTool() : undefined;
  const stopped = asker.operator ? new Set((await readStops(crib)).map(({ target }) => target)) : undefined;
  return Promise.all(
    specs.map(async (spec) => {
      const since = sinces.get(spec.source);
      const found = used?.get(spec.name);
      const isStopped = ['all', `tool:${spec.name}`, `source:${spec.source}`].some((target) => stopped?.has(target));
      return {
        ...describe(spec),
        tokens: await tokensOf([spec], 'openai', 'estimate'),
        ...(since !== undefined && { since: toTime(since) }),
        ...(used !== undefined && { calls30Days: found?.calls ?? 0 }),
        ...(found !== undefined && { lastUsedAt: toTime(found.lastAt) }),
        ...(isStopped && { stopped: true }),
      };
    }),
  );
}

/** Creates a function that describes a tool. Never includes how a tool runs; only operators see its kind. */
function createToolLister({ crib, asker }: RouteRequest, chest: Chest): (spec: ToolSpec) => object {
  const states = new Map(crib.sources().map(({ name, state }) => [name, state]));
  const seen = new Set(chest.available());
  return (spec) => {
    const { name, title, description, source, category, tags, effects } = spec;
    return {
      name,
      ...(title !== undefined && { title }),
      description,
      ...(asker.operator && { kind: kindOf(spec) }),
      source,
      status: states.get(source) ?? 'ready',
      ...(category !== undefined && { category }),
      tags,
      bundles: crib.bundles
        .of(name)
        .map((bundle) => bundle.name)
        .filter((bundle) => seen.has(bundle)),
      effects,
      danger: dangerOf(effects),
    };
  };
}

/** Describes one tool with everything that the caller may see. */
export async function showTool(asked: RouteRequest, chest: Chest, spec: ToolSpec): Promise<object> {
  return {
    ...createToolLister(asked, chest)(spec),
    ...defined({ version: spec.version, instructions: spec.instructions }),
    ...(spec.requires !== undefined && { requires: spec.requires.filter((name) => chest.get(name) !== undefined) }),
    ...(spec.examples !== undefined && { examples: spec.examples }),
    active: chest.listActive().some(({ name }) => name === spec.name),
    inputSchema: spec.input,
    ...(spec.output !== undefined && { outputSchema: spec.output }),
    tokens: await tokensByFormat([spec]),
    ...(asked.asker.operator && { ...ofOperators(spec), ...(await stopsOf(asked, spec)) }),
  };
}

function ofOperators(spec: ToolSpec) {
  const withheld = withheldNames(spec);
  return {
    origin: spec.origin,
    policy: spec.policy,
    flags: Object.fromEntries(flagsOf(spec)),
    ...defined({ meta: spec.meta }),
    ...(withheld !== undefined && { fixedArguments: withheld.fixed, hiddenArguments: withheld.hidden }),
  };
}

/** Reads the emergency stops. If the store fails, the last known ones are shown. */
export async function readStops(crib: Crib): Promise<readonly Stop[]> {
  return crib.stops.list().catch(() => []);
}

/** The stops that refuse calls of the tool under the profile of the request. */
async function stopsOf({ crib, asker, query }: RouteRequest, { name }: ToolSpec) {
  const { profile } = query as { readonly profile?: string }; // as its schema demands
  await readStops(crib);
  return defined({ stops: crib.explain(asker.caller, profile, name).stops });
}
