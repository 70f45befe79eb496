import { hash } from 'node:crypto';
import { basename } from 'node:path';
import type { JsonObject } from '../../../core/json.ts';
import { messageOf } from '../../../core/tool-error.ts';
import { type ToolSpec, toToolName } from '../../../core/tool-spec.ts';
import { toToolSpec } from '../../../define/define-tool.ts';
import type { Found, Wanted } from './look-at-python.ts';

/** What files offer, as it is kept. */
export interface PythonList {
  /** Tools as Python describes them, each with the file that it comes from. */
  readonly entries: readonly JsonObject[];
  readonly problems: readonly string[];
  /** True if a file could not be read, so that what it offered before stays. */
  readonly isPartial: boolean;
}

/** A list that was kept. */
export function readPythonList(entries: readonly JsonObject[], problems: unknown): PythonList {
  const said = Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [];
  return { entries, problems: said, isPartial: false };
}

/** What was found, as the next list. A file that cannot be imported any more keeps its tools: calling them says why. */
export function toPythonList(before: PythonList, wanted: readonly Wanted[], found: readonly Found[]): PythonList {
  const entries = found.flatMap(({ tools, isRead }, index) => {
    const place = placeOf(wanted[index]);
    if (!isRead) return before.entries.filter((entry) => entry.file === place);
    return tools.map((tool) => ({ ...tool, file: place }));
  });
  const problems = found.flatMap((one, index) =>
    one.problems.map((problem) => `${placeOf(wanted[index])}: ${problem}.`),
  );
  return { entries, problems, isPartial: found.some(({ isRead }) => !isRead) };
}

const INSTALLED = 'installed distributions';

function placeOf(wanted: Wanted | undefined): string {
  return typeof wanted?.file === 'string' ? wanted.file : INSTALLED;
}

interface Surroundings {
  readonly source: string;
  /** Where modules are found from. */
  readonly root: string;
}

/** The specs of a list, and what is wrong with the rest. Of two tools of one name the first stays. */
export function toPythonSpecs(
  { entries, problems }: PythonList,
  surroundings: Surroundings,
): { readonly specs: readonly ToolSpec[]; readonly problems: readonly string[] } {
  const byName = new Map<string, { readonly spec: ToolSpec; readonly file: unknown }>();
  const wrong: string[] = [];
  for (const entry of entries) {
    try {
      const spec = toSpec(entry, surroundings);
      const first = byName.get(spec.name);
      if (first === undefined) byName.set(spec.name, { spec, file: entry.file });
      else
        wrong.push(`"${spec.name}" is in ${nameOf(first.file)} already, so that of ${nameOf(entry.file)} is left out.`);
    } catch (cause) {
      wrong.push(`${String(entry.file)}: ${messageOf(cause)}`);
    }
  }
  return { specs: Array.from(byName.values(), ({ spec }) => spec), problems: [...problems, ...wrong] };
}

function nameOf(file: unknown): string {
  return basename(String(file));
}

function toSpec(entry: JsonObject, { source, root }: Surroundings): ToolSpec {
  const { file: _file, name, module, function: work, ...described } = entry;
  const tool = {
    ...described,
    name: typeof name === 'string' ? toToolName(name, (text) => hash('sha256', text)) : name,
    run: { kind: 'python', module, function: work, folder: root },
  };
  return toToolSpec(tool, source);
}
