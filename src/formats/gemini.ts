import { isRecord, type JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import {
  copySchema,
  mapSchema,
  requireAtMost,
  requireDistinctNames,
  toObjectSchema,
  toPrefixItems,
} from './object-schema.ts';
import { entriesOf, type MediaPart, memberOf, partsOf, textIn, toRequest } from './vendor-messages.ts';

const MAX_TOOLS = 512;
const MEDIA = new Set(['application/pdf', 'image/jpeg', 'image/png', 'image/webp']);

/** The single entry of `tools` that contains all functions. */
export interface GeminiTool {
  readonly functionDeclarations: GeminiFunction[];
}

/** A function declaration of Gemini. */
export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; the older `parameters` supports only a small part of it. */
  readonly parametersJsonSchema: JsonSchema;
  readonly responseJsonSchema?: JsonSchema;
}

/** The result of one call; the results of a turn are one `user` content. */
export interface GeminiResult {
  readonly functionResponse: {
    readonly id?: string;
    readonly name: string;
    /** Always text: Gemini would read a `$ref` inside structured output as a reference to a file. */
    readonly response: { readonly output: string } | { readonly error: string };
    readonly parts?: { readonly inlineData: { readonly mimeType: string; readonly data: string } }[];
  };
}

/** Definitions for `config.tools` of `models.generateContent`. */
export function toGemini(specs: readonly ToolSpec[]): GeminiTool[] {
  requireDistinctNames(specs);
  requireAtMost(specs, MAX_TOOLS, 'Gemini');
  if (specs.length === 0) return [];
  const functionDeclarations = specs.map(({ name, description, input, output }) => {
    const declared = { name, description, parametersJsonSchema: toGeminiSchema(toObjectSchema(input)) };
    return output === undefined ? declared : { ...declared, responseJsonSchema: toGeminiSchema(copySchema(output)) };
  });
  return [{ functionDeclarations }];
}

/** The calls of a response, or of one content of the conversation. */
export function fromGeminiCalls(response: unknown): CallRequest[] {
  const content = memberOf(entriesOf(memberOf(response, 'candidates'))[0], 'content') ?? response;
  return entriesOf(memberOf(content, 'parts'))
    .map((part) => memberOf(part, 'functionCall'))
    .filter((call) => call !== undefined && call !== null)
    .map((call) => toRequest(memberOf(call, 'id'), memberOf(call, 'name'), memberOf(call, 'args')));
}

/** The results of calls, including images and PDF files. */
export function toGeminiResults(answers: readonly CallAnswer[]): GeminiResult[] {
  return answers.map(({ id, name, result }) => {
    const parts = partsOf(result, (mimeType) => MEDIA.has(mimeType));
    const media = parts.filter((part): part is MediaPart => part.type === 'media');
    return {
      functionResponse: {
        ...(id !== '' && { id }),
        name,
        response: result.ok ? { output: textIn(parts) } : { error: textIn(parts) },
        ...(media.length > 0 && { parts: media.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })) }),
      },
    };
  });
}

function toGeminiSchema(schema: JsonSchema): JsonSchema {
  return moveDefinitions(mapSchema(toPrefixItems(schema), bareReference));
}

// Gemini accepts only these keywords beside a `$ref`; the target replaces all others.
function bareReference(schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const beside = (keyword: string) => keyword.startsWith('$') || keyword === 'default' || keyword === 'description';
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => beside(keyword)));
}

// Gemini supports `$defs`, but not the older `definitions`.
function moveDefinitions(schema: JsonSchema): JsonSchema {
  const { definitions, ...rest } = schema;
  if (!isRecord(definitions)) return schema;
  const $defs = { ...definitions, ...(isRecord(schema.$defs) && schema.$defs) };
  return mapSchema({ ...rest, $defs }, (inner) =>
    typeof inner.$ref === 'string' ? { ...inner, $ref: inner.$ref.replace(/^#\/definitions\//, '#/$defs/') } : inner,
  );
}
