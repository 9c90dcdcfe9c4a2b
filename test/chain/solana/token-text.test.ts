import fc from 'fast-check';
import skeletons from 'unhomoglyph/data.json' with { type: 'json' };
import { expect, it } from 'vitest';
import {
  descriptionFault,
  isWellKnown,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  nameFault,
  textFault,
} from '../../../src/chain/solana/token-text.ts';
import { eachResult, eachText } from '../../kit/scenes.ts';

it('a name may be as long as the chain allows, in bytes of UTF-8', () => {
  expect([MAX_NAME_BYTES, MAX_SYMBOL_BYTES]).toEqual([32, 10]);
  expect(textFault('a'.repeat(32), MAX_NAME_BYTES)).toBeUndefined();
  expect(textFault('é'.repeat(16), MAX_NAME_BYTES)).toBeUndefined();
  expect(textFault(`${'é'.repeat(16)}a`, MAX_NAME_BYTES)).toBe('too_long');
  expect(textFault('🚀🚀ab', MAX_SYMBOL_BYTES)).toBeUndefined();
});

it('an accepted name is in NFC and has no leading or trailing blanks and no invisible characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), (text) => {
      if (textFault(text, MAX_NAME_BYTES)) return;
      expect(text.normalize('NFC')).toBe(text);
      expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      expect(text.trim()).toBe(text);
      expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(MAX_NAME_BYTES);
    }),
    { numRuns: 5_000 },
  );
});

/** Invisible characters, and some that change the display of their neighbours. */
const HIDDEN = [
  0x00, 0x01, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xad, 0x034f,
  0x0600, 0x061c, 0x06dd, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e,
  0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064,
  0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206f, 0x3164, 0xe000, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
  0xfffb, 0xffff, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xf0000,
];

it('a name with an invisible character has the fault hidden_character', () => {
  for (const code of HIDDEN)
    expect([code, textFault(`A${String.fromCodePoint(code)}B`, MAX_NAME_BYTES)]).toEqual([
      code,
      'hidden_character',
    ]);
});

eachResult(String.raw`
  spaces           | \u0020 | \u0020A | A\u0020 | A\u0020\u0020B | A\u00a0B | A\u1680B | A\u2003B | A\u200aB
    | A\u202fB | A\u205fB | A\u3000B
  not_normalized   | A\u2000B | e\u0301 | A\u030a | \u1112\u1161 | \u2126 | \u212b | a\u0315\u0300
  ill_formed       | A\ud800 | \udc00A | \udc00\ud800
  hidden_character | \u200d👩 | 🏴\udb40\udc67
  too_long         | ${'日'.repeat(11)} | ${'🚀'.repeat(9)} | ${'a'.repeat(10_000)}
  empty            |
  none             | Moon Cat | 🚀 | Ünïcödé | 日本円 | A.B-C_D/E | O'Brien | $$$ | 100%
`)('the name "%.40s" has the fault: %s', (text, fault) => {
  expect(nameFault(JSON.parse(`"${text}"`), MAX_NAME_BYTES) ?? 'none').toBe(fault);
});

it('a description may be absent and may have lines, blanks and empty lines', () => {
  for (const text of ['', 'One\n\nTwo  blanks\n', ' indented'])
    expect(descriptionFault(text)).toBeUndefined();
});

it.each([
  ['one byte too long', 'a'.repeat(MAX_DESCRIPTION_BYTES + 1), 'too_long'],
  ['too long over many lines', 'abcdefghi\n'.repeat(101), 'too_long'],
  ['with a return', 'a\r\nb', 'hidden_character'],
  ['with a hidden letter in a later line', 'a\nb\u200b', 'hidden_character'],
  ['with half a pair', 'a\n\ud800', 'ill_formed'],
  ['decomposed', 'e\u0301', 'not_normalized'],
])('refuses a description %s', (_name, text, fault) => {
  expect(descriptionFault(text)).toBe(fault);
});

