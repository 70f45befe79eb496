/** English words that say nothing about which tool is meant; in what a request is made of and in what tools say of themselves. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those some any',
    'i me my we us our you your he she it its they them their',
    'is are was were be been being am do does did have has had',
    'can could will would shall should may might must',
    'and or but if then so as of in on at by for from to with into about than',
    'what which who how when where there here',
    'please want need help let like also just',
    's t d m ll re ve don didn doesn isn',
  ].flatMap((line) => line.split(' ')),
);
