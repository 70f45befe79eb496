/** Gives tools small numbers, which are used again, and knows which texts each was indexed with. */
export interface ToolIds {
  /** How many tools there are. */
  readonly size: number;
  isUsed(id: number): boolean;
  find(name: string): number | undefined;
  name(id: number): string;
  fingerprint(id: number): number;
  take(name: string, fingerprint: number): number;
  release(id: number): void;
  /** Those whose name is this one but for case. */
  named(lowerCase: string): readonly number[];
  entries(): readonly KeptTool[];
}

/** A tool as a snapshot knows it: its name and what was searched of it; a free number has none. */
export type KeptTool = readonly [name: string, fingerprint: number] | null;

export function createToolIds(kept: readonly KeptTool[] = []): ToolIds {
  const tools: KeptTool[] = [...kept];
  const ids = new Map<string, number>();
  const free: number[] = [];
  // Made by the first request that may name a tool.
  let byLowerCase: Map<string, readonly number[]> | undefined;
  const noteLowerCase = (name: string, id: number, byName: Map<string, readonly number[]>) => {
    const lowerCase = name.toLowerCase();
    byName.set(lowerCase, [...(byName.get(lowerCase) ?? []), id]);
  };
  tools.forEach((tool, id) => {
    if (tool === null) free.push(id);
    else ids.set(tool[0], id);
  });
  return {
    get size() {
      return ids.size;
    },
    isUsed: (id) => (tools[id] ?? null) !== null,
    find: (name) => ids.get(name),
    name: (id) => tools[id]?.[0] ?? '',
    fingerprint: (id) => tools[id]?.[1] ?? 0,
    take(name, fingerprint) {
      const id = free.pop() ?? tools.length;
      tools[id] = [name, fingerprint];
      ids.set(name, id);
      if (byLowerCase !== undefined) noteLowerCase(name, id, byLowerCase);
      return id;
    },
    release(id) {
      const name = tools[id]?.[0] ?? '';
      const lowerCase = name.toLowerCase();
      const others = byLowerCase?.get(lowerCase)?.filter((other) => other !== id) ?? [];
      if (others.length === 0) byLowerCase?.delete(lowerCase);
      else byLowerCase?.set(lowerCase, others);
      ids.delete(name);
      tools[id] = null;
      free.push(id);
    },
    named(lowerCase) {
      if (byLowerCase === undefined) {
        byLowerCase = new Map();
        for (const [name, id] of ids) noteLowerCase(name, id, byLowerCase);
      }
      return byLowerCase.get(lowerCase) ?? [];
    },
    entries: () => tools,
  };
}
