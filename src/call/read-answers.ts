import { frozenCopy, isJsonObject, type JsonObject } from '../core/json.ts';
import { readOptions } from '../core/read-options.ts';
import type { ClientAnswers, InputAnswers } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** A frozen copy of the answers that came along with a call: a person may be asked about them, so that nothing changes them later. */
export function readAnswers(value: unknown): ClientAnswers {
  const { approval, input } = readOptions<ClientAnswers>(value, ['approval', 'input'], '"answers" of a call');
  return Object.freeze({
    ...(approval !== undefined && { approval: approval === true }), // whatever is not a clear yes is a no
    ...(input !== undefined && { input: readInput(input) }),
  });
}

function readInput(value: unknown): InputAnswers {
  const { capabilities, responses, state } = readOptions<InputAnswers>(
    value,
    ['capabilities', 'responses', 'state'],
    '"answers.input" of a call',
  );
  if (state !== undefined && typeof state !== 'string')
    throw invalid('"answers.input.state" of a call must be a text.');
  const said = responses === undefined ? {} : readObject(responses, 'responses');
  return Object.freeze({
    ...(capabilities !== undefined && { capabilities: knownCapabilities(readObject(capabilities, 'capabilities')) }),
    ...(Object.keys(said).length > 0 && { responses: said }),
    ...(state !== undefined && { state }),
  });
}

/** Client capabilities of the protocol that let a server ask for input, and their members. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  sampling: ['context', 'tools'],
  roots: ['listChanged'],
};

/** Keeps what the protocol defines. Anything else would reach a server without having been shown. */
function knownCapabilities(declared: JsonObject): JsonObject {
  const known = Object.entries(KNOWN).flatMap(([name, parts]) => {
    const capability = declared[name];
    if (!isJsonObject(capability)) return [];
    const kept = parts.flatMap((part) => {
      const value = capability[part];
      if (typeof value === 'boolean') return [[part, value] as const];
      return isJsonObject(value) ? [[part, Object.freeze({})] as const] : [];
    });
    return [[name, Object.freeze(Object.fromEntries(kept))] as const];
  });
  return Object.freeze(Object.fromEntries(known));
}

function readObject(value: unknown, key: string): JsonObject {
  const copy = frozenCopy(value);
  if (isJsonObject(copy)) return copy;
  throw invalid(`"answers.input.${key}" of a call must be an object.`);
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
