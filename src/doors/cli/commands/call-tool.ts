import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { approvalText } from '../../../core/approval-text.ts';
import type { ApprovalRequest, Approve } from '../../../core/caller.ts';
import { isRecord, type JsonSchema, resolveReference } from '../../../core/json.ts';
import { defined } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import {
  type Content,
  type FailedResult,
  type ToolResult,
  textOf,
  type WaitingResult,
} from '../../../core/tool-result.ts';
import type { Chest } from '../../../crib/chest.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { usage } from '../flags.ts';
import { openChest, suggestTool, untilListed, whoIsHere, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, type Interruption, note, paint, print, printJson, toLine, toLines } from '../output.ts';

/** `toolcrib call TOOL`: calls a tool, and asks on the terminal if it requires approval. */
export async function callTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [name = '', ...pairs] = words;
  const given = await readArguments(flags.args); // before anything is started
  return withCrib(flags, async (crib) => {
    const interruption = cancelOnInterrupt();
    const approve =
      flags.yes === true ? () => ({ approved: true, note: '--yes', by: whoIsHere() }) : approveOnTerminal(interruption);
    const chest = await openChest(crib, flags, approve);
    await untilListed(crib, name, interruption.signal);
    const input = { ...given, ...parseArguments(pairs, chest.get(name)?.input) };
    const id = randomUUID();
    const begin = performance.now();
    const result = await chest.call(name, input, {
      id,
      door: 'cli',
      park: true,
      wholeResult: true,
      ...defined({ traceparent: process.env.TRACEPARENT, approvalId: flags.approval }),
      signal: interruption.signal,
      onProgress: (progress) =>
        note(paint('dim', toLine(typeof progress === 'string' ? progress : JSON.stringify(progress)), process.stderr)),
    });
    if (flags.json === true) printJson({ callId: id, ...result, durationMs: Math.round(performance.now() - begin) });
    else printResult(result);
    if (result.status === 'waiting') explainWaiting(result.waiting, { words, flags });
    if (result.status === 'failed') explainFailure(result, chest, name);
    if (interruption.signal.aborted) return 130;
    return result.ok ? 0 : 1;
  });
}

function printResult(result: ToolResult): void {
  if (result.status === 'waiting') print(result.waiting.id);
  else if (!result.ok) note(`${paint('red', 'error:', process.stderr)} ${toLines(textOf(result))}`);
  else for (const part of result.content) print(toText(part));
}

// A file or a pipe gets the exact text of the tool; a terminal gets it without control characters.
function toText(part: Content): string {
  if (part.type === 'text') return process.stdout.isTTY ? toLines(part.text) : part.text;
  if (part.type === 'resource_link') return `[link ${toLine(part.uri)}]`;
  if (part.type === 'resource') return part.resource.text ?? `[resource ${toLine(part.resource.uri)}]`;
  return `[${part.type} ${toLine(part.mimeType)}, ${Buffer.byteLength(part.data, 'base64')} bytes; --json prints it]`;
}

/** Tells how to approve and run a parked call. */
function explainWaiting({ id, expiresAt }: WaitingResult['waiting'], { words, flags }: Invocation): void {
  const { config, profile, args } = flags;
  const given = Object.entries({ config, profile, args }).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, value],
  );
  const place = config === undefined ? '' : ` --config ${quote(config)}`;
  const again = ['toolcrib', 'call', ...words, ...given, '--approval', id].map(quote).join(' ');
  note(`Waiting for approval ${id} until ${new Date(expiresAt).toISOString()}.`);
  note(`To approve it: toolcrib approvals approve ${id}${place}`);
  note(toLine(`Then run it: ${again}`));
}

function quote(word: string): string {
  return /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function explainFailure(result: FailedResult, chest: Chest, name: string): void {
  const { code, cause } = result.error;
  const isAsking = cause instanceof ToolcribError && cause.code === 'no_approver';
  if (isAsking) note('Run the command on a terminal to be asked, or approve the call with --yes.');
  if (code === 'unknown_tool') note(`"toolcrib list" lists the tools.${suggestTool(name, chest)}`);
}

/** Parses `--args` into an object; `-` reads it from stdin. */
export async function readArguments(args: string | undefined): Promise<object> {
  if (args === undefined) return {};
  const value = parse(args === '-' ? await text(process.stdin) : args);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usage('--args must be a JSON object.');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw usage(`--args must be a JSON object: ${messageOf(cause)}.`);
  }
}

