/** Escapes one segment of a JSON pointer. */
export function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Unescapes one segment of a JSON pointer. */
export function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The segments of a `$ref` into the same document, such as "#/$defs/name". */
export function referenceSegments(reference: string): readonly string[] {
  return reference
    .split('/')
    .slice(1)
    .map((segment) => unescapePointer(decodeSegment(segment)));
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is kept
  }
}

/** Resolves a `$ref` within its document; undefined if it points elsewhere or to nothing. */
export function resolveReference(reference: string, root: unknown): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let at = root;
  for (const segment of referenceSegments(reference)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined;
    at = Reflect.get(at, segment);
  }
  return at;
}
