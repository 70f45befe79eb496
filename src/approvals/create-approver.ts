import type { ApprovalOptions, ApprovalPorts } from '../core/approval.ts';
import type { JsonObject } from '../core/json.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { Recheck } from '../core/ports/identity.ts';
import { type KeepBounds, keepBoundsOf } from '../core/ports/keep-bounds.ts';
import type { Clock } from '../core/ports/ports.ts';
import type { StoredApproval } from '../core/ports/stored-approvals.ts';
import { describe, readOptions } from '../core/read-options.ts';
import { approvalText } from '../core/text/approval-text.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { isSecretTemplate, secretsIn } from '../system/secrets/secret-template.ts';
import { toCutApproval, toShownApproval } from './approvals.ts';
import { askCallback } from './ask-callback.ts';
import { requestApproval } from './request-approval.ts';
import { createWebhook, type Webhook } from './webhook.ts';

/** Where somebody is told that a request waits; `secret` names the secret that signs the message. */
interface Hook {
  readonly url: string;
  readonly secret: string;
}

/** What asking people needs of its crib. */
interface ApproverPorts extends Pick<CribContext, 'store' | 'redact' | 'sign'> {
  readonly clock: Clock;
  /** Looks for calls whose process is gone, and says whether it found some. */
  findLost(): Promise<boolean>;
  readonly recheck: Recheck;
  warn(message: string): void;
}

const USUAL_TIMEOUT_MS = 300_000;

/** Who is asked: the caller's callback; and where there is a store, anybody who may answer through it. */
export function createApprover(
  options: Pick<ApprovalOptions, 'timeoutMs' | keyof KeepBounds> & { readonly clock?: Clock },
  hook: Hook | undefined,
  ports: ApproverPorts,
): ApprovalPorts {
  const { timeoutMs = USUAL_TIMEOUT_MS, clock = ports.clock } = options;
  const { store, redact, warn, findLost, recheck } = ports;
  if (store === undefined) return { ask: askCallback({ clock, timeoutMs }) };
  const rest = { findLost, recheck, redact, warn };
  const context = { approvals: store.approvals, clock, timeoutMs, bounds: keepBoundsOf(options), ...rest };
  if (hook === undefined) return { ask: requestApproval(context) };
  const { url, secret } = hook;
  const webhook: Webhook = createWebhook({ url, sign: (text) => ports.sign(secret, text), clock, warn });
  const announce = (approval: StoredApproval) => webhook.send(toMessage(approval, redact));
  return { ask: requestApproval({ ...context, announce }), close: webhook.close };
}

function toMessage(approval: StoredApproval, redact: (text: string) => string): JsonObject {
  const { id, tool, title, caller, profile, reason, expiresAt, ...rest } = toCutApproval(approval, redact);
  const { arguments: given, argumentsLength } = rest;
  const text = approvalText(toShownApproval(approval, redact)); // of all arguments, each cut by itself
  const message = { id, tool, title, arguments: given, argumentsLength, caller, profile, reason, expiresAt, text };
  return JSON.parse(JSON.stringify(message)); // without what is absent
}

/** Checks a webhook. */
export function readWebhook(value: unknown, what: string): Hook | undefined {
  if (value === undefined) return undefined;
  const { url, secret } = readOptions<{ url: unknown; secret: unknown }>(value, ['url', 'secret'], what);
  if (typeof url !== 'string' || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ToolcribError('invalid_option', `${what}: url must be an http or https address, got ${describe(url)}.`);
  const name = isSecretTemplate(secret) ? secretsIn(secret)[0] : secret;
  if (typeof name === 'string' && name !== '') return { url, secret: name };
  throw new ToolcribError('invalid_option', `${what}: secret must name the secret that signs the messages.`);
}
