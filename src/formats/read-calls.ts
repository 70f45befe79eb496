import type { CallRequest } from '../core/tool-call.ts';

/** A member of whatever a model's message holds; `undefined` where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The entries of a list, holes included; nothing where it is no list. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? Array.from(value) : [];
}

/** A request out of whatever stood where id, name and arguments belong; the pipeline judges it. */
export function toRequest(id: unknown, name: unknown, input: unknown): CallRequest {
  const asked = { name: typeof name === 'string' ? name : '', input: input === undefined ? {} : input };
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id), ...asked } : asked;
}

/** Arguments as a model wrote them: what is not JSON stays the raw text, and none at all means no arguments. */
export function parseArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written;
  if (written.trim() === '') return {};
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}
