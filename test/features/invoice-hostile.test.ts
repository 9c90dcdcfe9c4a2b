/** Hostile names, symbols and bodies: each is refused with its code, and none becomes an invoice. */
import { describe, expect, it } from 'vitest';
import { scenes } from '../kit/scenes.ts';
import { CREATOR, newTokenService, tokenApp } from './token-service.ts';

const asked = (over: Record<string, unknown>) => ({
  ...{ name: 'Moon Cat', symbol: 'MCAT', decimals: 6, supply: '5000000', creator_address: CREATOR },
  ...over,
});

/** Characters that are invisible or change the display of their neighbours. */
const HIDDEN = [
  0x00, 0x01, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xad, 0x034f,
  0x0600, 0x061c, 0x06dd, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e,
  0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064,
  0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206f, 0x3164, 0xe000, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
  0xfffb, 0xffff, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xf0000,
].map((code) => [`A${String.fromCodePoint(code)}B`, 'hidden_character'] as const);

/** Texts of each fault, in the notation of JSON. */
const TEXTS = scenes(String.raw`
  spaces           | \u0020 | \u0020A | A\u0020 | A\u0020\u0020B | A\u00a0B | A\u1680B | A\u2003B | A\u200aB
    | A\u202fB | A\u205fB | A\u3000B
  not_normalized   | A\u2000B | e\u0301 | A\u030a | \u1112\u1161 | \u2126 | \u212b | a\u0315\u0300
  ill_formed       | A\ud800 | \udc00A | \udc00\ud800
  hidden_character | \u200d👩 | 🏴\udb40\udc67
  empty            |
`).flatMap(([fault = '', ...texts]) =>
  texts.map((text) => [String(JSON.parse(`"${text}"`)), fault] as const),
);
const LONG: (readonly [field: 'name' | 'symbol', name: string, text: string])[] = [
  ['name', '33 letters', 'a'.repeat(33)],
  ['name', '17 letters of two bytes', 'é'.repeat(17)],
  ['name', '11 letters of three bytes', '日'.repeat(11)],
  ['name', '9 emoji', '🚀'.repeat(9)],
  ['name', 'ten thousand letters', 'a'.repeat(10_000)],
  ['symbol', '11 letters', 'A'.repeat(11)],
  ['symbol', '6 letters of two bytes', 'É'.repeat(6)],
  ['symbol', '4 letters of three bytes', '日'.repeat(4)],
  ['symbol', '3 emoji', '🚀🚀🚀'],
  ['symbol', 'a letter with many combining marks', `A${'\u0323'.repeat(6)}`],
  ['symbol', 'a ligature of 18 letters', '\ufdfa\ufdfa\ufdfa\ufdfa'],
  ['name', 'markup', '<script>alert(document.cookie)</script>'],
  ['name', 'a query', "'; DROP TABLE tokens; DROP TABLE invoices; --"],
];

describe('names and symbols', () => {
  const cases = [
    ...[...HIDDEN, ...TEXTS].flatMap(([text, fault]) => [
      ['name', JSON.stringify(text), text, fault] as const,
      ['symbol', JSON.stringify(text), text, fault] as const,
    ]),
    ...LONG.map(([field, name, text]) => [field, name, text, 'too_long'] as const),
  ];

  it.each(cases)('refuses a token whose %s is hostile: %s', async (field, _name, text, fault) => {
    const service = newTokenService();
    const { status, body } = await tokenApp(service)(JSON.stringify(asked({ [field]: text })));
    expect([status, body.error_code, body.details]).toEqual([400, 'INVALID_TOKEN_TEXT', { field, fault }]);
    expect(service.opened).toEqual([]);
    expect(service.simulated).toEqual([]);
  });

  const fair = "Moon Cat|🚀|Ünïcödé|日本円|A.B-C_D/E|O'Brien|$$$|100%".split('|');
  it.each([...fair, 'a'.repeat(32), 'é'.repeat(16)])('accepts a token with the name %j', async (name) => {
    const service = newTokenService();
    expect((await tokenApp(service)(JSON.stringify(asked({ name })))).status).toBe(200);
    expect(service.opened[0]?.subject.name).toBe(name);
  });
});

