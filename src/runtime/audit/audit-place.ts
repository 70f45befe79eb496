import { join } from 'node:path';
import type { Store } from '../../core/store.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { ChainPlace } from './chain-writer.ts';
import { createPassingKey, openSigningKey } from './signing-key.ts';

/** What says where rows and their proofs are kept. */
export interface PlaceOptions {
  readonly store: Store;
  privateFolder(): string | undefined;
  now(): number;
  warn(message: string): void;
}

/** The folder of the audit in the private folder. */
export function auditFolder(privateFolder: string): string {
  return join(privateFolder, 'audit');
}

/** Opens what rows are written to and signed with. */
export async function openAuditPlace(options: PlaceOptions): Promise<ChainPlace> {
  const { store, now } = options;
  const { engine, location, reachable, problem } = await store.status();
  if (!reachable) throw new ToolcribError('store_unavailable', problem ?? `The store ${location} does not answer.`);
  const base = { audit: store.audit, store: location, now };
  // What is gone with the process needs no proof that outlives it.
  if (engine === 'memory') return { ...base, folder: undefined, key: createPassingKey() };
  const privateFolder = options.privateFolder();
  if (privateFolder === undefined) return withoutFolder(base, options, 'there is no folder that can be written');
  const folder = auditFolder(privateFolder);
  try {
    return { ...base, folder, key: await openSigningKey(folder) };
  } catch (cause) {
    return withoutFolder(base, options, messageOf(cause));
  }
}

function withoutFolder(base: Omit<ChainPlace, 'folder' | 'key'>, { warn }: PlaceOptions, reason: string): ChainPlace {
  warn(`The audit is written but cannot be proved later, because its key cannot be kept: ${reason}`);
  return { ...base, folder: undefined, key: createPassingKey() };
}
