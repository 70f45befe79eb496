import fc from 'fast-check';
import {
  type BundleInput,
  type Caller,
  defineTool,
  type ProfileInput,
  type Selector,
  type ToolSpec,
} from '../../src/index.ts';

/** One tool of a random crib: where it belongs, and which role alone may see it. */
interface WorldTool {
  readonly name: string;
  readonly tags: readonly string[];
  readonly bundle: string | undefined;
  readonly role: string | undefined;
  readonly requires: readonly string[];
}

/** A crib, a profile and a caller, at random. */
export interface World {
  readonly tools: readonly WorldTool[];
  readonly profile: ProfileInput;
  readonly caller: Caller;
  /** Who sees a tool by the letter of the documents. */
  isVisible(name: string): boolean;
}

export const WORLD_NAMES = ['red_a', 'red_b', 'blue_a', 'blue_b', 'green_a'] as const;

/** Selectors with what they mean, said a second time and more simply. */
const MEANINGS: readonly (readonly [Selector, (tool: WorldTool) => boolean])[] = [
  ['red_a', (tool) => tool.name === 'red_a'],
  ['blue_*', (tool) => tool.name.startsWith('blue_')],
  ['*_a', (tool) => tool.name.endsWith('_a')],
  ['tag:safe', (tool) => tool.tags.includes('safe')],
  ['bundle:box', (tool) => tool.bundle === 'box'],
  ['bundle:b*', (tool) => tool.bundle === 'box' || tool.bundle === 'bag'],
  [{ tags: ['safe', 'fast'] }, (tool) => tool.tags.includes('safe') && tool.tags.includes('fast')],
  [{ tagsAny: ['safe', 'fast'] }, (tool) => tool.tags.length > 0],
];

const chosenSelectors = fc.uniqueArray(fc.constantFrom(...MEANINGS), { maxLength: 3 });

const worldTool = (name: string): fc.Arbitrary<WorldTool> =>
  fc.record({
    name: fc.constant(name),
    tags: fc.uniqueArray(fc.constantFrom('safe', 'fast')),
    bundle: fc.constantFrom('box', 'bag', undefined),
    role: fc.constantFrom('dev', 'ops', undefined),
    requires: fc.uniqueArray(fc.constantFrom(...WORLD_NAMES), { maxLength: 2 }),
  });

export const world: fc.Arbitrary<World> = fc
  .record({
    tools: fc.tuple(...WORLD_NAMES.map(worldTool)).chain((tools) => fc.subarray(tools)),
    include: fc.option(chosenSelectors, { nil: undefined }),
    exclude: chosenSelectors,
    active: fc.option(fc.subarray(['box', 'bag']), { nil: undefined }),
    profileRole: fc.constantFrom('dev', undefined, undefined),
    roles: fc.subarray(['dev', 'ops']),
  })
  .map(({ tools, include, exclude, active, profileRole, roles }) => ({
    tools,
    profile: {
      ...(include && { include: include.map(([selector]) => selector) }),
      exclude: exclude.map(([selector]) => selector),
      ...(active && { active }),
      ...(profileRole && { policy: { access: { roles: [profileRole] } } }),
    },
    caller: { id: 'alice', roles },
    isVisible(name) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) return false;
      if (include !== undefined && !include.some(([, means]) => means(tool))) return false;
      if (exclude.some(([, means]) => means(tool))) return false;
      return [tool.role, profileRole].every((role) => role === undefined || roles.includes(role));
    },
  }));

/** The world's tools; `ran` is told which of them runs. */
export function toolsOf({ tools }: World, ran: (name: string) => void): readonly ToolSpec[] {
  return tools.map(({ name, tags, role, requires }) =>
    defineTool({
      name,
      description: `A tool named ${name}`,
      input: { type: 'object' },
      tags,
      requires,
      ...(role !== undefined && { policy: { access: { roles: [role] } } }),
      run: () => ran(name),
    }),
  );
}

export function bundlesOf({ tools }: World): readonly BundleInput[] {
  return ['box', 'bag'].map((name) => ({
    name,
    include: tools.filter((tool) => tool.bundle === name).map((tool) => tool.name),
  }));
}
