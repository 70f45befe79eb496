import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/search/lexical/split-words.ts';

const textsOf = (text: string) => wordsOf(text).map((word) => word.text);

describe('words', () => {
  it.each([
    ['read_file', ['read', 'file']],
    ['files.read-all', ['files', 'read', 'all']],
    ['getHTTPResponse', ['get', 'http', 'response', 'gethttpresponse']],
    ['list all URLs', ['list', 'all', 'urls']],
    ['GitHub', ['git', 'hub', 'github']],
    ['s3 bucket v2', ['s3', 'bucket', 'v2']],
    ['Café ﬁle', ['cafe', 'file']],
    ['读取文件', ['读取', '取文', '文件']],
    ['読む file', ['読む', 'file']],
    ['прочитать файл', ['прочитать', 'фаил']],
    ['قراءة ملف', ['قراءة', 'ملف']],
    ['🙂 go 🚀', ['go']],
    ['', []],
  ])('%j consists of %j', (text, expected) => {
    // Accents are folded in every script, on both sides alike.
    expect(textsOf(text)).toEqual(expected);
  });

  it('a name written in either case gives the same parts', () => {
    expect(textsOf('create_pull_request')).toEqual(textsOf('createPullRequest').filter((word) => word.length < 10));
  });

  it('no text gives empty words or words above the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const word of textsOf(text)) {
          expect(word.length).toBeGreaterThan(0);
          expect(word.length).toBeLessThanOrEqual(64);
        }
      }),
    );
  });
});
