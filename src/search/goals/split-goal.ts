import { wordsOf } from '../lexical/split-words.ts';
import { termOf } from '../lexical/terms.ts';

/** A longer goal is cut. */
const MAX_CHARACTERS = 8192;
/** Each step costs two searches. */
const MAX_STEPS = 6;

/** Ends of steps: punctuation of all scripts, and words between steps. */
const BETWEEN_STEPS =
  /[;!?,。！？；，、](?!\d)|:(?=\s|$)|(?<!\b(?:mr|mrs|ms|dr|st|no|vs))\.(?=\s|$)|\n|\b(?:and|then|afterwards|after that|plus|also|before|as well as)\b/giu;

/** One step of a goal. */
interface GoalStep {
  readonly text: string;
  /** The step with the things of the one before, since "remove the old one" does not name them. */
  readonly inContext: string;
}

/** Splits a goal into steps. A goal without several steps is one step. */
export function splitGoal(goal: string): readonly GoalStep[] {
  const texts = goal
    .slice(0, MAX_CHARACTERS)
    .split(BETWEEN_STEPS)
    .map((text) => text.trim())
    .filter(saysSomething)
    .slice(0, MAX_STEPS);
  if (texts.length < 2) return [{ text: goal, inContext: goal }];
  return texts.map((text, index) => {
    const before = texts[index - 1];
    return { text, inContext: before === undefined ? text : `${text} ${withoutFirstWord(before)}` };
  });
}

function saysSomething(text: string): boolean {
  return wordsOf(text).some(({ text: word }) => termOf(word) !== undefined);
}

/** The first word of a step is mostly its verb. */
function withoutFirstWord(text: string): string {
  const end = text.indexOf(' ');
  return end < 0 ? '' : text.slice(end + 1);
}
