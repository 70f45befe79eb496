import { META_SOURCE } from '../../core/meta-tools.ts';
import { type Redact, redactData } from '../../core/redact-result.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { estimateTokens } from '../../formats/token-cost.ts';
import type { ModelAsker } from '../../kinds/agent/ask-model.ts';
import type { WrittenExamples } from '../../search/examples/read-examples.ts';
import { systemClock } from '../../system/clock.ts';
import { isServedAt } from '../../system/fetch/own-addresses.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import type { LoadedConfig } from '../config/loaded-config.ts';
import type { Engine } from '../engine.ts';
import { appendEntry, readForWriting, rewriteFile } from './examples-file.ts';
import { fingerprintOf, INSTRUCTIONS, promptFor, readRequests } from './write-requests.ts';

/** The parts of a configuration that writing examples needs. */
export interface EnrichPorts {
  loaded(): LoadedConfig;
  readonly secrets: Secrets;
  readonly redact: Redact;
}

/** Where examples are kept, and for which tools they are written. */
export interface EnrichOptions {
  /** Default: `retrieval.examples`. */
  readonly file?: string | undefined;
  /** Default: all tools. */
  readonly isMeant?: (tool: string) => boolean;
}

/** The tools that a run would ask for, each with one request to the model, and an estimate of the cost. */
export interface EnrichPlan {
  readonly file: string;
  readonly model: string;
  readonly host: string;
  readonly tools: readonly string[];
  /** Estimated tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By the prices of the model; absent without prices. */
  readonly cost?: number;
}

/** The outcome of a run. */
export interface EnrichResult {
  readonly written: readonly WrittenExamples[];
  readonly failed: readonly { readonly tool: string; readonly reason: string }[];
  /** Why the run ended before all tools were asked for. */
  readonly stopped?: string;
}

/** `current`, `changed` (the description is another one), `own` (of the owner), or `gone` (no such tool). */
type ExamplesState = 'current' | 'changed' | 'own' | 'gone';

/** The requests of a tool in the file. */
interface ShownExamples extends WrittenExamples {
  readonly state: ExamplesState;
}

/** Requests that a model writes for tools, kept in a file. Only search reads them. */
export interface CribExamples {
  plan(options?: EnrichOptions): Promise<EnrichPlan>;
  /** Asks the model for each tool of the plan. A line is written after each answer, so that the next run goes on after a crash. */
  write(options: EnrichOptions & { readonly signal: AbortSignal; onTool?(): void }): Promise<EnrichResult>;
  list(options?: EnrichOptions): Promise<readonly ShownExamples[]>;
  /** Removes the lines of tools that are gone, and returns their names. Throws if a source is not ready. */
  prune(options?: EnrichOptions): Promise<readonly string[]>;
}

/** A tool with so many examples of its own needs no others. */
const ENOUGH = 5;
const AT_ONCE = 4;
/** So many failures of the server in a row end the run. */
const MOST_FAILURES = 5;
/** Estimated tokens of one answer. */
const ANSWER_TOKENS = 200;

