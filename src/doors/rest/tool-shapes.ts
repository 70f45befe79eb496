import { defined } from '../../core/defined.ts';
import { flagsOf } from '../../core/selector.ts';
import type { SourceStatus } from '../../core/source.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { withheldNames } from '../../crib/catalog/explain.ts';
import type { Chest } from '../../crib/chest.ts';
import { TOKEN_FORMATS, tokensByFormat } from '../../formats/token-cost.ts';
import type { Asked } from './route.ts';
import { anyObject, anything, choice, flag, list, object, text, whole } from './schema-builders.ts';

/** How a source can be doing. */
export const SOURCE_STATES = [
  'ready',
  'down',
  'failed',
  'starting',
  'stale',
] as const satisfies readonly SourceStatus['state'][];

const LISTED = {
  name: text(),
  'title?': text(),
  description: text(),
  'kind?': text('How it runs; for operators.'),
  source: text('Where it comes from.'),
  status: choice(SOURCE_STATES, 'How that is doing.'),
  'category?': text(),
  tags: list(text()),
  bundles: list(text()),
  effects: anyObject('What it does to the world; what is absent is unknown.'),
};

/** The shape of a tool in a list. */
export const LISTED_TOOL = object(LISTED);

/** The shape of one tool. */
export const SHOWN_TOOL = object({
  ...LISTED,
  'version?': text(),
  'instructions?': text(),
  'requires?': list(text()),
  'examples?': list(anything('A request in words and the arguments that answer it.')),
  active: flag('Whether it is listed at first.'),
  inputSchema: anyObject(),
  'outputSchema?': anyObject(),
  tokens: object(Object.fromEntries(TOKEN_FORMATS.map((format) => [format, whole()])), 'What its definition costs.'),
  'origin?': text('Its name at its source; for operators.'),
  'policy?': anyObject('What calls are held to; for operators.'),
  'flags?': anyObject('The booleans of its meta and effects; for operators.'),
  'fixedArguments?': list(text()),
  'hiddenArguments?': list(text()),
});

/** Makes what is listed of a tool: nothing of how it runs, to operators its kind. */
export function createToolLister({ crib, asker }: Asked, chest: Chest): (spec: ToolSpec) => object {
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
    };
  };
}

/** Everything that somebody may know about one tool. */
export async function showTool(asked: Asked, chest: Chest, spec: ToolSpec): Promise<object> {
  return {
    ...createToolLister(asked, chest)(spec),
    ...defined({ version: spec.version, instructions: spec.instructions }),
    ...(spec.requires !== undefined && { requires: spec.requires.filter((name) => chest.get(name) !== undefined) }),
    ...(spec.examples !== undefined && { examples: spec.examples }),
    active: chest.listActive().some(({ name }) => name === spec.name),
    inputSchema: spec.input,
    ...(spec.output !== undefined && { outputSchema: spec.output }),
    tokens: await tokensByFormat([spec]),
    ...(asked.asker.operator && ofOperators(spec)),
  };
}

function ofOperators(spec: ToolSpec) {
  const withheld = withheldNames(spec);
  return {
    origin: spec.origin,
    policy: spec.policy,
    flags: Object.fromEntries(flagsOf(spec)),
    ...(withheld !== undefined && { fixedArguments: withheld.fixed, hiddenArguments: withheld.hidden }),
  };
}
