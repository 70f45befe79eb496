/** A text of a description in one paragraph, cut where a sentence or at least a word ends. */
export function shortText(text: unknown, maxCharacters: number): string {
  if (typeof text !== 'string') return '';
  const plain = text
    .slice(0, maxCharacters * 4)
    .replace(/<[^>]{0,200}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain.length <= maxCharacters) return plain;
  const start = plain.slice(0, maxCharacters);
  const sentence = start.lastIndexOf('. ');
  if (sentence > maxCharacters / 2) return start.slice(0, sentence + 1);
  const word = start.lastIndexOf(' ', maxCharacters - 2);
  const kept = word > maxCharacters / 2 ? start.slice(0, word) : start.slice(0, maxCharacters - 1);
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}…`; // never half of a surrogate pair
}

/** Notes as one text, each a sentence of its own. */
export function joinNotes(notes: readonly string[]): string {
  const told = notes.filter((note) => note !== '');
  return told.map((note, index) => (index < told.length - 1 && /[\w)"'`]$/.test(note) ? `${note}.` : note)).join(' ');
}