/** Converts `key=value` words by the types of the tool's schema. A value of the wrong type stays text, and validation rejects it. */
export function parseArguments(pairs: readonly string[], schema: JsonSchema | undefined): Record<string, unknown> {
  const byKey = new Map<string, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`"${pair}" is not an argument; write key=value.`);
    const key = pair.slice(0, at);
    byKey.set(key, [...(byKey.get(key) ?? []), pair.slice(at + 1)]);
  }
  return Object.fromEntries(
    [...byKey].map(([key, texts]) => [key, parseTexts(key, texts, propertySchema(schema, key), schema)]),
  );
}

function parseTexts(key: string, texts: readonly string[], schema: JsonSchema, root: JsonSchema | undefined): unknown {
  const { types, items } = shapeOf(schema, root);
  const [first = ''] = texts;
  const isList = types.has('array') && !(types.has('string') && texts.length === 1);
  if (isList && !(texts.length === 1 && /^\s*\[/.test(first))) {
    return texts.map((text) => parseText(key, text, items ?? {}, root));
  }
  if (texts.length === 1) return parseText(key, first, schema, root);
  if (types.size > 0) throw usage(`${key} is given ${texts.length} times, but it is not a list.`);
  return texts.map((text) => parseText(key, text, {}, root));
}

function parseText(key: string, text: string, schema: JsonSchema, root: JsonSchema | undefined): unknown {
  const { types, choices } = shapeOf(schema, root);
  const choice = choices.find((candidate) => String(candidate) === text);
  if (choice !== undefined) return choice;
  if (types.has('string')) return text;
  if (types.size === 0) return guess(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if ((types.has('number') || types.has('integer')) && isNumber(text)) return Number(text);
  if (types.has('object') || types.has('array')) return parseJson(key, text);
  return text;
}

// Without a type in the schema, JSON is parsed and everything else stays text.
function guess(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usage(`${key} must be JSON: ${messageOf(cause)}.`);
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

/** The values that a schema allows. */
export interface Shape {
  /** Empty if the schema names no type. */
  readonly types: ReadonlySet<string>;
  readonly choices: readonly unknown[];
  readonly items: JsonSchema | undefined;
}

const MAX_DEPTH = 8;

/** The schema of a property, else of additional properties, else an empty schema. */
export function propertySchema(schema: JsonSchema | undefined, key: string): JsonSchema {
  const resolved = follow(schema ?? {}, schema);
  const { properties, additionalProperties } = resolved;
  if (isRecord(properties) && Object.hasOwn(properties, key)) return toSchema(properties[key]);
  return toSchema(additionalProperties);
}

/** Collects the types of a schema through references and alternatives. */
export function shapeOf(schema: JsonSchema, root: JsonSchema | undefined, depth = 0): Shape {
  const { type, enum: listed, const: only, items, anyOf, oneOf, allOf } = follow(schema, root);
  const choices = [...(Array.isArray(listed) ? listed : []), ...(only === undefined ? [] : [only])];
  const named = Array.isArray(type) ? type : type === undefined ? choices.map(typeName) : [type];
  const parts = depth < MAX_DEPTH ? [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : [])) : [];
  const shapes = parts.map((part) => shapeOf(toSchema(part), root, depth + 1));
  return {
    types: new Set([...named.map(String), ...shapes.flatMap((shape) => [...shape.types])]),
    choices: [...choices, ...shapes.flatMap((shape) => shape.choices)],
    items: isRecord(items) ? items : shapes.find((shape) => shape.items !== undefined)?.items,
  };
}

// Follows only references inside the document, to a limited depth: a schema may refer to itself.
function follow(schema: JsonSchema, root: JsonSchema | undefined, depth = 0): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/') || depth >= MAX_DEPTH) return schema;
  return follow(toSchema(resolveReference($ref, root)), root, depth + 1);
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function toSchema(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}

/** Asks on the terminal, one question at a time; undefined if stdin or stderr is not a terminal. */
export function approveOnTerminal(interruption: Interruption): Approve | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = before.then(async () => ({ approved: await ask(request, interruption), by: whoIsHere() }));
    before = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(request: ApprovalRequest, interruption: Interruption): Promise<boolean> {
  if (request.signal.aborted) return false;
  const { confirm, isCancel } = await import('@clack/prompts');
  note(approvalText(request));
  const answer = await confirm({
    message: request.question === undefined ? `Run ${toLine(request.tool)}?` : 'Yes?',
    initialValue: false,
    input: process.stdin,
    output: process.stderr,
    signal: request.signal,
  });
  if (isCancel(answer) && !request.signal.aborted) interruption.interrupt(); // Ctrl-C, which the prompt handled itself
  return answer === true;
}
