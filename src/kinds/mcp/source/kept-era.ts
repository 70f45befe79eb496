import type { JsonObject } from '../../../core/json.ts';
import type { McpEra } from '../connection/mcp-connection.ts';

/** How long an old server is not asked whether it has learned something new. */
export const ERA_MS = 24 * 3_600_000;

/** What is kept with a list about how its server speaks. */
export function toKeptEra(era: McpEra): JsonObject {
  return { era, eraAt: Date.now() };
}

/** The era that was kept; nothing for what is too old, or what somebody else wrote. */
export function readKeptEra(about: JsonObject | undefined): McpEra | undefined {
  const { era, eraAt } = about ?? {};
  const ageMs = typeof eraAt === 'number' ? Date.now() - eraAt : Number.POSITIVE_INFINITY;
  return era === 'legacy' && ageMs >= 0 && ageMs < ERA_MS ? era : undefined;
}