describe('bodies', () => {
  const json = (over: Record<string, unknown> = {}) => JSON.stringify(asked(over));
  const shapes: (readonly [name: string, body: string, code: string])[] = [
    [
      'a supply number above what JSON holds exactly',
      json().replace('"5000000"', '18446744073709551616'),
      'INVALID_INPUT',
    ],
    ['a prototype in place of members', `{"__proto__":${json()}}`, 'INVALID_INPUT'],
  ];
  const modern = { token_program: 'token-2022' };
  const members: (readonly [name: string, over: Record<string, unknown>, code?: string])[] = [
    ['a name that is a number', { name: 7 }],
    ['a supply with a fraction', { supply: '1.5' }],
    ['a supply of u64 and one', { supply: (2n ** 64n).toString() }],
    ['a creator off the curve', { creator_address: '5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq' }],
    ['a flag as text', { revoke_mint_authority: 'true' }],
    ['a token program that does not exist', { token_program: 'token-2023' }],
    ['an image that is not an https URL', { image: 'http://example.org/i.png' }, 'INVALID_TOKEN_TEXT'],
    ['an image that runs', { image: 'javascript:alert(1)' }, 'INVALID_TOKEN_TEXT'],
    ['an image that is its own content', { image: 'data:image/png;base64,AAAA' }, 'INVALID_TOKEN_TEXT'],
    ['an image behind a password', { image: 'https://a:b@example.org/' }, 'INVALID_TOKEN_TEXT'],
    ['an image of 300 characters', { image: `https://example.org/${'a'.repeat(300)}` }, 'INVALID_TOKEN_TEXT'],
    ['a description of two kilobytes', { description: 'a'.repeat(2_000) }, 'INVALID_TOKEN_TEXT'],
    ['a description that reorders the text', { description: 'safe \u202e evil' }, 'INVALID_TOKEN_TEXT'],
    [
      'a mint without supply or authority',
      { supply: '0', revoke_mint_authority: true },
      'CONTRADICTING_OPTIONS',
    ],
    ['Metaplex data of a Token-2022 mint', { metaplex_metadata: true, ...modern }, 'CONTRADICTING_OPTIONS'],
  ];
  const cases = [
    ...shapes,
    ...members.map(([name, over, code = 'INVALID_INPUT']) => [name, json(over), code] as const),
  ];

  it('the refusal of a creator address off the curve names that address', async () => {
    const creator = '5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq';
    const { body } = await tokenApp(newTokenService())(json({ creator_address: creator }));
    expect(body.error).toMatch(/^creator_address must be the address of a wallet: .*; "5x38.*" was given$/);
  });

  it.each(cases)('refuses a hostile request body: %s', async (_name, body, code) => {
    const service = newTokenService();
    const refused = await tokenApp(service)(body);
    expect(refused.body.error_code).toBe(code);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.status).toBeLessThan(500);
    expect(service.opened).toEqual([]);
    expect(service.simulated).toEqual([]);
  });

  it('accepts null for the empty fields of a form', async () => {
    const service = newTokenService();
    const flags = { revoke_mint_authority: null, revoke_update_authority: null };
    const empty = { description: null, image: null, ...flags };
    expect((await tokenApp(service)(json(empty))).status).toBe(200);
    expect(service.opened[0]?.subject).toMatchObject({ description: '', image: null, revokeMint: false });
  });

  it('a request body with a __proto__ member does not change defaults', async () => {
    const service = newTokenService();
    const body = json().replace('{', '{"__proto__":{"revoke_mint_authority":true},');
    expect((await tokenApp(service)(body)).status).toBe(200);
    expect(service.opened[0]?.subject.revokeMint).toBe(false);
  });
});
