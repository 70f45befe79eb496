import { hash } from 'node:crypto';
import { toToolName } from '../../../core/tool-spec.ts';
import type { Operation } from './reading.ts';

/** Names operations, each once, and the same ones whenever the same description is read. */
export function createNaming(): (operation: Operation) => string {
  const taken = new Set<string>();
  return (operation) => {
    const { method, path, fields } = operation;
    const own = typeof fields.operationId === 'string' ? fields.operationId.trim() : '';
    const unique = `${wordsOf(operation)}_${sha256(`${method} ${path}`).slice(0, 8)}`;
    const name = [own, wordsOf(operation), unique].find((one) => one !== '' && !taken.has(safe(one))) ?? unique;
    taken.add(safe(name));
    return name;
  };
}

function wordsOf({ method, path }: Operation): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('_');
}

function safe(name: string): string {
  return toToolName(name, sha256);
}

function sha256(text: string): string {
  return hash('sha256', text);
}
