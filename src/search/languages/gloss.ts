import { EAST_ASIAN, type ForeignWords, readForeignWords } from './foreign-words.ts';

/** Returns the English words of a request in another language, as far as they are known; empty for English. */
export type Gloss = (request: string) => string;

/** Short words of German, French and Spanish that English does not have. */
const FOREIGN: ReadonlySet<string> = new Set(
  [
    'der die das den dem des ein eine einen einem einer mir mich mein meine meinen meiner unser unsere wir ich und für von mit auf im zu zum zur aus bitte welche welcher wie wo was wer ist sind alle wurde',
    'le la les un une des du de je mon ma mes moi nous notre nos et pour dans sur avec au aux est sont quel quels quelle quelles qui que ce cette ces tous toutes sur il',
    'el los las una unos unas mi mis me nuestro nuestra del al y para por con en es son que qué cuál cuáles quién cómo este esta todos todas se lo su',
  ].flatMap((line) => line.split(' ')),
);
/** Short words of English that these languages do not have. */
const ENGLISH: ReadonlySet<string> = new Set(
  'the to my of for with and i you your we our it what how which that this from please can need want'.split(' '),
);
/** Words of the table that are English words, too: they do not say that a request is in another language. */
const ENGLISH_TOO: ReadonlySet<string> = new Set(
  [
    'change hole invite plane active compare client clients article articles transactions budget bank message messages',
    'mail mails team projet ticket tickets document documents foto image images photo photos video videos playlist album',
    'meeting date air land pays hotel hotels train student patient score server domain container repository build journal',
    'alarm incident signature newsletter contact shop name status stand version link text code notification station stock',
    'lance refuse partage bloque active copie export import note ferme sube carte cliente pages taxe ort zug weg bon bureau',
    'gare nation lien mes ver bitte rama modele aire iva solde firma rol cree annul lade wo war mot tous all sobre real',
    'changer voir vol camino nom data name class temperatur tableau store panier patients problem comment comments rapport',
    'file service website types description private site kind conditions auto notes cache restaurants resume capture',
    'variables calories discussion define publication publications actual organisation chance registrar films halt lager',
    'surveillance panel modifier cola informations infos circulation tester divide flux joins voter retire assurance peso',
    'pile suspends analyse scanner installer signer foyer lieu vends actives serie voitures',
    'scripts tier reduce phrases postal grand premier portable concerts licence mayor',
    'restaurant artiste statistiques journaux tags data vital coupon cabinet compilation session classe tempo plan cuenta person question',
  ].flatMap((line) => line.split(' ')),
);
const NOT_ASCII = /[^\0-\x7f\p{P}]/u;
/** A request that is longer says nothing new. */
const MAX_LENGTH = 2000;

/** Creates a gloss. The tables are read at the first request that needs them. */
export function createGloss(): Gloss {
  let table: ForeignWords | undefined;
  const read = (): ForeignWords => {
    table ??= readForeignWords();
    return table;
  };
  return (given) => {
    const request = given.slice(0, MAX_LENGTH);
    const words = request.toLowerCase().normalize('NFC').match(WORD) ?? [];
    if (!isForeign(request, words, read)) return '';
    const found = new Set(words.flatMap(read().english));
    if (EAST_ASIAN.test(request)) for (const english of read().within(request)) found.add(english);
    return [...found].join(' ');
  };
}

/** Letters with their marks: words of Hindi have marks. */
const WORD = /[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*/gu;

/** True if a request is probably not in English: by its script, its short words, or a word that only other languages have. */
function isForeign(request: string, words: readonly string[], table: () => ForeignWords): boolean {
  if (NOT_ASCII.test(request) && words.some((word) => BEYOND_LATIN.test(word))) return true;
  const signs = words.filter((word) => FOREIGN.has(word)).length;
  if (words.filter((word) => ENGLISH.has(word)).length > signs) return false;
  if (signs >= 2 || (signs === 1 && (words.length <= 4 || NOT_ASCII.test(request)))) return true;
  if (words.length > MOST_WORDS_TO_LOOK_UP) return false;
  return words.some((word) => word.length > 3 && !ENGLISH_TOO.has(word) && table().has(word));
}

/** A longer request has short words that tell its language. */
const MOST_WORDS_TO_LOOK_UP = 8;
const BEYOND_LATIN = /[^\0-\u024f]/;
