import { resolve } from 'node:path';
import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { either, list, object, text, VARIABLE_NAME, whole } from '../config/schema-node.ts';
import type { AuditConfig } from '../config/types/guards.ts';
import type { Next } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import { KEPT_DAYS, type Recording } from '../core/ports/stored-audit.ts';
import { describe } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { requireNumber } from '../define/read-policy.ts';

interface AuditOptions extends Omit<AuditConfig, 'requireFor'> {
  /** Set for the extension that every crib has. Without a store it records nothing, which is not an error. */
  readonly isUsual?: true;
}

/** The key under which the crib finds the key options of the extension. */
export const AUDIT_KEYS: unique symbol = Symbol('toolcrib.auditKeys');

/** Options about signing keys. */
export type AuditKeyOptions = Pick<AuditOptions, 'key' | 'trustedKeys'>;

/** Records every call, including refused calls and unknown tools. It never fails a call; a call waits only if rows come faster than they can be written. */
export const audit: ExtensionRecord<AuditOptions> = {
  name: 'audit',
  priority: 1000,
  reason: 'records every call, including refused calls and unknown tools',
  options: object('Keeps a tamper-evident audit log of calls.', {
    retentionDays: whole('Days to keep rows; default forever.'),
    key: either(
      "The Ed25519 key that signs the audit log; created in the user's state directory if absent. Replicas may share it.",
      object('The key in an environment variable.', { env: VARIABLE_NAME }, ['env']),
      object('The key in a file.', { file: text('The path of the file.', { use: 'path', holds: 'secrets' }) }, [
        'file',
      ]),
    ),
    trustedKeys: list(
      text('A public key.'),
      'Public keys of other machines to trust, as printed by "toolcrib audit key".',
    ),
  }),
  usual: { isUsual: true },
  make(options, { audit: trail, isPublicKey }) {
    const { isUsual, retentionDays } = options;
    requireNumber(retentionDays, 1, 'audit(): retentionDays');
    const keys = readKeys(options, isPublicKey);
    if (trail === undefined && isUsual) return {};
    if (trail === undefined) throw withoutStore();
    const wrap = (call: ToolCall, next: Next): MaybePromise<ToolResult> => {
      const room = trail.room();
      return room === undefined ? next(call) : room.then(() => wrap(call, next));
    };
    let isTold = false;
    return {
      [AUDIT_KEYS]: keys,
      [KEPT_DAYS]: retentionDays,
      wrap,
      onEnd(call, result) {
        if (!isTold) trail.keepFor(retentionDays); // only now: an extension that was created but not used must not change it
        isTold = true;
        trail.record(call, result);
      },
    } satisfies ExtensionParts & Recording & { readonly [AUDIT_KEYS]: AuditKeyOptions };
  },
};

function readKeys({ key, trustedKeys }: AuditKeyOptions, isPublicKey: (text: string) => boolean): AuditKeyOptions {
  const trusted: unknown = trustedKeys ?? [];
  if (!Array.isArray(trusted)) throw invalid(`trustedKeys must be a list of public keys, got ${describe(trusted)}.`);
  for (const one of trusted) {
    if (typeof one === 'string' && isPublicKey(one)) continue;
    throw invalid(`trustedKeys must contain public keys as printed by "toolcrib audit key", got ${describe(one)}.`);
  }
  if (key !== undefined && !isKeySource(key))
    throw invalid(`key must be { file: PATH } or { env: VARIABLE }, got ${describe(key)}.`);
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
    'audit() needs a store, and this crib has none. Pass store: { url } or configFile to createCrib, or remove audit().';
  return new ToolcribError('not_available', message);
}
