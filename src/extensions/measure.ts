import { type ExtensionRecord, otelNode, readOtel, type WithClock } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { MetricsConfig } from '../config/types/guards.ts';
import { replayOf } from '../core/begun-runs.ts';
import { isPromise } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { ExtensionPorts, TraitsOf } from '../core/ports/extension-ports.ts';
import {
  type Attributes,
  createToolRecords,
  type Gauge,
  type Instrument,
  MCP_DOOR,
  type Meters,
  toolTypeOf,
} from '../core/ports/observability.ts';
import { FACTS } from '../core/tool-call.ts';
import { TOOL_ERROR_CODES } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createMeters } from '../system/telemetry.ts';

/** Options of `measure()`. */
export type MeasureOptions = Pick<MetricsConfig, 'otel'>;

/** OpenTelemetry metrics of every call. */
export const measure: ExtensionRecord<MeasureOptions & WithClock> = {
  name: 'measure',
  priority: 150,
  reason: 'innermost: measures each attempt at a server, and observes whole calls',
  entry: 'metrics',
  options: object('Measures calls.', { otel: otelNode }),
  codeOptions: ['clock'],
  make(options, ports) {
    const { clock = ports.clock } = options;
    const meters = createMeters(readOtel('measure', options));
    const tools = createToolRecords(attributesBy(ports.traitsOf));
    const instruments = createInstruments(meters);
    let stopObserving: (() => void) | undefined;
    return {
      applies: () => meters.isOn(),
      onStart(call) {
        instruments.inFlight(1, tools.of(call).source);
        stopObserving ??= meters.observe(() => auditGauges(ports));
      },
      wrap(call, next) {
        const { mcpClient } = tools.of(call);
        if (mcpClient === undefined) return next(call);
        const startedAt = clock.now();
        const note = (result: ToolResult): ToolResult => {
          quietly(() => instruments.mcpClient(secondsSince(startedAt, clock), { ...mcpClient, ...failureOf(result) }));
          return result;
        };
        const result = next(call);
        return isPromise(result) ? result.then(note) : note(result);
      },
      onEnd(call, result) {
        const { source, tool, mcpServer } = tools.of(call);
        const { startedAt } = call[FACTS];
        const replayed = replayOf(call);
        const seconds = secondsSince(startedAt, clock);
        const failure = failureOf(result);
        instruments.inFlight(-1, source);
        instruments.calls(1, {
          ...tool,
          ...source,
          ...failure,
          'toolcrib.outcome': result.status,
          ...(replayed !== undefined && { 'toolcrib.replayed': true }),
        });
        if (replayed === undefined) instruments.executeTool(seconds, { ...tool, ...failure });
        if (call.door === MCP_DOOR && call.parent === undefined)
          instruments.mcpServer(seconds, { ...mcpServer, ...failure });
      },
      close: async () => stopObserving?.(),
    };
  },
};

/** Attributes of the measurements of one tool. */
interface ToolAttributes {
  readonly source: Attributes;
  readonly tool: Attributes;
  /** For calls that MCP clients make. */
  readonly mcpServer: Attributes;
  /** For requests to the MCP server of the tool; absent for other tools. */
  readonly mcpClient: Attributes | undefined;
}

function attributesBy(traitsOf: TraitsOf): (name: string, source: string, kind: string) => ToolAttributes {
  return (name, source, kind) => {
    const { runsOwnCode, spanAttributes } = traitsOf(kind);
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
    const method = spanAttributes?.['mcp.method.name'];
    return {
      source: { 'toolcrib.source': source },
      tool: { ...tool, 'gen_ai.tool.type': toolTypeOf(source, runsOwnCode) },
      mcpServer: { ...tool, 'mcp.method.name': 'tools/call' },
      mcpClient: source === '' || method === undefined ? undefined : { ...tool, 'mcp.method.name': method },
    };
  };
}

const CODES: ReadonlySet<string> = new Set(TOOL_ERROR_CODES);

/** A closed set: an unknown code becomes `_OTHER`, as the conventions require. */
function failureOf(result: ToolResult): Attributes {
  if (result.status !== 'failed') return {};
  const { code } = result.error;
  return { 'error.type': CODES.has(code) ? code : '_OTHER' };
}

function secondsSince(startedAt: number, clock: Clock): number {
  return Math.max(0, clock.now() - startedAt) / 1000;
}

/** A provider that throws must not fail a call. Observers report such errors anyway. */
function quietly(measuring: () => void): void {
  try {
    measuring();
  } catch {}
}

const GEN_AI_BOUNDARIES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const MCP_BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Names and boundaries of the GenAI and MCP conventions, and our own where those define none. */
function createInstruments({ instrument }: Meters) {
  const ofCalls = (type: Instrument['type'], name: string, description: string) =>
    instrument({ type, name, unit: '{call}', description });
  const ofTime = (name: string, boundaries: readonly number[], description: string) =>
    instrument({ type: 'histogram', name, unit: 's', boundaries, description });
  return {
    calls: ofCalls('counter', 'toolcrib.calls', 'Ended calls by outcome.'),
    inFlight: ofCalls('upDownCounter', 'toolcrib.calls.in_flight', 'Calls in flight.'),
    executeTool: ofTime(
      'gen_ai.execute_tool.duration',
      GEN_AI_BOUNDARIES,
      'Duration of calls, including waiting for approvals and slots.',
    ),
    mcpClient: ofTime(
      'mcp.client.operation.duration',
      MCP_BOUNDARIES,
      'Duration of requests to MCP servers, per attempt.',
    ),
    mcpServer: ofTime('mcp.server.operation.duration', MCP_BOUNDARIES, 'Duration of calls by MCP clients.'),
  };
}

function auditGauges({ audit, isAudited }: ExtensionPorts): readonly Gauge[] {
  if (audit === undefined || !isAudited()) return [];
  const gauge = (name: string, unit: string, description: string) => ({
    name: `toolcrib.audit.${name}`,
    unit,
    description,
  });
  return [
    {
      ...gauge('waiting_rows', '{row}', 'Audit rows that are not written yet.'),
      read: () => audit.backlog().rows,
    },
    {
      ...gauge('waiting_time', 's', 'Age of the oldest audit row that is not written yet.'),
      read: () => audit.backlog().oldestMs / 1000,
    },
    {
      ...gauge('lost_rows', '{row}', 'Audit rows that were lost and not yet recorded as lost.'),
      read: () => audit.backlog().lost,
    },
  ];
}
