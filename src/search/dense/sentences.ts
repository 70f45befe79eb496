/** What lies beyond is not read: nobody asks for a tool that deep in a text. */
const MAX_CHARACTERS = 8192;
const MAX_SENTENCES = 16;

/** Ends of sentences, of the scripts that write them otherwise as well, and ends of lines. */
const ENDS = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+/u;

/** The sentences of a request: each may ask for another tool. A long request is cut. */
export function sentencesOf(request: string): readonly string[] {
  const parts = request
    .slice(0, MAX_CHARACTERS)
    .split(ENDS, MAX_SENTENCES * 4)
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  return parts.slice(0, MAX_SENTENCES);
}
