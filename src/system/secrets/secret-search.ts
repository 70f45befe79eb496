import { base64Of, literalsOf, patternOf } from './secret-spellings.ts';

/** A name and what must not be seen. */
interface Hidden {
  readonly name: string;
  readonly value: string;
}

/** Whatever is shorter is too likely to be a part of something else. */
const MIN_LENGTH = 8;
/** Engines search for a few alternatives at a time much faster than for many at once, and refuse patterns that are too large. */
const MANY_PATTERNS = 5;
const LONG_PATTERN = 20_000;
/** What our own texts end with where they were cut. */
const CUT = '…';
const MANY_CUTS = 8;

type Search = (text: string) => string;

/** Puts `[secret NAME]` in the place of every value, however it is spelt; made once, then fast. */
export function createSearch(values: readonly Hidden[]): Search {
  // The longest first: a shorter one may be a part of it.
  const hidden = values
    .filter(({ value }) => value.length >= MIN_LENGTH)
    .toSorted((a, b) => b.value.length - a.value.length);
  if (hidden.length === 0) return (text) => text;
  const searches = createSearches(hidden);
  const hideCut = replaceCut(hidden);
  return (text) => {
    if (text.length < MIN_LENGTH) return text;
    let shown = text;
    for (const search of searches) shown = search(shown);
    return shown.includes(CUT) ? hideCut(shown) : shown;
  };
}

/** What is too long for a pattern (a whole file, say) is looked for as it is, in its usual spellings. */
function createSearches(hidden: readonly Hidden[]): readonly Search[] {
  const searches: Search[] = [];
  let group: Spelt[] = [];
  for (const one of hidden) {
    const spelt = { ...one, pattern: [one.value, ...base64Of(one.value)].map(patternOf).join('|') };
    if (spelt.pattern.length > LONG_PATTERN) {
      searches.push(replaceLiterals(one));
      continue;
    }
    if (group.length === MANY_PATTERNS || sizeOf([...group, spelt]) > LONG_PATTERN) {
      searches.push(replacePatterns(group));
      group = [];
    }
    group.push(spelt);
  }
  return group.length === 0 ? searches : [...searches, replacePatterns(group)];
}

interface Spelt extends Hidden {
  readonly pattern: string;
}

function sizeOf(group: readonly Spelt[]): number {
  return group.reduce((size, { pattern }) => size + pattern.length, 0);
}

function replacePatterns(group: readonly Spelt[]): Search {
  const pattern = new RegExp(group.map((one) => `(${one.pattern})`).join('|'), 'g');
  const markers = group.map(markerOf);
  const markerOfMatch = (...found: readonly unknown[]) =>
    markers.find((_, index) => found[index + 1] !== undefined) ?? '[secret]';
  return (text) => text.replace(pattern, markerOfMatch);
}

function replaceLiterals(hidden: Hidden): Search {
  const literals = literalsOf(hidden.value);
  const marker = markerOf(hidden);
  return (text) =>
    literals.reduce(
      (shown, literal) => (shown.includes(literal) ? shown.replaceAll(literal, () => marker) : shown),
      text,
    );
}

/** A text that was cut in the middle of a value still shows its beginning. */
function replaceCut(hidden: readonly Hidden[]): Search {
  const endings = hidden.flatMap((one) => literalsOf(one.value).map((literal) => ({ literal, marker: markerOf(one) })));
  const withoutBeginning = (piece: string): string => {
    for (const { literal, marker } of endings) {
      const head = literal.slice(0, MIN_LENGTH);
      for (let at = piece.indexOf(head); at >= 0; at = piece.indexOf(head, at + 1)) {
        if (literal.startsWith(piece.slice(at))) return piece.slice(0, at) + marker;
      }
    }
    return piece;
  };
  return (text) => {
    const pieces = text.split(CUT);
    const first = Math.max(0, pieces.length - 1 - MANY_CUTS);
    return pieces
      .map((piece, index) => (index < first || index === pieces.length - 1 ? piece : withoutBeginning(piece)))
      .join(CUT);
  };
}

function markerOf({ name }: Hidden): string {
  return `[secret ${name}]`;
}
