import { type DeferredRun, deferRun, isUnderYes } from '../../core/begun-runs.ts';
import type { Executor } from '../../core/executor.ts';
import { isJson, isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { toolError } from '../../core/tool-error.ts';
import { type Content, type FailedResult, failed, isContent, type ToolResult, textOf } from '../../core/tool-result.ts';
import { RUN, type Run, WITHHELD } from '../../core/tool-spec.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { paramHeadersOf, toParamHeaders } from '../../formats/mcp-headers.ts';
import { callFailure } from './call-failure.ts';
import { McpFailure } from './mcp-failure.ts';
import { type McpServers, shareSubject } from './mcp-servers.ts';
import type { McpConnection } from './open-connection.ts';

/** The `run` of a tool on an MCP server. */
interface McpRun extends Run {
  readonly kind: 'mcp';
  /** The source of the server. */
  readonly source: string;
  /** The name of the tool on the server. */
  readonly tool: string;
}

const RUN_SCHEMA = {
  type: 'object',
  required: ['source', 'tool'],
  properties: {
    kind: { const: 'mcp' },
    source: { type: 'string', minLength: 1 },
    tool: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const;

/** Calls tools of MCP servers over the connection that the caller shares. */
export function mcpExecutor(servers: McpServers, clock: Clock): Executor {
  const headersFor = createHeaders();
  return {
    kind: 'mcp',
    runSchema: RUN_SCHEMA,
    async execute(call, run) {
      const { source, tool } = run as McpRun; // checked when the spec was loaded
      const deferred = deferRun(call);
      const server = servers.get(source);
      if (server === undefined) return noServer(call, source);
      try {
        return await server.connections.use({
          subject: shareSubject(server.share, call),
          onAbort: (listener) => call.onAbort(listener),
          work: (connection) => callTool(connection, call, { tool, clock, headersFor, deferred }),
        });
      } catch (cause) {
        if (!(cause instanceof McpFailure)) throw cause;
        return { ...failed(callFailure(cause, call.spec)), ...neededOf(cause) };
      }
    },
    close: servers.close,
  };
}

/** The capabilities that the client lacks, for the door to report in protocol terms. */
function neededOf({ code, data }: McpFailure): Pick<ToolResult, 'meta'> {
  const needed = code === MISSING_CAPABILITY ? data?.requiredCapabilities : undefined;
  return isJsonObject(needed) ? { meta: { 'toolcrib/requiredCapabilities': needed } } : {};
}

const MISSING_CAPABILITY = -32_021;

function noServer({ spec }: ToolCall, source: string): ToolResult {
  return failed(toolError('unavailable', `"${spec.name}" runs on the MCP server "${source}", which is not available.`));
}

interface Calling {
  readonly tool: string;
  readonly clock: Clock;
  readonly headersFor: HeadersFor;
  readonly deferred: DeferredRun;
}

/** Most rounds in which a server may ask for a retry without asking a question. */
const MAX_ROUNDS = 10;
const PAUSE_MS = 250;
/** Assumed time limit for the answer to a server's question. */
const INPUT_MS = 300_000;

async function callTool(connection: McpConnection, call: ToolCall, calling: Calling): Promise<ToolResult> {
  const { tool, clock, headersFor, deferred } = calling;
  const { input: answers } = call.answers ?? {};
  let state = answers?.state;
  if (!deferred.begin()) throw new McpFailure('cancelled', 'the call ended before the server was connected');
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const responses = round === 0 ? answers?.responses : undefined;
    const asked = connection.request({
      method: 'tools/call',
      params: {
        name: tool,
        arguments: call.input,
        ...(responses !== undefined && { inputResponses: responses }),
        ...(state !== undefined && { requestState: state }),
        ...metaOf(call, connection),
      },
      headers: headersFor(call, connection),
      onProgress: (progress) => call.report(progress),
      onAbort: (listener) => call.onAbort(listener),
    });
    const result = await asked.catch((cause: unknown) => {
      if (round === 0 && cause instanceof McpFailure && hasNotRun(cause, call)) deferred.takeBack();
      throw cause;
    });
    // Only the modern era has this result type.
    if (result.resultType !== 'input_required' || connection.era !== 'modern')
      return toToolResult(result, call.spec.name);
    const questions = readQuestions(result);
    if (questions.questions !== undefined) return waitForInput(call, questions, clock);
    if (questions.state === undefined) break;
    state = questions.state;
    await pause(clock);
  }
  throw new McpFailure('malformed', 'it asks for more input without a question');
}

/** A server's claim that it did not process a request allows a retry, but one approval must not be used twice. */
function hasNotRun({ isUnsent, isUnseen }: McpFailure, call: ToolCall): boolean {
  return isUnsent || (isUnseen && !isUnderYes(call));
}

function metaOf(call: ToolCall, { era }: McpConnection): { readonly _meta?: JsonObject } {
  const { traceparent } = call;
  const capabilities = era === 'modern' ? call.answers?.input?.capabilities : undefined;
  const meta = {
    ...(traceparent !== undefined && { traceparent }),
    ...(capabilities !== undefined && { 'io.modelcontextprotocol/clientCapabilities': capabilities }),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

type HeadersFor = (call: ToolCall, connection: McpConnection) => Readonly<Record<string, string>> | undefined;

/** Headers that repeat arguments, which only modern servers read. The declarations are cached per schema. */
function createHeaders(): HeadersFor {
  const known = new WeakMap<JsonSchema, ReturnType<typeof paramHeadersOf>>();
  return ({ spec, input }, { era }) => {
    if (era !== 'modern') return undefined;
    const schema = spec[RUN][WITHHELD]?.input ?? spec.input;
    const declared = known.get(schema) ?? paramHeadersOf(schema);
    known.set(schema, declared);
    return typeof declared === 'string' || declared.length === 0 ? undefined : toParamHeaders(declared, input);
  };
}

interface Questions {
  readonly questions: JsonObject | undefined;
  readonly state: string | undefined;
}

function readQuestions({ inputRequests, requestState }: JsonObject): Questions {
  const isAsking = isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0;
  return {
    questions: isAsking ? inputRequests : undefined,
    state: typeof requestState === 'string' ? requestState : undefined,
  };
}

/** Passes the questions to the client; fails if the client never said that it can answer. */
function waitForInput(call: ToolCall, { questions, state }: Questions, clock: Clock): ToolResult {
  if (call.answers?.input?.capabilities === undefined)
    return failed(
      // Not an upstream error: the server works, so the circuit breaker must not count this.
      toolError('tool_error', `"${call.spec.name}" asks for further input, which this client does not support.`),
    );
  const ask = { inputRequests: questions ?? {}, ...(state !== undefined && { requestState: state }) };
  const expiresAt = Math.round(clock.now() + INPUT_MS);
  return { ok: false, status: 'waiting', waiting: { for: 'input', id: call.id, expiresAt, ask } };
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.setTimer(PAUSE_MS, resolve));
}

/** Converts the server's result. Nothing is lost, because our content types are those of MCP. */
function toToolResult(result: JsonObject, tool: string): ToolResult {
  if (!isJson(result)) return malformed(tool, 'it is nested too deeply');
  const { content, structuredContent: data, isError } = result;
  if (content !== undefined && !Array.isArray(content)) return malformed(tool, 'its content is not a list');
  const parts = (content ?? []).map(toContent);
  const said = parts.length === 0 && data !== undefined ? [textPart(JSON.stringify(data))] : parts;
  const extras = { ...(data !== undefined && { data }), ...theirMeta(result._meta) };
  if (isError !== true) return { ok: true, status: 'done', content: said, ...extras };
  const message = beginningOf(textOf({ ok: true, status: 'done', content: said }), MAX_MESSAGE);
  const error = toolError('tool_error', message === '' ? `"${tool}" failed without a message.` : message);
  return { ok: false, status: 'failed', error, content: said, ...extras };
}

const MAX_MESSAGE = 4000;

/** Content of an unknown type is shown as JSON. */
function toContent(part: JsonValue): Content {
  return isContent(part) ? part : textPart(JSON.stringify(part));
}

function textPart(text: string): Content {
  return { type: 'text', text };
}

/** The server's own `_meta`, without keys that only the crib may set and without the server's identity. */
function theirMeta(meta: unknown): { readonly meta?: JsonObject } {
  if (!isJsonObject(meta)) return {};
  const theirs = Object.entries(meta).filter(([key]) => !/^(toolcrib|io\.modelcontextprotocol)\//.test(key));
  return theirs.length === 0 ? {} : { meta: Object.fromEntries(theirs) };
}

function malformed(tool: string, what: string): FailedResult {
  return failed(toolError('upstream', `The server of "${tool}" sent an invalid result: ${what}.`));
}
