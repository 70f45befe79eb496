import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../core/ports/store.ts';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
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

// Replicas may share a key, but each has an audit folder of its own. The origin of a folder, random and signed, is the
// beginning of the names of the chains that were begun there, and so tells which checkpoints must be in it.

const FILE_NAME = 'origin.json';
const ORIGIN_BYTES = 4;
const CHAIN_BYTES = 8;
const ORIGIN_LENGTH = ORIGIN_BYTES * 2;
const NAME_LENGTH = ORIGIN_LENGTH + CHAIN_BYTES * 2;
const ORIGIN = new RegExp(`^[0-9a-f]{${ORIGIN_LENGTH}}$`);

/** What opening an origin needs. */
interface OriginOptions {
  readonly folder: string;
  readonly key: SigningKey;
  /** The public keys that may have signed the origin. */
  readonly known: readonly string[];
  readonly store: ChainPlace['store'];
}

/** The origin of a folder, made by the first process that writes there. Throws if no known key has signed it. */
async function openOrigin(options: OriginOptions): Promise<string> {
  const { folder, known } = options;
  const found = await readOrigin(folder);
  if (found === undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await signEarlierCheckpoints(options);
    return createOrigin(options);
  }
  if (found === 'damaged' || !known.some((key) => isSignedOrigin(found, key))) throw unusable(folder);
  return found.origin;
}

/** The origin of a folder, if there is one; whether a known key has signed it is for the caller to find out. */
export async function readOrigin(folder: string): Promise<SignedOrigin | 'damaged' | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, FILE_NAME), 'utf8'));
    return isOrigin(value) ? value : 'damaged';
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? undefined : 'damaged';
  }
}

/** A name for a new chain. */
export function newChainName(origin = randomBytes(ORIGIN_BYTES).toString('hex')): string {
  return `${origin}${randomBytes(CHAIN_BYTES).toString('hex')}`;
}

/** The origin that a chain names; undefined for chains of versions that had none. */
export function originOf(chain: string): string | undefined {
  return chain.length === NAME_LENGTH ? chain.slice(0, ORIGIN_LENGTH) : undefined;
}

/** Checkpoints of earlier versions do not sign their store. They are signed anew once: from then on only the newer form counts. */
async function signEarlierCheckpoints({ folder, key, store }: OriginOptions): Promise<void> {
  for (const { name, kept } of await listCheckpointFiles(folder)) {
    if (kept === undefined || !isSignedCheckpoint(kept, key.publicKey)) continue;
    const storeId = kept.store === store.location ? store.id : '';
    await replaceCheckpoint(folder, name, signKept(key, { ...kept, storeId }));
  }
}

/** The name is given to a file that is whole; of processes that come at once the first wins, and the others take its origin. */
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
  const message = `${join(folder, FILE_NAME)} was changed: no key of this audit has signed it. Restore it from a backup. If you replaced extensions.audit.key, list the former public key in extensions.audit.trustedKeys.`;
  return new ToolcribError('audit_folder_changed', message);
}

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
