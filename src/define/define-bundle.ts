import type { Bundle, SetupResult } from '../core/bundle.ts';
import { describe, readMember, readOptions } from '../core/read-options.ts';
import type { Selector } from '../core/selector.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { readNames, readWhen } from './define-tool.ts';
import { type AnyTool, type NamedTools, readTool, toolsOption } from './read-tool.ts';

/** A bundle as authors write it. Tools are given in `tools` or selected by `include`; a single name is accepted instead of a list. */
export interface BundleInput extends Omit<Bundle, 'tools' | 'include' | 'requires' | 'extends'> {
  readonly tools?: readonly AnyTool[] | NamedTools;
  readonly include?: string | readonly Selector[];
  readonly requires?: string | readonly string[];
  readonly extends?: string | readonly string[];
}

/** A bundle with the specs it brings. */
export interface DefinedBundle extends Bundle {
  readonly specs: readonly ToolSpec[];
}

const KEYS = [
  'name',
  'description',
  'tools',
  'include',
  'requires',
  'extends',
  'when',
  'priority',
  'instructions',
  'meta',
  'setup',
  'ready',
] as const;
const BUNDLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Defines a bundle. Its specs are static, so listing and search need no setup. */
export function defineBundle(definition: BundleInput | DefinedBundle): DefinedBundle {
  if (isDefinedBundle(definition)) return definition;
  const given = readOptions<BundleInput>(definition, KEYS, 'A bundle');
  if (typeof given.name !== 'string' || !BUNDLE_NAME.test(given.name)) {
    throw new ToolcribError(
      'invalid_name',
      `${describe(given.name)} is not a bundle name: use letters, digits, "_", "-" and ".", starting with a letter or "_".`,
    );
  }
  const what = `Bundle "${given.name}"`;
  for (const hook of ['setup', 'ready'] as const) {
    if (given[hook] !== undefined && typeof given[hook] !== 'function') {
      throw new ToolcribError('invalid_option', `${what}: ${hook} must be a function, got ${describe(given[hook])}.`);
    }
  }
  const tools = toolsOption(given.tools);
  if (given.tools !== undefined && tools === undefined) {
    throw new ToolcribError('invalid_option', `${what}: tools must be a list, got ${describe(given.tools)}.`);
  }
  const specs = (tools ?? []).map((tool) => readTool(tool, 'code'));
  const include = typeof given.include === 'string' ? [given.include] : (given.include ?? []);
  if (
    include.some((selector) =>
      typeof selector === 'string' ? selector.startsWith('bundle:') : selector?.bundle !== undefined,
    )
  ) {
    throw new ToolcribError('invalid_selector', `${what} includes another bundle by a selector; use extends instead.`);
  }
  const { tools: _tools, ...rest } = given;
  return Object.freeze({
    ...rest,
    specs: Object.freeze(specs),
    tools: Object.freeze(specs.map((spec) => spec.name)),
    include: Object.freeze([...include]),
    requires: readNames(given.requires, `${what}: requires`) ?? [],
    extends: readNames(given.extends, `${what}: extends`) ?? [],
    ...(given.when !== undefined && { when: readWhen(given.when, what) }),
  });
}

function isDefinedBundle(value: unknown): value is DefinedBundle {
  return typeof value === 'object' && value !== null && Object.isFrozen(value) && Object.hasOwn(value, 'specs');
}

const LONGEST_INSTRUCTIONS = 64_000;
const RESULT_KEYS = ['state', 'instructions', 'dispose'] as const;

/** Reads the object or instance that a setup returned. Throws for unknown members and invalid values. */
export function readSetupResult(made: unknown): SetupResult {
  if (made === undefined) return undefined;
  const what = 'the result of setup';
  const own = readOptions<Record<string, unknown>>(made, RESULT_KEYS, 'The result of setup');
  const source = made as object; // readOptions has checked it
  const [state, instructions, dispose] = RESULT_KEYS.map((key) => own[key] ?? readMember(source, key, what)); // members of its class are read, too
  if (dispose !== undefined && typeof dispose !== 'function')
    throw new ToolcribError('invalid_option', `"dispose" of ${what} must be a function, got ${describe(dispose)}.`);
  if (instructions !== undefined && typeof instructions !== 'string')
    throw new ToolcribError(
      'invalid_option',
      `"instructions" of ${what} must be a string, got ${describe(instructions)}.`,
    );
  if (instructions !== undefined && instructions.length > LONGEST_INSTRUCTIONS)
    throw new ToolcribError(
      'too_long',
      `"instructions" of ${what} has more than ${LONGEST_INSTRUCTIONS} characters; shorten it.`,
    );
  return {
    state,
    ...(instructions !== undefined && { instructions }),
    ...(dispose !== undefined && { dispose: () => dispose.call(source) }), // keeps `this`
  };
}
