type OneOrMany = string | readonly string[];

/** What a role may do. */
export interface RoleConfig {
  /** Names or globs. */
  readonly profiles?: OneOrMany;
  readonly operator?: boolean;
}

/** Whose tokens are accepted, and what they must say. */
export interface JwtConfig {
  readonly issuer: string;
  readonly audience?: OneOrMany;
  /** Where its keys are; absent means that the issuer says where. */
  readonly jwks?: string;
  readonly algorithms?: OneOrMany;
  readonly rolesClaim?: string;
  readonly permissionsClaim?: string;
  readonly clockToleranceMs?: number;
}

/** Who may come in. */
export interface AccessConfig {
  /** API keys, made by `toolcrib keys`. */
  readonly keys?: boolean;
  readonly jwt?: JwtConfig;
  readonly roles?: Readonly<Record<string, RoleConfig>>;
}
