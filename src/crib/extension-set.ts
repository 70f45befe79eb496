import { orderExtensions } from '../call/extension-order.ts';
import { createPipeline, type Pipeline } from '../call/pipeline.ts';
import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { type Policy, withFallback } from '../core/policy.ts';
import { defined } from '../core/read-options.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { ExtensionInput } from '../define/define-extension.ts';
import { isBuiltIn, readExtension } from './bind-extensions.ts';

/** The current extensions and their pipeline. */
export interface ExtensionSet {
  list(): readonly Extension[];
  add(extension: ExtensionInput): void;
  remove(name: string): void;
  pipeline(): Pipeline;
  /** Names of built-ins that a custom extension replaces. */
  replaced(): readonly string[];
  /** Throws if these extensions could not be used. */
  checkGiven(given: readonly Extension[], turnedOff: readonly string[]): void;
  /** Replaces the extensions of the definition. Those added or removed by code stay added or removed. */
  replaceGiven(given: readonly Extension[], turnedOff: readonly string[]): void;
  /** Extensions that were replaced. Calls that started before may still notify them. */
  retired(): readonly Extension[];
  /** The policy used where neither tool nor profile sets a value. */
  policyDefaults(): Policy;
  rewriteListing(specs: readonly ToolSpec[]): readonly ToolSpec[];
}

export interface ExtensionSetOptions {
  readonly builtIn: readonly Extension[];
  readonly given: readonly Extension[];
  /** Names of built-ins that are turned off. */
  readonly turnedOff: readonly string[];
  readonly executors: ReadonlyMap<string, Executor>;
  /** Creates the instance of a built-in for this crib. */
  bind(extension: Extension): Extension;
  warn(message: string): void;
  onChange(): void;
}

/** Creates the set. An extension with the name of a built-in replaces it. Changes apply from the next call on. */
export function createExtensionSet(options: ExtensionSetOptions): ExtensionSet {
  const { executors, warn } = options;
  const ours = new WeakSet<Extension>();
  const bind = (extension: Extension): Extension => {
    const bound = options.bind(extension);
    if (options.builtIn.includes(extension) || isBuiltIn(extension)) ours.add(bound);
    return bound;
  };
  const baseOf = (given: readonly Extension[], turnedOff: readonly string[]): readonly Extension[] => {
    const replaced = new Set([...given.map((extension) => extension?.name), ...turnedOff]);
    return [...options.builtIn.filter((extension) => !replaced.has(extension.name)), ...given].map(bind);
  };
  const retired: Extension[] = [];
  let base = baseOf(options.given, options.turnedOff);
  let registered = [...base];
  let ordered = orderExtensions(registered);
  let pipeline = createPipeline({ extensions: ordered, executors, warn });

  const replace = (next: Extension[]): void => {
    ordered = orderExtensions(next);
    registered = next;
    pipeline = createPipeline({ extensions: ordered, executors, warn });
    options.onChange();
  };

  const withByHand = (next: readonly Extension[]): Extension[] => {
    const removed = base.filter((extension) => !registered.includes(extension)).map((extension) => extension.name);
    const added = registered.filter((extension) => !base.includes(extension));
    return [...next.filter((extension) => !removed.includes(extension.name)), ...added];
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
    add: (extension) => replace([...registered, bind(readExtension(extension))]),
    remove(name) {
      if (registered.some((extension) => extension.name === name))
        replace(registered.filter((extension) => extension.name !== name));
    },
    checkGiven: (given, turnedOff) => void orderExtensions(withByHand(baseOf(given, turnedOff))),
    replaceGiven(given, turnedOff) {
      const next = baseOf(given, turnedOff);
      const before = registered;
      replace(withByHand(next));
      base = next;
      retired.push(...before.filter((extension) => !registered.includes(extension)));
    },
    retired: () => retired,
    replaced: () => {
      const builtIn = new Set(options.builtIn.map(({ name }) => name));
      return ordered.filter((extension) => builtIn.has(extension.name) && !ours.has(extension)).map(({ name }) => name);
    },
    pipeline: () => pipeline,
    policyDefaults: () =>
      ordered.reduce<Policy>((defaults, extension) => withFallback(defaults, extension.defaults ?? {}), {}),
    rewriteListing: (specs) => ordered.reduce(rewrite, specs),
  };
}

/** Applies rewritten texts and schemas only, never the name or the policy. */
function withTextsOf(spec: ToolSpec, rewritten: ToolSpec | undefined): ToolSpec {
  if (rewritten === undefined || rewritten === spec) return spec;
  const { title = spec.title, description = spec.description, input = spec.input, output = spec.output } = rewritten;
  return Object.freeze(defined({ ...spec, description, input, title, output }));
}
