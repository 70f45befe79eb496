import { join } from 'node:path';
import type { Store } from '../core/ports/store.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { type AuditKeySettings, listKeys, readKnownKeys } from './audit-keys.ts';
import { openOrigin } from './chain-origin.ts';
import type { ChainPlace } from './chain-writer.ts';
import type { SigningKey } from './proof.ts';
import { createPassingKey, openSigningKey, readNamedKey } from './signing-key.ts';

/** What says where rows and their proofs are kept. */
export interface PlaceOptions {
  readonly store: Store;
  /** The folder for keys and checkpoints; undefined where no folder can be written. */
  privateFolder(): string | undefined;
  keySettings(): AuditKeySettings;
  now(): number;
  warn(message: string): void;
}

/** The folder of the audit in the private folder. */
export function auditFolder(privateFolder: string): string {
  return join(privateFolder, 'audit');
}

/** The key that rows are signed with: the one that the owner names, or the one in the folder, made if there is none. */
export async function openAuditKey(folder: string, { key }: AuditKeySettings): Promise<SigningKey> {
  return key === undefined ? openSigningKey(folder) : readNamedKey(key, process.env);
}

/** Opens what rows are written to and signed with. */
export async function openAuditPlace(options: PlaceOptions): Promise<ChainPlace> {
  const { store, now } = options;
  const { engine, location, reachable, problem } = await store.status();
  if (!reachable) throw new ToolcribError('store_unavailable', problem ?? `The store ${location} does not answer.`);
  const base = { audit: store.audit, store: { location, id: await store.audit.storeId() }, now };
  // What is gone with the process needs no proof that outlives it.
  if (engine === 'memory') return { ...base, kept: undefined, key: createPassingKey() };
  const settings = options.keySettings();
  const privateFolder = options.privateFolder();
  if (privateFolder === undefined) {
    options.warn('The ends of audit chains cannot be proved later: no folder for their checkpoints can be written.');
    const { key } = settings;
    return {
      ...base,
      kept: undefined,
      key: key === undefined ? createPassingKey() : await readNamedKey(key, process.env),
    };
  }
  try {
    const folder = auditFolder(privateFolder);
    const key = await openAuditKey(folder, settings);
    const known = listKeys(await readKnownKeys(folder, settings, undefined));
    return { ...base, kept: { folder, origin: await openOrigin({ folder, key, known, store: base.store }) }, key };
  } catch (cause) {
    if (settings.key !== undefined) throw cause; // rows wait for the key that the owner wants them signed with
    options.warn(
      `The audit is written but cannot be proved later, because its key cannot be kept: ${messageOf(cause)}`,
    );
    return { ...base, kept: undefined, key: createPassingKey() };
  }
}
