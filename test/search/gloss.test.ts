import { describe, expect, it } from 'vitest';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { createGloss } from '../../src/search/languages/gloss.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

describe('a request in another language', () => {
  const gloss = createGloss();

  it.each([
    ['lösche die Datei', 'delete file'],
    ['supprime le fichier', 'delete file'],
    ['borra el archivo', 'delete file'],
    ['请删除这个文件', 'delete file'],
    ['ファイルを削除して', 'delete file'],
    ['फ़ाइल हटाओ', 'delete file'],
  ])('%s has English words', (request, english) => {
    expect(gloss(request).split(' ').toSorted()).toEqual(english.split(' ').toSorted());
  });

  it.each([
    ['affichez les factures', 'show invoice'],
    ['erneuert die Verträge', 'renew contract'],
    ['elimine las facturas', 'delete invoice'],
  ])('%s has the words of which its words are forms', (request, english) => {
    expect(gloss(request).split(' ')).toEqual(expect.arrayContaining(english.split(' ')));
  });

  it.each([
    ['ouvre l’album', 'open album'],
    ["le statut d'un paiement", 'status payment'],
    ['zeige die Kundenrechnung', 'show customer invoice'],
  ])('%s has the words of which its words consist', (request, english) => {
    expect(gloss(request).split(' ')).toEqual(expect.arrayContaining(english.split(' ')));
  });

  it('adds nothing to English with a foreign name and curly quotes', () => {
    expect(gloss('I’m planning a trip to Los Angeles and need a hotel with the best view')).toBe('');
  });

  it.each(['delete the file', 'change the date of a meeting', 'Müller wants the message', 'café nearby'])(
    '%s is English, and nothing is added',
    (request) => {
      expect(gloss(request)).toBe('');
    },
  );

  it('finds English tools', async () => {
    const retriever = createRetriever();
    retriever.add([...OFFICE, specOf('delete_file', 'Delete a file')]);
    for (const request of ['lösche die Datei', '请删除这个文件', 'फ़ाइल हटाओ'])
      expect(namesOf(await retriever.rank(request, { limit: 1 }))).toEqual(['delete_file']);
  });

  it('still finds a tool that says it in the same language', async () => {
    const retriever = createRetriever();
    retriever.add([...OFFICE, specOf('delete_file', 'Delete a file'), specOf('datei', 'Lösche die Datei')]);
    retriever.add([specOf('wenjian', '删除这个文件', { title: '请删除这个文件' })]);
    expect(namesOf(await retriever.rank('请删除这个文件', { limit: 1 }))).toEqual(['wenjian']);
    expect(namesOf(await retriever.rank('lösche die Datei', { limit: 1 }))).toEqual(['datei']);
  });
});
