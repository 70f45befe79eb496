import { type ExtensionRecord, otelNode, readOtel, type WithClock } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { MetricsConfig } from '../config/types/guards.ts';
import { replayOf } from '../core/begun-runs.ts';
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
import { afterwards } from '../core/ports/pending-result.ts';
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
        return afterwards(next(call), note);
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

const OF_TOOLS = ['gen_ai.operation.name', 'gen_ai.tool.name', 'gen_ai.tool.type', 'error.type'];
const OF_MCP = ['mcp.method.name', 'gen_ai.operation.name', 'gen_ai.tool.name', 'error.type'];

/** Names and boundaries of the GenAI and MCP conventions, and our own where those define none. */
export const INSTRUMENTS = {
  executeTool: {
    type: 'histogram',
    name: 'gen_ai.execute_tool.duration',
    unit: 's',
    boundaries: GEN_AI_BOUNDARIES,
    attributes: OF_TOOLS,
    description: 'Duration of calls, including waiting for approvals and slots.',
  },
  mcpClient: {
    type: 'histogram',
    name: 'mcp.client.operation.duration',
    unit: 's',
    boundaries: MCP_BOUNDARIES,
    attributes: OF_MCP,
    description: 'Duration of requests to MCP servers, per attempt.',
  },
  mcpServer: {
    type: 'histogram',
    name: 'mcp.server.operation.duration',
    unit: 's',
    boundaries: MCP_BOUNDARIES,
    attributes: OF_MCP,
    description: 'Duration of calls by MCP clients.',
  },
  calls: {
    type: 'counter',
    name: 'toolcrib.calls',
    unit: '{call}',
    attributes: [...OF_TOOLS, 'toolcrib.source', 'toolcrib.outcome', 'toolcrib.replayed'],
    description: 'Ended calls by outcome.',
  },
  inFlight: {
    type: 'upDownCounter',
    name: 'toolcrib.calls.in_flight',
    unit: '{call}',
    attributes: ['toolcrib.source'],
    description: 'Calls in flight.',
  },
} as const satisfies Readonly<Record<string, Instrument & { readonly attributes: readonly string[] }>>;

function createInstruments({ instrument }: Meters) {
  const { executeTool, mcpClient, mcpServer, calls, inFlight } = INSTRUMENTS;
  return {
    calls: instrument(calls),
    inFlight: instrument(inFlight),
    executeTool: instrument(executeTool),
    mcpClient: instrument(mcpClient),
    mcpServer: instrument(mcpServer),
  };
}

/** Gauges of the audit log, read at each collection. */
export const AUDIT_GAUGES: readonly (Omit<Gauge, 'read'> & {
  readonly read: (audit: NonNullable<ExtensionPorts['audit']>) => number;
})[] = [
  {
    name: 'toolcrib.audit.waiting_rows',
    unit: '{row}',
    description: 'Audit rows that are not written yet.',
    read: (audit) => audit.backlog().rows,
  },
  {
    name: 'toolcrib.audit.waiting_time',
    unit: 's',
    description: 'Age of the oldest audit row that is not written yet.',
    read: (audit) => audit.backlog().oldestMs / 1000,
  },
  {
    name: 'toolcrib.audit.lost_rows',
    unit: '{row}',
    description: 'Audit rows that were lost and not yet recorded as lost.',
    read: (audit) => audit.backlog().lost,
  },
];

function auditGauges({ audit, isAudited }: ExtensionPorts): readonly Gauge[] {
  if (audit === undefined || !isAudited()) return [];
  return AUDIT_GAUGES.map((gauge) => ({ ...gauge, read: () => gauge.read(audit) }));
}
