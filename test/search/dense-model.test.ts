import { statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  builtinEmbedder,
  builtinModelPath,
  HEADER_BYTES,
  preloadedEmbedder,
  readModel,
} from '../../src/search/dense/builtin-embedder.ts';
import { createDenseIndex } from '../../src/search/dense/dense-index.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { modelOf, stillClock } from './dense-samples.ts';

const sound = modelOf(['send', 'mail', 'weather', 'file'], 8);

function changed(change: (bytes: Uint8Array, view: DataView) => void): Uint8Array {
  const bytes = sound.slice();
  change(bytes, new DataView(bytes.buffer));
  return bytes;
}

const DAMAGED: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
  'is empty': [new Uint8Array(), /shorter than its header/],
  'is cut': [sound.subarray(0, sound.length - 1), /length does not match/],
  'has bytes to spare': [Uint8Array.of(...sound, 0), /length does not match/],
  'has a changed byte in its vectors': [changed((bytes) => bytes.fill(99, sound.length - 3)), /checksum/],
  'has another checksum': [changed((bytes) => bytes.fill(0, HEADER_BYTES - 4, HEADER_BYTES)), /checksum/],
  'is something else': [new TextEncoder().encode('x'.repeat(100)), /is not a word vector file/],
  'is of the next version': [changed((_, view) => view.setUint32(8, 2, true)), /version 2, .* version 1/],
  'claims four billion words': [changed((_, view) => view.setUint32(12, 0xffffffff, true)), /claims/],
  'claims no dimensions': [changed((_, view) => view.setUint32(16, 0, true)), /claims/],
};

describe('the file of word vectors', () => {
  it('is read as it was written', () => {
    const model = readModel(sound, 'a file');
    expect(model.dimensions).toBe(8);
    expect(model.fingerprints).toHaveLength(4);
    expect(model.fingerprints).toEqual(model.fingerprints.toSorted());
    expect(model.vectors).toHaveLength(32);
  });

  it('is read from any offset in a larger buffer', () => {
    const pool = Buffer.alloc(sound.length + 3);
    pool.set(sound, 3);
    expect(readModel(pool.subarray(3), 'a file').vectors).toEqual(readModel(sound, 'a file').vectors);
  });

  it.each(Object.entries(DAMAGED))('is refused with the reason if it %s', (_, [bytes, reason]) => {
    expect(() => readModel(bytes, 'a file')).toThrow(reason);
    expect(() => readModel(bytes, 'a file')).toThrow(/"a file".*retrieval\.embeddings/);
  });

  it.each(Object.entries(DAMAGED))('leaves search to words, and says so once, if it %s', (_, [bytes, reason]) => {
    const path = join(temporaryFolder(), 'words.tcv');
    writeFileSync(path, bytes);
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const index = createDenseIndex({ embedder: builtinEmbedder(path), clock: stillClock, warn });
    index.add([{ id: 0, texts: ['send mail'] }]);
    expect(index.prepare('send a mail')).toBeUndefined();
    expect(index.prepare('send a mail')).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(reason)]);
    expect(warnings[0]).toMatch(/^Search uses words only/);
  });

  it('leaves search to words if it is missing', () => {
    const warnings: string[] = [];
    const embedder = builtinEmbedder(join(tmpdir(), 'toolcrib-there-is-no-such-file.tcv'));
    const index = createDenseIndex({ embedder, clock: stillClock, warn: (message) => warnings.push(message) });
    index.add([{ id: 0, texts: ['send mail'] }]);
    expect(index.prepare('send a mail')).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/cannot be read.*Reinstall the package/s)]);
  });
});

describe('a file of word vectors that is loaded in the background', () => {
  function pathOf(bytes: Uint8Array): string {
    const path = join(temporaryFolder(), 'words.tcv');
    writeFileSync(path, bytes);
    return path;
  }

  it('gives the same vectors before it is loaded and after', async () => {
    const path = pathOf(sound);
    const embedder = preloadedEmbedder(path);
    const wanted = builtinEmbedder(path);
    expect(embedder.model).toBe(wanted.model);
    const early = embedder.embed(['send mail', 'weather']);
    expect(early).toBeInstanceOf(Promise);
    expect(await early).toEqual(wanted.embed(['send mail', 'weather']));
    expect(embedder.embed(['file'])).toEqual(wanted.embed(['file']));
  });

  it.each(Object.entries(DAMAGED))('leaves search to words, and says so once, if it %s', async (_, [bytes, reason]) => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const index = createDenseIndex({ embedder: preloadedEmbedder(pathOf(bytes)), clock: stillClock, warn });
    index.add([{ id: 0, texts: ['send mail'] }]);
    expect(await index.prepare('send a mail')).toBeUndefined();
    expect(await index.prepare('send a mail')).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(reason)]);
  });

  it.each([
    ['is missing', join(tmpdir(), 'toolcrib-there-is-no-such-file.tcv')],
    ['is a folder', tmpdir()],
  ])('leaves search to words if it %s', async (_, path) => {
    const warnings: string[] = [];
    const index = createDenseIndex({
      embedder: preloadedEmbedder(path),
      clock: stillClock,
      warn: (message) => warnings.push(message),
    });
    index.add([{ id: 0, texts: ['send mail'] }]);
    expect(await index.prepare('send a mail')).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/cannot be read.*Reinstall the package/s)]);
  });
});

describe('the model that comes with the package', () => {
  it('takes at most 8 MB', () => {
    expect(statSync(builtinModelPath()).size).toBeLessThanOrEqual(8_000_000);
  });

  it('finds tools that share no word with the request', async () => {
    const index = createDenseIndex({ embedder: builtinEmbedder(), clock: stillClock, warn: expect.unreachable });
    const texts = [
      'send_email. Sends a message to a mailbox',
      'get_forecast. Temperature and rain by city',
      'play_song. Starts music',
    ];
    index.add(texts.map((text, id) => ({ id, texts: [text] })));
    for (const [id, request] of [
      'write a letter to Anna',
      'will it be sunny in Rome',
      'I want to hear some jazz',
    ].entries()) {
      const vectors = await index.prepare(request);
      expect(vectors === undefined ? undefined : index.rank(vectors, 1)[0]?.id, request).toBe(id);
    }
  });
});
