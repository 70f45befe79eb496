import { readNameList } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { type Outcome, outcome, type Rejection } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type AnyTool, listTools, nameOfTool } from '../../define/read-tool.ts';
import type { CodeSource } from '../../sources/code.ts';
import type { Names } from '../catalog/activation.ts';
import { requireUnreserved } from './name-clashes.ts';

/** Registers and removes tools in code. */
export interface Registration {
  register(tools: AnyTool | readonly AnyTool[]): Outcome;
  unregister(names: Names): Outcome;
  /** Registers all tools or throws. The same tool object from two places is not a duplicate. */
  takeIn(tools: readonly unknown[], place: string): readonly ToolSpec[];
}

export interface RegistrationOptions {
  readonly source: CodeSource;
  /** Checks a tool; throws if it is invalid. */
  admit(tool: unknown): ToolSpec;
  /** The source other than code that has a tool of this name. */
  ownerOf(name: string): string | undefined;
}

export function createRegistration({ source, admit, ownerOf }: RegistrationOptions): Registration {
  const placeOf = new Map<string, string>();

  const requireFree = (spec: ToolSpec, batch: ReadonlyMap<string, ToolSpec>, place: string): ToolSpec => {
    requireUnreserved(spec.name, source.name);
    const known = source.get(spec.name) ?? batch.get(spec.name);
    const owner = known === undefined ? ownerOf(spec.name) : (placeOf.get(spec.name) ?? place);
    if (owner === undefined) return spec;
    const places = owner === place ? `twice from ${place}` : `from both ${owner} and ${place}`;
    throw new ToolcribError('duplicate', `"${spec.name}" comes ${places}; rename one of them.`);
  };

  const add = (batch: ReadonlyMap<string, ToolSpec>, place: string): void => {
    for (const name of batch.keys()) if (!placeOf.has(name)) placeOf.set(name, place);
    source.add([...batch.values()]);
  };

  return {
    register(tools) {
      const batch = new Map<string, ToolSpec>();
      const rejected: Rejection[] = [];
      for (const tool of listTools(tools)) {
        try {
          const spec = requireFree(admit(tool), batch, 'register');
          batch.set(spec.name, spec);
        } catch (cause) {
          if (!(cause instanceof ToolcribError)) throw cause;
          rejected.push({ name: nameOfTool(tool), reason: cause.message });
        }
      }
      if (rejected.length > 0) return outcome([], rejected);
      add(batch, 'register');
      return outcome([...batch.keys()]);
    },
    unregister(names) {
      const isKnown = (name: string) => source.get(name) !== undefined;
      const all = readNameList(names, 'unregister');
      const rejected = all
        .filter((name) => !isKnown(name))
        .map((name): Rejection => ({ name, reason: whyNot(ownerOf(name)) }));
      const applied = all.filter(isKnown);
      for (const name of applied) placeOf.delete(name);
      if (applied.length > 0) source.remove(applied);
      return outcome(applied, rejected);
    },
    takeIn(tools, place) {
      const batch = new Map<string, ToolSpec>();
      const specs = tools.map((tool) => {
        const spec = admit(tool);
        if (source.get(spec.name) !== spec) batch.set(spec.name, requireFree(spec, batch, place));
        return spec;
      });
      if (batch.size > 0) add(batch, place);
      return specs;
    },
  };
}

function whyNot(owner: string | undefined): string {
  return owner === undefined ? 'unknown tool' : `it comes from ${owner}, not from code`;
}
