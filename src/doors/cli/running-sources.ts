import type { Crib } from '../../crib/crib.ts';
import { findServer } from '../../crib/serving/running-server.ts';
import type { Flags } from './arguments/flags.ts';
import { findConfig } from './find-config.ts';

/** A source whose edited entry a running server does not use. */
export interface StaleSource {
  readonly name: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
}

const ANSWER_WITHIN_MS = 2000;

/** What a running server of the same configuration says is stale. Without one, or if it does not say, nothing. */
export async function staleSources(crib: Crib, { config }: Pick<Flags, 'config'>): Promise<readonly StaleSource[]> {
  const url = await findServer(config ?? findConfig(process.cwd()) ?? process.cwd());
  if (url === undefined) return [];
  try {
    const response = await fetch(`${url}/api/sources`, {
      headers: { authorization: `Bearer ${await crib.server.operatorToken()}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'error',
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    const sources = (answer as { readonly sources?: unknown } | undefined)?.sources; // anybody may listen there
    return Array.isArray(sources) ? sources.filter(isStale) : [];
  } catch {
    return []; // it has ended since
  }
}

function isStale(source: unknown): source is StaleSource {
  if (typeof source !== 'object' || source === null || !('since' in source) || !('name' in source)) return false;
  const { reason } = source as { readonly reason?: unknown }; // an object, by the line above
  return typeof source.since === 'string' && typeof source.name === 'string' && typeof reason === 'string';
}
