/** A description in two parts: its first sentence, which mostly says what a tool does, and everything else. */
export interface SplitDescription {
  readonly lead: string;
  readonly rest: string;
}

/** Splits a description after its first sentence. A sentence that only repeats the title is skipped: it belongs to neither part. */
export function splitDescription(description: string, title: string): SplitDescription {
  const text = MARKED.test(description) ? withoutMarkup(description) : description;
  const end = sentenceEnd(text, 0);
  const first = text.slice(0, end);
  if (title !== '' && saysTheSame(first, title)) {
    const next = sentenceEnd(text, end);
    return { lead: text.slice(end, next), rest: text.slice(next) };
  }
  return { lead: first, rest: text.slice(end) };
}

/** Most descriptions contain none of these and need no cleaning. */
const MARKED = /\]\(|:\/\/|<[a-z/!]/i;

/** Removes addresses and tags of HTML, whose words say nothing about the tool. The text of a link stays. */
function withoutMarkup(text: string): string {
  return text
    .replace(/\]\([^)\s]{0,500}\)/g, ']')
    .replace(/<\/?[a-z!][^<>]{0,500}>/gi, ' ')
    .replace(/\b[a-z]{2,10}:\/\/[^\s)>\]]+/gi, ' ');
}

/** The index after the sentence that begins at `start`. Before a lower-case letter no sentence ends: "e.g. files", wrapped lines. */
function sentenceEnd(text: string, start: number): number {
  SENTENCE_END.lastIndex = start + text.slice(start).search(/\S|$/);
  const found = SENTENCE_END.exec(text);
  return found === null ? text.length : found.index + found[0].length;
}

// A line break is looked for from the beginning of its white space, or a thousand of them would be read a thousand times.
const SENTENCE_END = /(?:[.!?:](?=\s)|[。！？]|(?<!\s)[^\S\n]*\n)\s*(?!\p{Ll}|\s)/gu;

function saysTheSame(sentence: string, title: string): boolean {
  const letters = lettersOf(title);
  return sentence.length < 3 * title.length + 20 && lettersOf(sentence) === letters;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
