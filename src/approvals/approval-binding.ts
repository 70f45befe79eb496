import { cutArguments } from '../core/approval-text.ts';
import type { JsonObject } from '../core/json.ts';
import type { StoredApproval } from '../core/ports/stored-approvals.ts';
import { type Redact, redactData } from '../core/redact-result.ts';

/** The data that an answer is bound to, and the request to compare with. */
export interface ApprovalBinding {
  readonly argumentsHash: string;
  readonly definitionHash: string;
  /** The last approved request of the same caller for the same tool. */
  readonly previous?: PreviousRequest;
}

/** An earlier request that was approved. */
interface PreviousRequest {
  readonly id: string;
  readonly arguments: JsonObject;
  /** Length of the complete JSON in characters; present if `arguments` is cut. */
  readonly argumentsLength?: number;
  /** The approver. */
  readonly by?: string;
  readonly at: number;
  readonly sameArguments: boolean;
  readonly sameDefinition: boolean;
}

/** Compares a request with an earlier one. The values of secrets are redacted. */
export function toBinding(
  request: StoredApproval,
  previous: StoredApproval | undefined,
  redact: Redact,
): ApprovalBinding {
  const { argumentsHash, definitionHash } = request;
  if (previous === undefined) return { argumentsHash, definitionHash };
  const cut = previous.argumentsLength === undefined ? cutArguments(previous.arguments) : previous;
  const shown = redactData({ arguments: cut.arguments }, redact);
  return {
    argumentsHash,
    definitionHash,
    previous: {
      id: previous.id,
      arguments: shown.arguments,
      ...(cut.argumentsLength !== undefined && { argumentsLength: cut.argumentsLength }),
      ...(previous.answer !== undefined && { by: previous.answer.by }),
      at: previous.answer?.at ?? previous.createdAt,
      sameArguments: previous.argumentsHash === argumentsHash,
      sameDefinition: previous.definitionHash === definitionHash,
    },
  };
}
