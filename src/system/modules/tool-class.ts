import { describe } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';

/** A class that can be called with `new`. */
export type Class = new (...given: readonly unknown[]) => object;

/** True for a class. */
export function isClass(value: unknown): value is Class {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

/** True for a class that looks like a tool: its instances can run, or the class itself. Creates no instance. */
export function isToolClass(value: unknown): value is Class {
  return isClass(value) && (isRunnable(value.prototype) || isRunnable(value));
}

/** The tool of a class: the result of its `create()`, the class itself, or an instance. It may be a promise. */
export function makeTool(given: Class): unknown {
  const create: unknown = Reflect.get(given, 'create');
  if (typeof create === 'function') return attempt(given, 'create()', () => create.call(given));
  if (!isRunnable(given.prototype) && isRunnable(given)) return given;
  return attempt(given, 'constructor', () => new given());
}

/** `class Weather`, for messages. */
export function nameOfClass(given: unknown): string {
  const name: unknown = typeof given === 'function' ? given.name : undefined;
  return typeof name === 'string' && name !== '' ? `class ${name}` : 'a class without a name';
}

/** The reason why a value is not a tool. */
export function whyNotTool(value: unknown): string {
  if (isClass(value)) return `${nameOfClass(value)} is not a tool: it has no method execute or run`;
  const owner = typeof value === 'object' && value !== null ? value.constructor : undefined;
  if (isClass(owner)) return `${nameOfClass(owner)} is not a tool: an instance has no execute or run`;
  return `it is ${describe(value)}, not a tool or a bundle`;
}

function attempt(given: Class, what: string, make: () => unknown): unknown {
  try {
    return make();
  } catch (cause) {
    const cure = 'export an instance, or add a static create()';
    const message = `${nameOfClass(given)} cannot be instantiated: its ${what} throws: ${messageOf(cause).replace(/\.$/, '')}; ${cure}.`;
    throw new ToolcribError('not_a_tool', message, { cause });
  }
}

/** True for a value with execute() or run(), or with invoke() as in LangChain. */
function isRunnable(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  if (isMethod(value, 'execute') || isMethod(value, 'run')) return true;
  return 'lc_namespace' in value && isMethod(value, 'invoke');
}

/** Looks for a method without calling getters, which would fail on a prototype. */
function isMethod(owner: object, name: string): boolean {
  for (let at: object | null = owner; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return typeof found.value === 'function';
  }
  return false;
}
