import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../core/ports/store.ts';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { createFolder } from '../system/create-folder.ts';
import type { ChainPlace } from './chain-writer.ts';
import { listCheckpointFiles, replaceCheckpoint } from './checkpoint-files.ts';
import {
  isSignedCheckpoint,
  isSignedOrigin,
  type SignedOrigin,
  type SigningKey,
  signKept,
  signOrigin,
} from './proof.ts';
import {
  type AuditKeySettings,
  createPassingKey,
  listKeys,
  openSigningKey,
  readKnownKeys,
  readNamedKey,
} from './signing-keys.ts';

// Replicas may share a key, but each has its own audit folder. The origin of a folder is a random, signed prefix of the names of its chains. It tells which checkpoints the folder must contain.

const FILE_NAME = 'origin.json';
const ORIGIN_BYTES = 4;
const CHAIN_BYTES = 8;
const ORIGIN_LENGTH = ORIGIN_BYTES * 2;
const NAME_LENGTH = ORIGIN_LENGTH + CHAIN_BYTES * 2;
const ORIGIN = new RegExp(`^[0-9a-f]{${ORIGIN_LENGTH}}$`);

/** Options for opening an origin. */
interface OriginOptions {
  readonly folder: string;
  readonly key: SigningKey;
  /** The public keys that may have signed the origin. */
  readonly known: readonly string[];
  readonly store: ChainPlace['store'];
}

/** The origin of a folder, created by the first process that writes there. Throws if no known key signed it. */
async function openOrigin(options: OriginOptions): Promise<string> {
  const { folder, known } = options;
  const found = await readOrigin(folder);
  if (found === undefined) {
    createFolder(folder);
    await signEarlierCheckpoints(options);
    return createOrigin(options);
  }
  if (found === 'damaged' || !known.some((key) => isSignedOrigin(found, key))) throw unusable(folder);
  return found.origin;
}

/** Reads the origin of a folder, if there is one. The caller must check the signature. */
export async function readOrigin(folder: string): Promise<SignedOrigin | 'damaged' | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, FILE_NAME), 'utf8'));
    return isOrigin(value) ? value : 'damaged';
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? undefined : 'damaged';
  }
}

/** Creates a chain name. */
export function newChainName(origin = randomBytes(ORIGIN_BYTES).toString('hex')): string {
  return `${origin}${randomBytes(CHAIN_BYTES).toString('hex')}`;
}

/** The origin in a chain name; undefined for chains of versions without origins. */
export function originOf(chain: string): string | undefined {
  return chain.length === NAME_LENGTH ? chain.slice(0, ORIGIN_LENGTH) : undefined;
}

/** Checkpoints of earlier versions do not sign their store. They are signed again once; afterwards only the new form counts. */
async function signEarlierCheckpoints({ folder, key, store }: OriginOptions): Promise<void> {
  for (const { name, kept } of await listCheckpointFiles(folder)) {
    if (kept === undefined || !isSignedCheckpoint(kept, key.publicKey)) continue;
    const storeId = kept.store === store.location ? store.id : '';
    await replaceCheckpoint(folder, name, signKept(key, { ...kept, storeId }));
  }
}

/** Links a complete file. If several processes start at once, the first wins and the others use its origin. */
async function createOrigin(options: OriginOptions): Promise<string> {
  const { folder, key } = options;
  const origin = randomBytes(ORIGIN_BYTES).toString('hex');
  const draft = join(folder, `${FILE_NAME}.${randomUUID()}.tmp`);
  try {
    const signed: SignedOrigin = { origin, signature: signOrigin(key, origin) };
    await writeFile(draft, `${JSON.stringify(signed)}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, join(folder, FILE_NAME));
    return origin;
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
    return await openOrigin(options);
  } finally {
    await rm(draft, { force: true });
  }
}

function isOrigin(value: unknown): value is SignedOrigin {
  if (typeof value !== 'object' || value === null) return false;
  const { origin, signature } = value as Record<string, unknown>; // read as unknown
  return typeof origin === 'string' && ORIGIN.test(origin) && typeof signature === 'string';
}

function unusable(folder: string): ToolcribError {
  const message = `${join(folder, FILE_NAME)} was changed: it is not signed by a key of this audit log. Restore it from a backup. If you replaced extensions.audit.key, list the former public key in extensions.audit.trustedKeys.`;
  return new ToolcribError('audit_folder_changed', message);
}

/** Options for opening the place of rows and their proofs. */
export interface PlaceOptions {
  readonly store: Store;
  /** The folder for keys and checkpoints; undefined if no folder is writable. */
  privateFolder(): string | undefined;
  keySettings(): AuditKeySettings;
  now(): number;
  warn(message: string): void;
}

/** The audit folder in the private folder. */
export function auditFolder(privateFolder: string): string {
  return join(privateFolder, 'audit');
}

/** Opens the signing key: the configured one, or the one in the folder, created if absent. */
export async function openAuditKey(folder: string, { key }: AuditKeySettings): Promise<SigningKey> {
  return key === undefined ? openSigningKey(folder) : readNamedKey(key, process.env);
}

/** Opens the store, key and checkpoint folder for writing rows. */
export async function openAuditPlace(options: PlaceOptions): Promise<ChainPlace> {
  const { store, now } = options;
  const { engine, location, reachable, problem } = await store.status();
  if (!reachable) throw new ToolcribError('store_unavailable', problem ?? `The store ${location} is not available.`);
  const base = { audit: store.audit, store: { location, id: await store.audit.storeId() }, now };
  // A store in memory ends with the process, so it needs no lasting proof.
  if (engine === 'memory') return { ...base, kept: undefined, key: createPassingKey() };
  const settings = options.keySettings();
  const privateFolder = options.privateFolder();
  if (privateFolder === undefined) {
    options.warn(
      'Rows removed from the end of the audit log cannot be detected later: no folder for checkpoints is writable. Set XDG_STATE_HOME to a writable folder.',
    );
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
    if (settings.key !== undefined) throw cause; // rows wait until the configured key can be used
    options.warn(
      `The audit log is written but cannot be verified later, because its key cannot be stored: ${messageOf(cause)}`,
    );
    return { ...base, kept: undefined, key: createPassingKey() };
  }
}
