import type { Extension } from '../../core/extension.ts';
import { canonicalJson } from '../../core/json.ts';
import type { ExtensionInput } from '../../define/define-extension.ts';
import { AUDIT_KEYS, type AuditKeyOptions } from '../../extensions/audit.ts';

/** What the extensions of this moment say about the keys of the audit. */
export function auditKeysOf(
  extensions: readonly (ExtensionInput & { readonly [AUDIT_KEYS]?: AuditKeyOptions })[],
): AuditKeyOptions {
  return extensions.find((extension) => extension[AUDIT_KEYS] !== undefined)?.[AUDIT_KEYS] ?? {};
}

/** The settings of a running crib. Its chain is signed by one key, so another one that is named later waits for the next start. */
export function createKeySettings(list: () => readonly Extension[]): {
  now(): AuditKeyOptions;
  problems(): readonly string[];
} {
  const { key } = auditKeysOf(list());
  return {
    now: () => ({ trustedKeys: auditKeysOf(list()).trustedKeys ?? [], ...(key !== undefined && { key }) }),
    problems: () =>
      canonicalJson(auditKeysOf(list()).key ?? null) === canonicalJson(key ?? null)
        ? []
        : ['extensions.audit.key was changed; that takes effect when the crib is started again.'],
  };
}
