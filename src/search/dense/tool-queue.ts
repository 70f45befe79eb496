import type { DenseTool } from '../../core/retriever.ts';

/** Tools that wait, each once, in the order they came. */
export interface ToolQueue {
  readonly count: number;
  has(id: number): boolean;
  /** True unless the tool was taken out, or replaced by another of its id. */
  holds(tool: DenseTool): boolean;
  /** A tool whose id waits already takes its place. */
  add(tool: DenseTool): void;
  delete(id: number): void;
  /** The next ones, which go on waiting; behind the last one it begins again. */
  next(count: number): readonly DenseTool[];
}

const FEWEST = 64;

/** Lists, since ids are small numbers: a map of a hundred thousand takes a tenth of a second longer. */
export function createToolQueue(): ToolQueue {
  const byId: (DenseTool | undefined)[] = [];
  let inOrder: DenseTool[] = [];
  let at = 0;
  let count = 0;

  const holds = (tool: DenseTool) => byId[tool.id] === tool;

  /** Drops what waits no longer. */
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