/** Creates the member for examples. `ports` are absent without a configuration. */
export function createExamples(
  { generation, sources }: Pick<Engine, 'generation' | 'sources'>,
  ports: EnrichPorts | undefined,
): CribExamples {
  const specsOf = ({ isMeant = () => true }: EnrichOptions) =>
    generation().catalog.specs.filter(({ name, source }) => source !== META_SOURCE && isMeant(name));

  async function prepare(options: EnrichOptions) {
    const configured = requirePorts(ports);
    const file = fileOf(configured, options);
    const { entries } = await readForWriting(file);
    const specs = specsOf(options).filter((spec) => needsRequests(spec, entries.get(spec.name)));
    return { configured, file, specs };
  }

  return {
    async plan(options = {}) {
      const { configured, file, specs } = await prepare(options);
      const model = modelOf(configured);
      const asker = await openAsker(configured, model);
      const inputTokens = specs.reduce((sum, spec) => sum + estimateTokens(INSTRUCTIONS + promptFor(spec)), 0);
      const outputTokens = specs.length * ANSWER_TOKENS;
      const { host, prices } = asker;
      asker.close();
      const cost = prices && (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000;
      const tools = specs.map(({ name }) => name);
      return { file, model, host, tools, inputTokens, outputTokens, ...(cost !== undefined && { cost }) };
    },
    async write({ signal, onTool = () => {}, ...options }) {
      const { configured, file, specs } = await prepare(options);
      const asker = await openAsker(configured, modelOf(configured));
      const { entries, isTorn } = await readForWriting(file);
      if (isTorn) await rewriteFile(file, entries.values());
      try {
        return await askForAll(specs, { asker, file, signal, onTool, redact: configured.redact });
      } finally {
        asker.close();
        await rewriteFile(file, (await readForWriting(file)).entries.values());
      }
    },
    async list(options = {}) {
      const { entries } = await readForWriting(fileOf(requirePorts(ports), options));
      const { catalog } = generation();
      return [...entries.values()].map((entry) => ({ ...entry, state: stateOf(entry, catalog.get(entry.tool)) }));
    },
    async prune(options = {}) {
      const file = fileOf(requirePorts(ports), options);
      requireReady(sources());
      const { entries } = await readForWriting(file);
      const { catalog } = generation();
      const gone = [...entries.keys()].filter((tool) => catalog.get(tool) === undefined);
      const kept = [...entries.values()].filter(({ tool }) => !gone.includes(tool));
      if (gone.length > 0) await rewriteFile(file, kept);
      return gone;
    },
  };
}

function requireReady(sources: ReturnType<Engine['sources']>): void {
  const missing = sources.find(({ state }) => state !== 'ready');
  if (missing === undefined) return;
  throw new ToolcribError(
    'failed',
    `The source "${missing.name}" is ${missing.state}, so its tools may only seem to be gone. Prune when every source is ready.`,
  );
}

function requirePorts(ports: EnrichPorts | undefined): EnrichPorts {
  if (ports !== undefined) return ports;
  throw new ToolcribError('invalid_config', 'Examples need a configuration with retrieval.examples.');
}

function fileOf({ loaded }: EnrichPorts, { file }: EnrichOptions): string {
  const place = file ?? loaded().config.retrieval?.examples;
  if (place !== undefined) return place;
  throw new ToolcribError(
    'invalid_config',
    'No file for examples. Add to the configuration: retrieval: { examples: ./search-examples.jsonl }',
  );
}

function modelOf({ loaded }: EnrichPorts): string {
  const name = loaded().config.retrieval?.enrich;
  if (name !== undefined) return name;
  throw new ToolcribError(
    'invalid_config',
    'No model for examples. Name one of executors.agent.models in the configuration: retrieval: { enrich: NAME }',
  );
}

async function openAsker({ loaded, secrets }: EnrichPorts, name: string): Promise<ModelAsker> {
  const { openModel } = await import('../../kinds/agent/ask-model.ts');
  const { config } = loaded();
  return openModel(name, config.executors?.agent ?? {}, {
    clock: systemClock,
    secrets,
    isOwn: (url, address) => isServedAt(config.server ?? {}, url, address),
    allowPrivate: () => [],
  });
}

/** The owner's lines are never replaced. */
function needsRequests(spec: ToolSpec, entry: WrittenExamples | undefined): boolean {
  if (entry !== undefined) return entry.of !== undefined && entry.of !== fingerprintOf(spec);
  return (spec.examples ?? []).filter(({ request }) => request !== undefined).length < ENOUGH;
}

function stateOf({ of }: WrittenExamples, spec: ToolSpec | undefined): ExamplesState {
  if (spec === undefined) return 'gone';
  if (of === undefined) return 'own';
  return of === fingerprintOf(spec) ? 'current' : 'changed';
}

interface Asking {
  readonly asker: ModelAsker;
  readonly file: string;
  readonly signal: AbortSignal;
  readonly redact: Redact;
  onTool(): void;
}

/** Asks for one tool at a time on several lines, so that a description can spoil the examples of its own tool only. */
async function askForAll(specs: readonly ToolSpec[], asking: Asking): Promise<EnrichResult> {
  const { asker, file, signal, redact, onTool } = asking;
  const written: WrittenExamples[] = [];
  const failed: { tool: string; reason: string }[] = [];
  const left = specs[Symbol.iterator]();
  let failures = 0;
  let stopped: string | undefined;
  const askNext = async (): Promise<void> => {
    for (const spec of left) {
      const { name: tool, title, description } = spec;
      try {
        // A server may have put a secret into its description: the model and the file are not for secrets.
        const prompt = promptFor(redactData({ name: tool, title, description }, redact));
        const answer = await asker.ask({ instructions: INSTRUCTIONS, prompt, signal });
        failures = 0;
        const requests = redactData(readRequests(answer), redact);
        if (typeof requests === 'string') failed.push({ tool, reason: requests });
        else {
          const entry = { tool, of: fingerprintOf(spec), requests };
          await appendEntry(file, entry);
          written.push(entry);
        }
      } catch (cause) {
        if (signal.aborted) stopped ??= 'It was interrupted.';
        else if (!(cause instanceof ToolcribError)) throw cause;
        else {
          failed.push({ tool, reason: messageOf(cause) });
          failures += 1;
          if (failures >= MOST_FAILURES)
            stopped ??= `The model server failed ${MOST_FAILURES} times in a row: ${messageOf(cause)}`;
        }
      }
      onTool();
      if (stopped !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askNext));
  return { written, failed, ...(stopped !== undefined && { stopped }) };
}
