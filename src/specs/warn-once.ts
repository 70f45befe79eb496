/** Troubles that were told: each once, and again if it was mended in between. */
export interface WarnOnce {
  tell(trouble: string): void;
  forget(): void;
}

export function createWarnOnce(warn: (trouble: string) => void): WarnOnce {
  const told = new Set<string>();
  return {
    tell(trouble) {
      if (!told.has(trouble)) warn(trouble);
      told.add(trouble);
    },
    forget: () => told.clear(),
  };
}
