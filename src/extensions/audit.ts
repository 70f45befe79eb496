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
  /** Said of the one that every crib has: without a store nothing is put on record, and that is no mistake. */
  readonly isUsual?: true;
}

/** The property of the extension under which the crib finds what was said about keys. */
export const AUDIT_KEYS: unique symbol = Symbol('toolcrib.auditKeys');

/** What was said about keys. */
export type AuditKeyOptions = Pick<AuditOptions, 'key' | 'trustedKeys'>;

/** Puts every call on record, refused and unknown ones too. It never fails a call; one waits only where rows come faster than they can be written. */
export const audit: ExtensionRecord<AuditOptions> = {
  name: 'audit',
  priority: 1000,
  reason: 'puts every call on record, refused ones and unknown names, too',
  options: object('Keeps a tamper-evident record of calls.', {
    retentionDays: whole('How long rows are kept; for ever if absent.'),
    key: either(
      "The Ed25519 key that signs the record; made and kept in the user's state directory if absent. Replicas may share it.",
      object('In an environment variable.', { env: VARIABLE_NAME }, ['env']),
      object('In a file.', { file: text('The file.', { use: 'path', holds: 'secrets' }) }, ['file']),
    ),
    trustedKeys: list(
      text('A public key.'),
      'Public keys of other machines whose rows count as genuine, as "toolcrib audit key" prints them.',
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
        if (!isTold) trail.keepFor(retentionDays); // only now: one that was tried out and not taken says nothing
        isTold = true;
        trail.record(call, result);
      },
    } satisfies ExtensionParts & Recording & { readonly [AUDIT_KEYS]: AuditKeyOptions };
  },
};

function readKeys({ key, trustedKeys }: AuditKeyOptions, isPublicKey: (text: string) => boolean): AuditKeyOptions {
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
