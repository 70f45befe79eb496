import { describe, expect, it } from 'vitest';
import { stem } from '../../src/search/lexical/terms.ts';

/** Pairs that the published rules give. */
const KNOWN: Readonly<Record<string, string>> = {
  consign: 'consign',
  consigned: 'consign',
  consigning: 'consign',
  consignment: 'consign',
  consist: 'consist',
  consistency: 'consist',
  consolation: 'consol',
  conspicuously: 'conspicu',
  knightly: 'knight',
  knives: 'knive',
  knots: 'knot',
  created: 'creat',
  creates: 'creat',
  creating: 'creat',
  creation: 'creation',
  caresses: 'caress',
  ties: 'tie',
  cries: 'cri',
  gas: 'gas',
  gaps: 'gap',
  kiwis: 'kiwi',
  bus: 'bus',
  agreed: 'agre',
  feed: 'feed',
  luxuriating: 'luxuri',
  hopping: 'hop',
  hoping: 'hope',
  cry: 'cri',
  by: 'by',
  say: 'say',
  rational: 'ration',
  generalization: 'general',
  generate: 'generat',
  communication: 'communic',
  hopefulness: 'hope',
  electrical: 'electr',
  adjustment: 'adjust',
  adoption: 'adopt',
  controlling: 'control',
  roll: 'roll',
  dying: 'die',
  lying: 'lie',
  skies: 'sky',
  news: 'news',
  proceed: 'proceed',
  proceeding: 'proceed',
  herrings: 'herring',
  yelled: 'yell',
  youth: 'youth',
  boyish: 'boyish',
  sayings: 'say',
  past: 'past',
  universities: 'universiti',
  added: 'add',
  egged: 'egg',
};

describe('stems', () => {
  it.each(Object.entries(KNOWN))('%s becomes %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it('a word of one or two letters stays as it is', () => {
    expect(['', 'a', 'is', 'ss'].map(stem)).toEqual(['', 'a', 'is', 'ss']);
  });
});
