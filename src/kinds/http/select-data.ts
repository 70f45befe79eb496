import { isJsonObject, type JsonValue, unescapePointer } from '../../core/json.ts';

/** One step into data: the name of a member, the place of an item, or `*` for all items. */
type Step = string | typeof ALL;
const ALL: unique symbol = Symbol('all');

/** Where in an answer the result is; undefined for what is neither a JSON pointer nor a path. */
export function readSelect(text: string): readonly Step[] | undefined {
  if (text === '') return [];
  if (text.startsWith('/')) return readPointer(text);
  return readPath(text);
}

function readPointer(text: string): readonly Step[] | undefined {
  if (/~(?![01])/.test(text)) return undefined;
  return text.slice(1).split('/').map(unescapePointer);
}

const STEP = /^(?:\.?([^.[\]]+)|\[(\d+|\*)\])/;

function readPath(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.replace(/^\$\.?(?=\[|.)/, ''); // JSONPath says so where it begins
  for (let first = true; rest !== ''; first = false) {
    const match = STEP.exec(rest);
    if (match === null || (first && rest.startsWith('.')) || (!first && !/^[.[]/.test(rest))) return undefined;
    const step = match[1] ?? match[2] ?? '';
    steps.push(step === '*' ? ALL : step);
    rest = rest.slice(match[0].length);
  }
  return steps;
}

/** What stands there: null where there is nothing, and a list where there are items. */
export function selectData(data: JsonValue, steps: readonly Step[]): JsonValue {
  const [step, ...rest] = steps;
  if (step === undefined) return data;
  if (step === ALL) return Array.isArray(data) ? data.map((item: JsonValue) => selectData(item, rest)) : [];
  return selectData(memberOf(data, step), rest);
}

function memberOf(data: JsonValue, step: string): JsonValue {
  if (Array.isArray(data)) return /^\d+$/.test(step) ? (data[Number(step)] ?? null) : null;
  return isJsonObject(data) && Object.hasOwn(data, step) ? (data[step] ?? null) : null;
}

/** The steps that `readSelect` reads. */
export type Selection = readonly Step[];