/** The last lines have one letter of another script each: Cyrillic, Greek, Armenian, Cherokee, Lisu, small capitals. */
eachText(String.raw`
  USDC | usdc | ＵＳＤＣ | Ｕsdc | ᵁˢᴰᶜ | Bitcoin | ⓑⓣⓒ | ABSR | Wrapped\u00a0SOL | \u0020SOL\u0020 | S0L | US DC | bit-coin
  U\u0405DC | B\u03a4C | ET\u041d | u\u0455d\u0441 | \u054dSDT | \u13daO\u13de | BON\ua4d7
  \u1d1b\u1d07\u1d1b\u029c\u1d07\u0280 | b\u0456tc\u043ein
`)('recognizes %s as a well-known name', (text) => {
  expect(isWellKnown(JSON.parse(`"${text}"`))).toBe(true);
});

it.each(['USDCC', 'Solana Cat', '', 'кот', 'Мир', 'ΑΘΗΝΑ', 'DAL', 'дай', 'Ray of Light'])(
  'does not recognize %j as a well-known name',
  (text) => {
    expect(isWellKnown(text)).toBe(false);
  },
);

/** Names of the service and its tokens as a reader takes them, one or more for each script and each trick. */
const OURS = [
  ['Latin', 'ABSR', 'asry', 'Sluice', 'sIuice'],
  ['Cyrillic', 'АВЅR', 'аbѕг', 'АSЯУ', 'АБСР'],
  ['Greek', 'ΑΒSR', 'ΛSRΥ', 'ΑΒΣΡ'],
  ['Armenian', 'ABՏR', 'Slսice', 'ԹՅՏՐ'],
  ['Cherokee', 'ᎪᏴᏚᎡ', 'ꭺᏼꮪꭱ', 'ᏗᏰᏕᏒ', 'ᏚᏞᏌᏆᏟᎬ'],
  ['Lisu', 'ꓮꓐꓢꓣ', 'ꓢꓡꓴꓲꓚꓰ', 'ꓯꓢꓣꓬ', 'ꓥBSR'],
  ['Osage', 'S𐒿𐓎ICE', '𐒰BSR'],
  ['Miao', '𖽀B𖼺𖼵', '𖼺𖼖𖽂𖼨CE'],
  ['Tifinagh', 'ⴰⴱⵙⵔ', 'ⵙⵍⵓⵉⵛⴻ'],
  ['Phoenician', '𐤀𐤁S𐤓'],
  ['Coptic', 'ⲀⲂSR', 'АSRⲨ', 'ⲀⲂⲤⲢ'],
  ['Canadian syllabics', 'ᗩᗷᔕᖇ', 'ᔕᒪᑌIᑕE'],
  ['Gothic', '𐌰𐌱𐍃𐍂'],
  ['Old Italic', '𐌀𐌁SR', '𐌀𐌁𐌔𐌓', '𐌀𐌔𐌓𐌖'],
  ['Runic', 'ᚨᛒᛋᚱ', 'ᚨᛒᛊᚱ'],
  ['Carian', '𐊠𐊡SR'],
  ['Deseret', 'SLUI𐐕E', '𐐈𐐒𐐝𐐡', '𐐝𐐢𐐎𐐆𐐕𐐀'],
  ['Georgian', 'ASRყ', 'ABႽR'],
  ['Han', '卂乃丂尺'],
  ['Katakana', 'ムBSR'],
  ['Thai', 'ABรR'],
  ['Hebrew', 'Sוuice', 'ABשR'],
  ['Arabic', 'Sاuice'],
  ['Yi', 'ꍏꌃꌗꋪ', 'ꍏꌗꋪꌩ'],
  ['Ethiopic', 'ልBነR'],
  ['signs of currencies', '₳฿₴Ɽ', '₳$₽¥'],
  ['Bengali', 'sluiceও'],
  ['phonetic letters', 'ᴀʙꜱʀ', 'ɐbsr', 'slᴜɪᴄᴇ'],
  ['mathematical letters', '𝔸𝕓𝕤𝕣', '𝐀𝐒𝐑𝐘'],
  ['wide letters', 'ＡＢＳＲ', 'Ａ-ＳＲＹ'],
  ['enclosed letters', 'ⓢⓛⓤⓘⓒⓔ', '🅰🅱🆂🆁', '⒜⒝⒮⒭'],
  ['flags', '🇦🇧🇸🇷'],
  ['raised letters', 'ᴬᴮˢᴿ'],
  ['strokes and hooks', 'ȺɃSɌ', 'ASRɎ'],
  ['letters on their head', 'ɹsqɐ', 'ᴚSꓭ∀', '∀ꓭSᴚ', 'ʎɹsɐ', 'ǝɔᴉnls', 'ABƧЯ'],
  [
    'alphabets of text generators',
    ...'ꁲꋰꌚꌅ ꋬꃳꇙꋪ ᗩᙖSᖇ ᗛᗸᔢᖇ ነረሁጎርቿ 丂ﾚひﾉᄃ乇 ₴ⱠɄł₵Ɇ ᎯᏕᎡᎽ ѦЅЯҰ ꙅluice'.split(' '),
  ],
  ['marks', 'ÁB\u0308S\u0323R', 'A\u0336B\u0336S\u0336R'],
  ['a long s, which NFKC reads as s and the table as f', 'ſluice'],
  ['separators', 'A B S R', 'a.b.s.r', 'A-S-R-Y', 'Official A S R Y'],
  ['invisible characters', 'AB\u200bSR', 'A\u2060SRY', 'sl\u200duice', 'A\u{E0041}BSR'],
  ['digits and signs', ...'4B5R A8$R 5lu1ce @SRY S|uice A|B|S|R A!SRY A13SR /-\\|3SR SLVICE'.split(' ')],
  ['words around it', 'Official ABSR', 'ABSR2', 'wABSR', 'ASRY 🚀', 'New Sluice Token'],
].flatMap(([trick, ...texts]) => texts.map((text) => [trick, text] as const));

