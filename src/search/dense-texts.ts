import type { SearchTexts } from './search-texts.ts';

/** What of a tool has a meaning to compare, most telling first. What it is called counts twice: it says the most in the fewest words. */
export function denseTexts({ name, title, description, examples }: SearchTexts): readonly string[] {
  const called = title === '' ? name : title;
  return [`${called}. ${called}. ${description}`, ...(examples === '' ? [] : [examples])];
}
