/** API keys: whom they stand for, what they open, and the hash of each secret, never the secret. */
export interface StoredKeys {
  /** Adds a key; an id that is taken rejects. */
  add(key: NewKey, by: string): Promise<StoredKey>;
  /** All of them, oldest first; expired and revoked ones too. */
  list(): Promise<readonly StoredKey[]>;
  /** The key of this id as it is at this moment, whichever process changed it last. */
  find(id: string): Promise<FoundKey | undefined>;
  /** The first to revoke it is remembered. */
  revoke(id: string, by: string): Promise<'revoked' | 'already' | 'unknown'>;
  /** Notes that it was used; only if nobody noted that within the last `everyMs`. */
  noteUse(id: string, at: number, everyMs: number): Promise<void>;
}

/** What a key is made of. */
export interface NewKey {
  /** The part of the key that is no secret. */
  readonly id: string;
  /** SHA-256 of the secret, as hex. */
  readonly hash: string;
  /** What people call it. */
  readonly name: string;
  /** The id of the caller it stands for. */
  readonly caller: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** Profiles it is limited to, as globs; absent means those of its roles. */
  readonly profiles?: readonly string[];
  /** Milliseconds since 1970; absent means never. */
  readonly expiresAt?: number;
}

/** A key as it may be shown. */
export interface StoredKey extends Omit<NewKey, 'hash'> {
  readonly createdBy: string;
  readonly createdAt: number;
  readonly revokedBy?: string;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

/** A key with what its secret is compared with. */
export type FoundKey = StoredKey & Pick<NewKey, 'hash'>;
