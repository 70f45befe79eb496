import { describe } from '../../core/read-options.ts';
import { messageOf } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type BundleInput, type DefinedBundle, defineBundle } from '../../define/define-bundle.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { isToolLike, type ModuleExport } from '../../system/modules/module-exports.ts';

/** The tools and bundles among the exports of a module, and what is wrong with the rest. */
export interface FoundTools {
  readonly specs: readonly ToolSpec[];
  readonly bundles: readonly DefinedBundle[];
  readonly problems: readonly string[];
}

/** Exports of these names are there for us, so whatever else they hold is a mistake. */
const MEANT_FOR_US = ['default', 'tools', 'bundles'];

/** Finds tools for one source. The same object gives the same spec, however many modules export it. */
export function createToolFinder(source: string): (exports: readonly ModuleExport[]) => FoundTools {
  const known = new WeakMap<object, ToolSpec | DefinedBundle>();

  const toSpec = (tool: object): ToolSpec => {
    const spec = known.get(tool) ?? toToolSpec(tool, source);
    known.set(tool, spec);
    return spec as ToolSpec; // what is known by a tool is its spec
  };

  const toBundle = (bundle: object): DefinedBundle => {
    const found = known.get(bundle) ?? defineBundle(bundle as BundleInput); // checked there
    known.set(bundle, found);
    return found as DefinedBundle; // as above
  };

  return (exports) => {
    const specs: ToolSpec[] = [];
    const bundles: DefinedBundle[] = [];
    const problems: string[] = [];
    const take = (value: object): void => {
      if (!isBundleLike(value)) return void specs.push(toSpec(value));
      const bundle = toBundle(value);
      specs.push(...bundle.specs.map(toSpec));
      bundles.push(bundle);
    };
    for (const entry of exports) {
      if ('problem' in entry) {
        problems.push(entry.problem);
        continue;
      }
      for (const [what, value] of candidatesOf(entry)) {
        try {
          if (!isToolLike(value)) throw new Error(`it is ${describe(value)}, not a tool or a bundle`);
          take(value);
        } catch (cause) {
          problems.push(`${what}: ${messageOf(cause)}`);
        }
      }
    }
    return { specs, bundles, problems };
  };
}

/** What an export offers, under the words to report it by; nothing where it was hardly meant for us. */
function candidatesOf({
  name,
  value,
}: {
  readonly name: string;
  readonly value: unknown;
}): readonly [string, unknown][] {
  const isMeant = MEANT_FOR_US.includes(name);
  if (!Array.isArray(value)) return isMeant || isToolLike(value) ? [[`export "${name}"`, value]] : [];
  if (!isMeant && !value.some(isToolLike)) return [];
  return value.map((member, index) => [`export "${name}", entry ${index + 1}`, member]);
}

function isBundleLike(value: object): boolean {
  return 'specs' in value || ('tools' in value && !('execute' in value));
}
