import { resolve } from 'node:path';
import { isPublicKey } from '../../audit/proof.ts';
import type { Extension } from '../../core/extension.ts';
import { canonicalJson } from '../../core/json.ts';
import { describe, readOptions } from '../../core/read-options.ts';
import { compileSelector, type Selector } from '../../core/selector.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ExtensionInput } from '../../define/define-extension.ts';
import { requireNumber } from '../../define/read-policy.ts';
import {
  AUDIT_KEYS,
  type AuditKeyOptions,
  type AuditOptions,
  audit as auditExtension,
} from '../../extensions/audit.ts';
import { auditIntent as auditIntentExtension } from '../../extensions/audit-intent.ts';
import { bindable } from './extension-ports.ts';

/** Puts every call on record; every crib with a store does unless told otherwise. A crib without a store refuses it. */
export function audit(options: AuditOptions = {}): Extension {
  const given = readOptions<AuditOptions>(options, ['retentionDays', 'key', 'trustedKeys'], 'audit()');
  requireNumber(given.retentionDays, 1, 'audit(): retentionDays');
  const read = { ...given, ...readKeys(given) };
  return bindable(({ audit: trail }) => {
    if (trail === undefined) throw withoutStore();
    return auditExtension({ ...read, trail });
  });
}

/** The audit of a crib that was told nothing about it: there is one where there is a store. */
export function usualAudit(): Extension {
  return bindable(({ audit: trail }) =>
    trail === undefined ? { name: 'audit', priority: 1000 } : auditExtension({ trail }),
  );
}

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

function readKeys({ key, trustedKeys }: AuditOptions): AuditKeyOptions {
  const trusted: unknown = trustedKeys ?? [];
  if (!Array.isArray(trusted)) throw invalid(`trustedKeys is a list of public keys, got ${describe(trusted)}.`);
  for (const one of trusted) {
    if (typeof one === 'string' && isPublicKey(one)) continue;
    throw invalid(`trustedKeys lists public keys as "toolcrib audit key" prints them, got ${describe(one)}.`);
  }
  if (key !== undefined && !isKeySource(key))
    throw invalid(`key is { file: PATH } or { env: VARIABLE }, got ${describe(key)}.`);
  return {
    trustedKeys: [...trusted],
    ...(key !== undefined && { key: 'file' in key ? { file: resolve(key.file) } : key }),
  };
}

function isKeySource(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const [[name, text] = [], ...others] = Object.entries(value);
  return others.length === 0 && (name === 'file' || name === 'env') && typeof text === 'string' && text !== '';
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', `audit(): ${message}`);
}

function withoutStore(): ToolcribError {
  const message =
    'audit() needs a store, and this crib has none: nothing would be recorded. Pass store: { url } or configFile to createCrib, or leave audit() out.';
  return new ToolcribError('not_available', message);
}

/** What `auditIntent()` takes. */
export interface AuditIntentInput {
  /** Tools that only run once it is on record that they are about to; one selector may stand for a list of one. */
  readonly requireFor?: string | readonly Selector[];
}

/** Lets tools run only once that is on record. Without a store they do not run. */
export function auditIntent(options: AuditIntentInput = {}): Extension {
  const { requireFor = [] } = readOptions<AuditIntentInput>(options, ['requireFor'], 'auditIntent()');
  const selectors: readonly Selector[] = typeof requireFor === 'string' ? [requireFor] : requireFor;
  if (!Array.isArray(selectors)) {
    const message = `auditIntent(): requireFor takes a list of selectors, got ${describe(selectors)}.`;
    throw new ToolcribError('invalid_option', message);
  }
  const read = Array.from(selectors); // a copy, holes included: they are refused
  for (const selector of read) compileSelector(selector);
  return bindable(({ audit: trail, isAudited, bundlesOf }) =>
    auditIntentExtension({ requireFor: read }, { trail, isAudited, bundlesOf }),
  );
}

/** The entry `audit` of a configuration speaks of both. */
export function configuredAudit({ requireFor, ...rest }: AuditOptions & AuditIntentInput): readonly Extension[] {
  return [audit(rest), ...(requireFor === undefined ? [] : [auditIntent({ requireFor })])];
}
