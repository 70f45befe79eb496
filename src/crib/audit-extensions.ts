import type { Extension } from '../core/extension.ts';
import { describe, readOptions } from '../core/known-keys.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type AuditOptions, audit as auditExtension } from '../extensions/audit.ts';
import { auditIntent as auditIntentExtension } from '../extensions/audit-intent.ts';
import { requireNumber } from '../runtime/read-policy.ts';
import { bindable } from './extension-ports.ts';

/** Puts every call on record; every crib with a store does unless told otherwise. Without a store there is no record. */
export function audit(options: AuditOptions = {}): Extension {
  const given = readOptions<AuditOptions>(options, ['retentionDays'], 'audit()');
  requireNumber(given.retentionDays, 1, 'audit(): retentionDays');
  return bindable(({ audit: trail }) =>
    trail === undefined ? { name: 'audit', priority: 1000 } : auditExtension({ ...given, trail }),
  );
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
  return bindable(({ audit: trail, bundlesOf }) => auditIntentExtension({ requireFor: read }, { trail, bundlesOf }));
}

/** The entry `audit` of a configuration speaks of both. */
export function configuredAudit({ requireFor, ...rest }: AuditOptions & AuditIntentInput): readonly Extension[] {
  return [audit(rest), ...(requireFor === undefined ? [] : [auditIntent({ requireFor })])];
}
