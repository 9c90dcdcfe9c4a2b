/**
 * Finds words in a string as a reader perceives them, even in letters of other scripts, or with marks, digits,
 * separators or invisible characters.
 * @see UTS #39, confusables.txt
 * @module
 */
import { CONFUSABLES } from './confusables.ts';

/**
 * Letters missing from Unicode's table that a reader recognizes by their shape or, in another alphabet, by their sound.
 */
const STYLED: Readonly<Record<string, string>> = {
  a: '𐌀Ⱥⱥᶏɐ𐌰ᚨⲀⲁ卂ムᗩคልǟᴀΛɅ∆ΔДд∀Ɐ₳ª@4𐤠ꬰ∧𐒰𐓘ለꍏꋫᏗԹ𐐈𐐰𐊀𐤀ꓥꓯᐱ人ⴰ𐤀ꁲꋬᗛᎯѦ',
  b: 'Ƀƀᵬᶀ𐌱ᛒⲂⲃ乃ცɮʙвßβ฿₿8𐤡ᗺ๒๖ษƁꌃꃃᏰჃႦՅ𐐒𐐺ⴱ𐤁ꋰꃳᙖᗸጌ',
  c: 'Ȼɕ匚ᑕ©ςꉓꏸᏣⵛꀯꉔᑢᙅርᄃ₵ፈᏨ',
  d: 'ᵭᶁ𐌳ᴅ∂',
  e: 'ƐɛɘəᶒɆ𐌴乇ꍟᗴЄєᴇΣ€ξ∃Ǝ3𐌄ᛖꏂᏋⲈⲉⴻ𐐀𐐨𐒷𐓟ꈼᘿᙍቿ',
  g: 'ᶃ𐌲ɢ₲',
  h: 'ⱨ卄ʜ',
  I: 'Il1|',
  i: 'ᶖ丨ɪ!¡ᴉเИиᓰᓮꀤꂑⲒⲓᏆⵉ𐐆𐐮𐒻𐓣꒐ጎノ',
  j: 'ﾌᴊ',
  k: 'ⱪᶄ𐌺Ҝᴋк',
  l: 'ȽⱠⱡⱢɫɬᶅ𐌻ㄥ乚ʟ£Լլ𐤩𐌋ᛚλΛⲖⲗЛлꝉʅ꒒꒓Ꮭ𐐢𐑊𐊍𐊏ⵍ𐒿𐓧ረレᎱ',
  m: 'Ɱᶆ𐌼爪ᗰᴍм',
  n: 'ɲȠᶇŋŊ𐌽几ᑎɴИип',
  o: 'ⱺᴓㄖ口0●◯○◎',
  p: 'Ᵽᵱᶈ𐍀卩ᴘ₱',
  r: 'ⱤɾᵳᶉɌ𐍂ᚱ尺ཞʀЯя®ᴙ𐌓𐊕𐤭ГгΓΡρⲢⲣРрɹɻʁᴚꞂꞃ₽ꋪꌅՐ𐐡𐑉รⵔ𐤓꒓ዪ',
  s: 'ȿⱾᶊ𐍃ᛋᔕ丂ֆรᎦ§$5Ⴝⴝ𐌔ꞨꞩꞄꞅ∫ʃऽነΣσςСс₴ꌗꌚᏕⲤⲥ𐐝𐑅ש𐤳𐊖ⵙƧƨᛊ𐓆𐓮ꇙᔢꙅᔆ',
  t: 'ʈⱦƫ𐍄ᛏㄒ丅ᴛт†7',
  u: 'ʉᶙ𐌿ㄩµμцЦሀʊƱยᚢꀎꐇᏌᏬⲨⲩ𐌖vVⵓ𐐎𐐶꒤ሁひⳙЏ𐌵',
  w: 'Ⱳⱳ山ᗯ₩шШ',
  y: 'ㄚ¥ᖻץ⅄ʎ𐍅Ỿỿ丫ꌩꐟՎⲨⲩ𐐏𐐷ⵢ𐌖ꐞꌦሃリҰЧ𐌙',
};

/** The capital I, which a reader may take for i or l. */
const STROKE = 'I';

const LETTERS: ReadonlyMap<string, readonly string[]> = [CONFUSABLES, STYLED].reduce((letters, table) => {
  for (const [latin, others] of Object.entries(table))
    for (const other of others) letters.set(other, [...(letters.get(other) ?? []), latin]);
  return letters;
}, new Map<string, string[]>());

/** First code points of the rows of white-on-black Latin letters and of flag letters. Each row starts with A. */
const DRAWN_ROWS = [0x1f150, 0x1f170, 0x1f1e6];

function drawnLetter(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  const start = DRAWN_ROWS.find((first) => code >= first && code < first + 26);
  return start === undefined ? undefined : String.fromCharCode(97 + code - start);
}

/** Characters that a reader does not see: marks, and characters without a glyph. */
const UNSEEN_ONLY = /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
const UNSEEN = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const NO_LETTER = /[^\p{L}\p{N}]/gu;
const SIGN = /^[^\p{L}\p{N}]$/u;

/** The forms of a character that may look like Latin letters. Some lowercase letters look Latin only in upper case. */
function formsOf(character: string): readonly string[] {
  if (character < '\u0080') return [character];
  const plain = character.normalize('NFKC');
  return [character, plain].flatMap((form) => {
    const capital = form.toUpperCase();
    return [form, form.toLowerCase(), capital, capital.toLowerCase()];
  });
}

const withoutMarks = (text: string): string => text.normalize('NFD').replace(UNSEEN, '');

