const ASCII = /^[\u0020-\u007e]*$/;
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** How many columns a line takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemesOf(text).reduce((sum, grapheme) => sum + columnsOf(grapheme), 0);
}

/** The text if it fits, else as much of it as does, and `…`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let left = width - 1;
  for (const grapheme of graphemesOf(text)) {
    left -= columnsOf(grapheme);
    if (left < 0) break;
    kept += grapheme;
  }
  return `${kept.trimEnd()}…`;
}

// Latin, Greek, Cyrillic, punctuation, arrows, kana, Chinese, Korean: none of these joins what stands before it.
const ALONE =
  /^[\u0020-\u007e\u00a0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u21ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;

function graphemesOf(text: string): readonly string[] {
  if (ALONE.test(text)) return Array.from(text); // the first segmenter takes longer than everything else that is printed
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function columnsOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}
