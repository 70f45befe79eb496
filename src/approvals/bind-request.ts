import type { Question } from '../core/approval-request.ts';
import type { NewApproval } from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { answersHash, argumentsHash, callerHash, definitionHash } from '../specs/hashes.ts';
import { ancestorsOf, approversOf, describeCall, timeToAnswer } from './ask-callback.ts';

/** Builds the stored request. It is bound to everything that the call would run with. */
export function subjectOf(call: ToolCall, question: Question, usualMs: number): Omit<NewApproval, 'isParked'> {
  const { spec, input, answers } = call;
  const { approve: _approve, ...caller } = call.caller;
  const { state, ...rest } = answers?.input ?? {};
  const { door, ...shown } = describeCall(call, question);
  const around = ancestorsOf(call);
  const answered = answersHash(answers?.input);
  return {
    ...shown,
    ...approversOf(call, question),
    callerId: caller.id ?? '',
    callerHash: callerHash(caller),
    definitionHash: definitionHash(spec),
    argumentsHash: argumentsHash(input),
    ...(answered !== undefined && { answersHash: answered }),
    ...(around.length > 0 && { insideHash: insideHash(around), programHash: programHash(around) }),
    door,
    ground: question.ground,
    lifetimeMs: timeToAnswer(spec.policy, usualMs),
    unlisted: {
      caller,
      ...defined(call, ['traceparent']),
      ...defined(rest, ['capabilities']),
      ...(state !== undefined && { inputState: state }),
    },
  };
}

/** Hash of the programs around the call: a script by its code, any other tool by its arguments. */
function programHash(around: readonly ToolCall[]): string {
  const parts = around.map((one) => [one.spec.name, definitionHash(one.spec), one[FACTS].program ?? one.input]);
  return argumentsHash({ around: parts });
}

/** Hash of the enclosing calls and their arguments: a nested tool can see both. */
export function insideHash(around: readonly ToolCall[]): string {
  const parts = around.map(({ spec, input, answers }) => [spec.name, input, answersHash(answers?.input) ?? null]);
  return argumentsHash({ around: parts });
}