/** Cache of readings by character, because a page of names needs them often. Cleared when full. */
const remembered = new Map<string, readonly string[] | null>();
const REMEMBERED = 5_000;

/**
 * The letter and digit sequences that a reader may see in one character. Empty for a gap between words, null for an
 * invisible character.
 */
function readingsOf(character: string): readonly string[] | null {
  const known = remembered.get(character);
  if (known !== undefined) return known;
  if (remembered.size >= REMEMBERED) remembered.clear();
  const readings = UNSEEN_ONLY.test(character) ? null : readingsFrom(character);
  remembered.set(character, readings);
  return readings;
}

function readingsFrom(character: string): readonly string[] {
  const readings = new Set([drawnLetter(character) ?? '']);
  for (const form of formsOf(character)) {
    for (const known of LETTERS.get(form) ?? []) readings.add(known);
    const letters = [...withoutMarks(form)];
    const read = letters.map((letter) => LETTERS.get(letter)?.[0] ?? letter.toLowerCase());
    readings.add(read.join('').replace(NO_LETTER, ''));
    readings.add(letters.join('').toLowerCase().replace(NO_LETTER, ''));
  }
  readings.delete('');
  // A reader may take a sign such as | or ! for a letter or for decoration.
  return readings.size > 0 && SIGN.test(character) ? ['', ...readings] : [...readings];
}

/** The readings of each character of a word. */
type Word = readonly (readonly string[])[];

/** Number of letters that are compared. A name on the chain can be 60 KB long, but wallets show only its beginning. */
const COMPARED = 100;

function wordsOf(text: string): readonly Word[] {
  const words: (readonly string[])[][] = [[]];
  let compared = 0;
  for (const character of text) {
    const readings = readingsOf(character);
    if (readings === null) continue;
    if (readings.length === 0) words.push([]);
    else if (++compared > COMPARED) break;
    else words.at(-1)?.push(readings);
  }
  return words.filter((word) => word.length > 0);
}

/** Whether this reading is found at this offset of the sought word. */
function standsAt(reading: string, sought: string, offset: number): boolean {
  for (let at = 0; at < reading.length; at += 1) {
    const letter = sought[offset + at];
    if (reading[at] !== letter && !(reading[at] === STROKE && (letter === 'i' || letter === 'l')))
      return false;
  }
  return true;
}

/**
 * Follows all readings in one pass. Bit n of `offsets` is set if the characters so far read as the first n letters.
 * @param sought at most 30 letters
 * @param where `whole`: all words together; `words`: from the beginning of a word to the end of it or of a later word;
 * `inside`: anywhere in one word
 */
function reads(words: readonly Word[], sought: string, where: 'whole' | 'words' | 'inside'): boolean {
  const end = 1 << sought.length;
  let offsets = 1;
  for (const word of words) {
    if (where === 'words') offsets |= 1;
    if (where === 'inside') offsets = 1;
    for (const readings of word) {
      let next = where === 'inside' ? 1 : 0;
      for (let offset = 0; offsets >> offset !== 0; offset += 1) {
        if (((offsets >> offset) & 1) === 0) continue;
        for (const reading of readings)
          if (standsAt(reading, sought, offset)) next |= 1 << (offset + reading.length);
      }
      if (where === 'inside' && (next & end) !== 0) return true;
      offsets = next;
    }
    if (where === 'words' && (offsets & end) !== 0) return true;
  }
  return where === 'whole' && (offsets & end) !== 0;
}

/** Maps each character that looks like a letter upside down to that letter. */
const TURNED: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: 'ɐ∀Ɐ', b: 'ꓭ', c: 'ɔƆ', e: 'ǝƎ', i: 'ᴉ', l: '˥ꓶ⅂', r: 'ɹᴚꓤ', u: '∩', y: 'ʎ⅄' }).flatMap(
    ([letter, turned]) => [...turned].map((each) => [each, letter] as const),
  ),
);
/** Letters that look like another letter when the text is upside down. */
const BOTH_WAYS: ReadonlyMap<string, string> = new Map([
  ['q', 'b'],
  ['n', 'u'],
  ['u', 'n'],
  ['b', 'q'],
]);

/** What a reader sees in upside-down letters: in the written order, and after a turn of the page. */
function turnedTexts(text: string): readonly string[] {
  const letters = [...text];
  if (!letters.some((letter) => TURNED.has(letter))) return [];
  const upright = letters.map((letter) => TURNED.get(letter) ?? BOTH_WAYS.get(letter) ?? letter);
  return [upright.join(''), upright.toReversed().join('')];
}

/** Signs drawn close together look like one letter. */
const joined = (text: string): string =>
  text
    .replace(/rn/gi, 'm')
    .replace(/vv/gi, 'w')
    .replace(/13|\|3/g, 'b')
    .replace(/\/-?\\/g, 'a');

const variantsOf = (text: string): readonly (readonly Word[])[] =>
  [...new Set([text, joined(text), ...turnedTexts(text)])].map(wordsOf);

/** Whether a whole string reads as one of the words, which consist of a-z and digits. Gaps are ignored. */
export const readsAs = (text: string, sought: Iterable<string>): boolean => {
  const variants = variantsOf(text);
  return [...sought].some((word) => variants.some((words) => reads(words, word, 'whole')));
};

/** Whether a word of the string contains a sought word, or several words together read as a sought word. */
export const contains = (text: string, sought: Iterable<string>): boolean => {
  const variants = variantsOf(text);
  return [...sought].some((word) =>
    variants.some((words) => reads(words, word, 'inside') || reads(words, word, 'words')),
  );
};
