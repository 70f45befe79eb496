import type { Permit } from '../core/approval-request.ts';
import { isPromise, type JsonObject, type JsonSchema } from '../core/json.ts';
import type { Schemas } from '../core/ports/crib-context.ts';
import { fixedArguments, type GrantTerms, isGrantTerms, jsonTypeOf, type Remember } from '../core/ports/remember.ts';
import type {
  ListedGrant,
  RememberedApproval,
  StoredApproval,
  StoredApprovals,
} from '../core/ports/stored-approvals.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { withImpliedTypes } from '../schemas/implied-types.ts';
import { argumentsHash } from '../specs/hashes.ts';

/** A remembered approval: which calls pass without asking, until when. */
export type Grant = ListedGrant;

/** Keywords that limit a value; a schema of what may vary has at least one of them after implied types were added. */
const LIMITING = ['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];

/** The reason why an answer to this request cannot be remembered; undefined if it can. */
export function whyNotRemembered(
  remember: Remember | undefined,
  request: StoredApproval,
  schemas: Schemas,
): string | undefined {
  if (remember === undefined) return undefined;
  if (request.question !== undefined) return 'it answers a question that the tool asked during its call';
  if (request.callerId === '') return 'the caller of the request has no id';
  if (isGrantTerms(remember)) return whyNotTerms(remember, request, schemas);
  const isLost = remember === 'conversation' && request.conversation === undefined;
  return isLost ? 'the call has no conversation id' : undefined;
}

function whyNotTerms(terms: GrantTerms, request: StoredApproval, schemas: Schemas): string | undefined {
  if (request.answersHash !== undefined)
    return 'the call has answers to questions of its tool, and later calls may have others';
  const problems = Object.entries(terms.vary ?? {}).flatMap(([name, schema]) => {
    const problem = whyNotVarying(name, schema, { given: request.arguments, schemas });
    return problem === undefined ? [] : [problem];
  });
  return problems[0];
}

interface Judging {
  readonly given: JsonObject;
  readonly schemas: Schemas;
}

/** The approved value must itself fit, so that a schema of another type is found at once. */
function whyNotVarying(name: string, schema: JsonSchema, { given, schemas }: Judging): string | undefined {
  const about = `"vary" of the argument ${JSON.stringify(name)}`;
  if (!Object.hasOwn(given, name)) return `${about}: the approved call does not have it`;
  const [problem] = schemas.problems(schema);
  if (problem !== undefined) return `${about}: ${problem.replace(/\.$/, '')}`;
  try {
    const typed = typedOf(schema);
    if (typed === undefined) return `${about}: the schema accepts everything; give it a type, an enum or bounds`;
    return fits(given[name], typed, schemas) ? undefined : `${about}: the approved value does not fit its own schema`;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return `${about}: ${messageOf(cause).replace(/\.$/, '')}`;
  }
}

/** The schema with the types that its bounds imply; undefined if it limits nothing. */
function typedOf(schema: JsonSchema): JsonSchema | undefined {
  const typed = withImpliedTypes(schema);
  return LIMITING.some((keyword) => Object.hasOwn(typed, keyword)) ? typed : undefined;
}

/** True if a remembered approval covers a call with these arguments. Those that may not vary are exactly the approved ones. */
export function coversArguments({ terms }: RememberedApproval, input: JsonObject, schemas: Schemas): boolean {
  if (terms === undefined) return true;
  const { vary = {}, fixedHash, types } = terms;
  if (argumentsHash(fixedArguments(input, terms)) !== fixedHash) return false;
  try {
    return Object.entries(vary).every(([name, schema]) => {
      const typed = typedOf(schema);
      const isOfType = Object.hasOwn(input, name) && jsonTypeOf(input[name]) === types[name];
      return typed !== undefined && isOfType && fits(input[name], typed, schemas);
    });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return false; // a schema that this version cannot read covers nothing
  }
}

function fits(value: unknown, schema: JsonSchema, schemas: Schemas): boolean {
  const parsed = schemas.parser(schema)(value);
  return !isPromise(parsed) && parsed.ok;
}

/** The permit of the first remembered approval that covers a call and has a use left; undefined if none has. */
export async function permitByGrant(
  covering: readonly RememberedApproval[],
  { approvals, warn }: { readonly approvals: StoredApprovals; warn(message: string): void },
): Promise<Permit | undefined> {
  for (const { id, by, terms } of covering) {
    if (terms === undefined) return { id, by, isRemembered: true };
    if (!(await approvals.useGrant(id))) continue;
    const giveBack = () =>
      approvals
        .returnUse(id)
        .catch((cause) => warn(`A use of the remembered approval ${id} could not be returned: ${messageOf(cause)}`));
    return { id, by, isRemembered: true, giveBack };
  }
  return undefined;
}
