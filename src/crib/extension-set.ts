import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { type Policy, withFallback } from '../core/policy.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { orderExtensions } from './extension-order.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';

/** The extensions of this moment and the pipeline they make. */
export interface ExtensionSet {
  list(): readonly Extension[];
  add(extension: Extension): void;
  remove(name: string): void;
  pipeline(): Pipeline;
  /** What holds where neither tool nor profile speaks. */
  policyDefaults(): Policy;
  rewriteListing(specs: readonly ToolSpec[]): readonly ToolSpec[];
}

export interface ExtensionSetOptions {
  readonly builtIn: readonly Extension[];
  readonly given: readonly Extension[];
  readonly executors: ReadonlyMap<string, Executor>;
  warn(message: string): void;
  onChange(): void;
}

/** An extension of a built-in's name takes its place; adding or removing one shows with the next call. */
export function createExtensionSet(options: ExtensionSetOptions): ExtensionSet {
  const { executors, warn } = options;
  const replaced = new Set(options.given.map((extension) => extension?.name));
  let registered = [...options.builtIn.filter((extension) => !replaced.has(extension.name)), ...options.given];
  let ordered = orderExtensions(registered);
  let pipeline = createPipeline({ extensions: ordered, executors, warn });

  const replace = (next: Extension[]): void => {
    ordered = orderExtensions(next);
    registered = next;
    pipeline = createPipeline({ extensions: ordered, executors, warn });
    options.onChange();
  };

  const rewrite = (specs: readonly ToolSpec[], extension: Extension): readonly ToolSpec[] => {
    if (extension.onList === undefined) return specs;
    try {
      const texts = new Map(extension.onList(specs).map((spec) => [spec.name, spec]));
      return Object.freeze(specs.map((spec) => withTextsOf(spec, texts.get(spec.name))));
    } catch (cause) {
      warn(`"onList" of the extension "${extension.name}" failed: ${messageOf(cause)}`);
      return specs;
    }
  };

  return {
    list: () => ordered,
    add: (extension) => replace([...registered, extension]),
    remove(name) {
      if (registered.some((extension) => extension.name === name))
        replace(registered.filter((extension) => extension.name !== name));
    },
    pipeline: () => pipeline,
    policyDefaults: () =>
      ordered.reduce<Policy>((defaults, extension) => withFallback(defaults, extension.defaults ?? {}), {}),
    rewriteListing: (specs) => ordered.reduce(rewrite, specs),
  };
}

/** Only what is shown may be rewritten: never the name, never what a call is held to. */
function withTextsOf(spec: ToolSpec, rewritten: ToolSpec | undefined): ToolSpec {
  if (rewritten === undefined || rewritten === spec) return spec;
  const { title = spec.title, description = spec.description, input = spec.input, output = spec.output } = rewritten;
  return Object.freeze({
    ...spec,
    description,
    input,
    ...(title !== undefined && { title }),
    ...(output !== undefined && { output }),
  });
}
