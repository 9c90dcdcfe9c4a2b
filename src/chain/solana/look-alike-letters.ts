/**
 * Letters of other scripts that are drawn like Latin ones: Cyrillic, Greek, Armenian, Cherokee, Lisu, and
 * small capitals. Only letters that a reader cannot distinguish, so that words of other languages do not
 * count as imitations.
 * @see UTS #39, confusables.txt
 * @module
 */

/** By the Latin letter that they look like. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  A: 'АΑᎪꓮᴀ',
  B: 'ВΒᏴꓐʙ',
  C: 'СᏟꓚᴄ',
  D: 'Ꭰꓓᴅ',
  E: 'ЕΕᎬꓰᴇ',
  H: 'НΗᎻꓧʜ',
  I: 'ІΙӀꓲɪ',
  J: 'ЈᎫꓙᴊͿ',
  K: 'КΚᏦꓗᴋ',
  L: 'Ꮮꓡʟ',
  M: 'МΜᎷꓟᴍ',
  N: 'Νꓠɴ',
  O: 'ОΟՕꓳᴏ',
  P: 'РΡᏢꓑᴘ',
  R: 'Ꭱꓣʀ',
  S: 'ЅՏᏚꓢꜱ',
  T: 'ТΤᎢꓔᴛ',
  U: 'Սꓴᴜ',
  W: 'ԜᎳꓪᴡ',
  Y: 'ΥҮꓬʏ',
  a: 'аαɑ',
  b: 'Ь',
  c: 'с',
  d: 'ԁ',
  e: 'еҽ',
  h: 'һհ',
  i: 'іιı',
  j: 'јϳ',
  k: 'кκ',
  l: 'ӏ',
  n: 'ո',
  o: 'оοօ',
  p: 'рρ',
  s: 'ѕ',
  t: 'τ',
  u: 'υս',
  w: 'ԝ',
  y: 'уү',
};

const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, others]) =>
    [...others].map((other) => [other, latin] as const),
  ),
);

/** A text as a reader perceives it. */
export const asLatin = (text: string): string =>
  [...text].map((letter) => LATIN.get(letter) ?? letter).join('');
