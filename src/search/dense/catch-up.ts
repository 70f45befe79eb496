import { isPromise, type MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { DenseTool, Embedder } from '../../core/retriever.ts';

/** Tools whose vectors are not made yet; the work is delayed until the first search. */
export interface CatchUp {
  add(tools: readonly DenseTool[]): void;
  remove(ids: readonly number[]): void;
  has(id: number): boolean;
  /** Makes the missing vectors. Returns a promise only if the embedder does; it rejects on a timeout or failure. */
  finish(): MaybePromise<void>;
}

/** Options of a catch-up; `put` receives the vectors of a tool. */
export interface CatchUpOptions {
  readonly embedder: Embedder;
  readonly clock: Clock;
  put(id: number, vectors: readonly Float32Array[]): void;
}

const TOOLS_AT_ONCE = 64;
/** Further texts of a tool add nothing new. */
const MAX_TEXTS = 8;
/** Timeout of a search that waits for tool vectors. Using half of them would favour the tools that have one. */
const PATIENCE_MS = 5000;

/** Creates an empty catch-up. */
export function createCatchUp({ embedder, clock, put }: CatchUpOptions): CatchUp {
  const waiting = createToolQueue();
  let running: Promise<void> | undefined;

  function take(tools: readonly DenseTool[], vectors: readonly Float32Array[]): void {
    let start = 0;
    for (const tool of tools) {
      const own = vectors.slice(start, start + tool.texts.length);
      start += tool.texts.length;
      // The tool may have been removed or replaced meanwhile.
      if (!waiting.holds(tool)) continue;
      put(tool.id, own);
      waiting.delete(tool.id);
    }
  }

  function step(): MaybePromise<void> {
    const tools = waiting.next(TOOLS_AT_ONCE);
    const vectors = embedder.embed(tools.flatMap(({ texts }) => texts));
    return isPromise(vectors) ? vectors.then((made) => take(tools, made)) : take(tools, vectors);
  }

  async function runOn(first: Promise<void>): Promise<void> {
    await first;
    while (waiting.count > 0) await step();
  }

  return {
    add(tools) {
      for (const tool of tools) waiting.add(withinLimits(tool));
    },
    remove(ids) {
      for (const id of ids) waiting.delete(id);
    },
    has: waiting.has,
    finish() {
      if (running !== undefined) return withPatience(running, clock);
      while (waiting.count > 0) {
        const done = step();
        if (!isPromise(done)) continue;
        running = runOn(done).finally(() => {
          running = undefined;
        });
        return withPatience(running, clock);
      }
    },
  };
}

/** A tool without texts gets an empty one, so that it is known like the others. */
function withinLimits(tool: DenseTool): DenseTool {
  const { id, texts } = tool;
  if (texts.length === 0) return { id, texts: [''] };
  return texts.length > MAX_TEXTS ? { id, texts: texts.slice(0, MAX_TEXTS) } : tool;
}

function withPatience(work: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = new Error('the vectors of the tools are not ready yet; later searches will use them.');
    const stop = clock.setTimer(PATIENCE_MS, () => reject(late));
    work.then(resolve, reject).finally(stop);
  });
}

/** Waiting tools, deduplicated, in order of arrival. */
interface ToolQueue {
  readonly count: number;
  has(id: number): boolean;
  /** True unless the tool was removed, or replaced by another with the same id. */
  holds(tool: DenseTool): boolean;
  /** Adds a tool; it replaces a waiting tool with the same id. */
  add(tool: DenseTool): void;
  delete(id: number): void;
  /** The next tools, which stay in the queue; after the last one it starts over. */
  next(count: number): readonly DenseTool[];
}

const FEWEST = 64;

/** Arrays, because ids are small numbers: a map of a hundred thousand takes a tenth of a second longer. */
export function createToolQueue(): ToolQueue {
  const byId: (DenseTool | undefined)[] = [];
  let inOrder: DenseTool[] = [];
  let at = 0;
  let count = 0;

  const holds = (tool: DenseTool) => byId[tool.id] === tool;

  /** Removes tools that no longer wait. */
  function tidy(): void {
    inOrder = inOrder.filter(holds);
    at = 0;
  }

  function advance(wanted: number): readonly DenseTool[] {
    const tools: DenseTool[] = [];
    while (at < inOrder.length && tools.length < wanted) {
      const tool = inOrder[at] as DenseTool; // within the list
      at += 1;
      if (holds(tool)) tools.push(tool);
    }
    return tools;
  }

  return {
    get count() {
      return count;
    },
    has: (id) => byId[id] !== undefined,
    holds,
    add(tool) {
      if (inOrder.length > FEWEST && inOrder.length > count * 2) tidy();
      if (byId[tool.id] === undefined) count += 1;
      byId[tool.id] = tool;
      inOrder.push(tool);
    },
    delete(id) {
      if (byId[id] === undefined) return;
      byId[id] = undefined;
      count -= 1;
      if (count > 0) return;
      byId.length = inOrder.length = at = 0;
    },
    next(wanted) {
      const tools = advance(wanted);
      if (tools.length > 0) return tools;
      tidy();
      return advance(wanted);
    },
  };
}
