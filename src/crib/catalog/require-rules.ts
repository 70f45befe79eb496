import type { Schemas } from '../../core/ports/ports.ts';
import type { Profile } from '../../core/profile.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { withImpliedTypes } from '../../schemas/implied-types.ts';

/** Throws for a rule that could not be judged: one that is left out of the judgement would let everything pass. */
export function requireRules(profiles: Iterable<Profile>, schemas: Schemas): void {
  for (const { name, rules = [] } of profiles) {
    for (const [index, { when }] of rules.entries()) {
      const problem =
        problemOf(() => schemas.parser(when)) ??
        schemas.problems(when)[0] ??
        problemOf(() => schemas.parser(withImpliedTypes(when)));
      if (problem === undefined) continue;
      const message = `Profile "${name}": rules[${index}]: when is not a JSON Schema that can be used: ${problem}`;
      throw new ToolcribError('invalid_schema', message.endsWith('.') ? message : `${message}.`);
    }
  }
}

function problemOf(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return messageOf(cause);
  }
}