it.each(OURS)('with %s, other tokens cannot use the name %j', (_trick, text) => {
  expect(isWellKnown(text)).toBe(true);
  expect(nameFault(text, 64)).toMatch(/reserved|hidden_character|not_normalized/);
});

it('every character that Unicode lists as confusable with a letter of ABSR is refused in place of that letter', () => {
  const alone = Object.entries(skeletons).filter(([, skeleton]) => /^[ABSRabsr]$/.test(skeleton));
  expect(alone.length).toBeGreaterThan(150);
  for (const [character, skeleton] of alone) {
    const imitation = 'absr'.replace(skeleton.toLowerCase(), character);
    expect([imitation, isWellKnown(imitation)]).toEqual([imitation, true]);
  }
});

eachText(`
  Grassy | Bas Ryder | Absolute | Moon Cat | Abacus | Asr | Sauce | 月亮猫 | Кошка | 🐱 | Easy Street | Yrsa | RSBA
`)('anybody may use the name %j', (text) => {
  expect(nameFault(text, MAX_NAME_BYTES)).toBeUndefined();
  expect(isWellKnown(text)).toBe(false);
});

it('names of maximum length are compared letter by letter, up to the 100th', () => {
  expect(isWellKnown('a '.repeat(30_000))).toBe(false);
  expect(isWellKnown(`${' '.repeat(30_000)}us dc`)).toBe(true);
  expect(isWellKnown(`${'x '.repeat(96)}absr`)).toBe(true);
  expect(isWellKnown(`${'x '.repeat(97)}absr`)).toBe(false);
});

it.each([
  ['Persian', 'می\u200cخواهم'],
  ['Persian after a letter that does not connect', 'کار\u200cها'],
  ['Hindi', 'क्\u200dष'],
  ['Hindi that shows the sign', 'क्\u200cष'],
  ['Bengali', 'র\u200d্য'],
  ['Sinhala', 'ශ්\u200dරී'],
  ['a heart', '❤\ufe0f'],
  ['a family', '👨\u200d👩\u200d👧'],
  ['a profession with a skin tone', '👩🏽\u200d🚀'],
  ['a keycap', '1\ufe0f\u20e3'],
  ['a flag', '🇺🇦'],
  ['the flag of Scotland', '🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}'],
  ['the flag of England', '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'],
  ['the flag of Wales', '🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}'],
])('a name in %s keeps its joiners', (_what, text) => {
  expect(textFault(text, MAX_NAME_BYTES)).toBeUndefined();
});

eachText(String.raw`
  a\u200cb | a\u200db | क\u200dष | \u200dक | a\ufe0f | ❤\ufe0f\ufe0f | ❤\u200d | م\u200c | م\u200c❤ | م\u200d❤
  🏴\udb40\udc61\udb40\udc7f
`)('a joiner without effect is refused in "%s"', (text) => {
  expect(textFault(JSON.parse(`"${text}"`), MAX_NAME_BYTES)).toBe('hidden_character');
});
