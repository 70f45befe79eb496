/** Longer than anybody describes a tool. */
const MOST_CHARACTERS = 300;
const FEWEST_WORDS = 3;

/** Numbers, questions, quotes, another sentence, another script than English is written in. */
const PARTICULAR = /[\d?!"#@]|[.;]\s+\S|[^\0-\x7f]/;
/** Who speaks, to whom, and about whom or what at hand. `US` is a country. */
const PERSONAL =
  /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]urs?|us|[Yy]ou|[Yy]ours?|[Hh]e|[Ss]he|[Hh]im|[Hh]er|[Hh]is|[Tt]his|[Tt]hese|[Tt]hose|[Pp]lease)\b|n't\b|\b(?:it|that|what|who|let)'s\b/;
const WORD = /[A-Za-z]+/g;

/**
 * True for a request that says what kind of thing should be done, and not to what: "create an invoice for a customer",
 * as models and engineers ask for a tool. "Bill Acme for the 12 chairs" says the same of one case. Of the former more is
 * to be expected: it says what the descriptions of tools say. Unsure means false.
 */
export function isInGeneralTerms(request: string): boolean {
  if (request.length > MOST_CHARACTERS || PARTICULAR.test(request) || PERSONAL.test(request)) return false;
  const words = request.match(WORD) ?? [];
  if (words.length < FEWEST_WORDS) return false;
  let definite = 0;
  for (const word of words) {
    if (word === 'the' || word === 'The') definite += 1;
    else if (word === 'a' || word === 'an' || word === 'A' || word === 'An') definite -= 1;
  }
  // Rather "the door" than "a door": one that is known.
  return definite <= 0;
}
