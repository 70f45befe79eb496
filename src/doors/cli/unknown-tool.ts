import { didYouMean } from '../../core/text/did-you-mean.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';

/** The error for a tool that the chest does not have, with the nearest it does have. */
export function unknownTool(name: string, chest: Chest): ToolcribError {
  return new ToolcribError('failed', `There is no tool "${name}".${suggestTool(name, chest)}`);
}

/** ` Did you mean "x"?`, or nothing; only of what the chest shows. */
export function suggestTool(name: string, chest: Chest): string {
  return didYouMean(
    name,
    chest.listActive().map((spec) => spec.name),
  );
}
