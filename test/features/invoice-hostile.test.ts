/** Hostile names, symbols and bodies: each is refused with its code, and none becomes an invoice. */
import { describe, expect, it } from 'vitest';
import { eachResult } from '../kit/scenes.ts';
import { CREATOR, newTokenService, tokenApp } from './token-service.ts';

const asked = (over: Record<string, unknown>) => ({
  ...{ name: 'Moon Cat', symbol: 'MCAT', decimals: 6, supply: '5000000', creator_address: CREATOR },
  ...over,
});

/** A text of each fault, in the notation of JSON. `test/chain/solana/token-text.test.ts` has every form of each. */
eachResult(String.raw`
  spaces           | \u0020A | A\u0020\u0020B | A\u3000B
  not_normalized   | e\u0301
  ill_formed       | A\ud800
  hidden_character | A\u200bB | \u0000 | \u202eA
  empty            |
  too_long         | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | ééééééééééééééééé | <script>alert(document.cookie)</script>
    | '; DROP TABLE tokens; DROP TABLE invoices; --
  reserved         | ABSR
`)('refuses a token whose name or symbol is "%s", with the fault %s', async (text, fault) => {
  for (const field of ['name', 'symbol']) {
    const service = newTokenService();
    const over = { [field]: JSON.parse(`"${text}"`) };
    const { status, body } = await tokenApp(service)(JSON.stringify(asked(over)));
    expect([status, body.error_code, body.details]).toEqual([400, 'INVALID_TOKEN_TEXT', { field, fault }]);
    expect([service.opened, service.simulated]).toEqual([[], []]);
  }
});

it.each(['a'.repeat(32), 'é'.repeat(16)])(
  'accepts %j of 32 bytes as the name of a token, but not as its symbol',
  async (text) => {
    const service = newTokenService();
    expect((await tokenApp(service)(JSON.stringify(asked({ name: text })))).status).toBe(200);
    expect(service.opened[0]?.subject.name).toBe(text);
    const { body } = await tokenApp(service)(JSON.stringify(asked({ symbol: text })));
    expect(body.details).toEqual({ field: 'symbol', fault: 'too_long' });
  },
);

describe('bodies', () => {
  const OFF_CURVE = '5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq';
  const json = (over: Record<string, unknown> = {}) => JSON.stringify(asked(over));
  /** Members of a body in the notation of JSON. */
  eachResult(`
    INVALID_INPUT         | "supply":18446744073709551616 | "name":7 | "supply":"1.5" | "supply":"18446744073709551616"
      | "creator_address":"${OFF_CURVE}" | "revoke_mint_authority":"true" | "token_program":"token-2023"
    INVALID_TOKEN_TEXT    | "image":"http://example.org/i.png" | "image":"javascript:alert(1)"
      | "image":"data:image/png;base64,AAAA" | "image":"https://a:b@example.org/"
      | "image":"https://example.org/${'a'.repeat(300)}" | "description":"${'a'.repeat(2_000)}"
      | "description":"safe \\u202e evil"
    CONTRADICTING_OPTIONS | "supply":"0","revoke_mint_authority":true
      | "metaplex_metadata":true,"token_program":"token-2022"
  `)('refuses a body with %.80s as %s, and calls no node and no custodian', async (members, code) => {
    const service = newTokenService();
    const { status, body } = await tokenApp(service)(json().replace(/}$/, `,${members}}`));
    expect([status, body.error_code]).toEqual([400, code]);
    expect([service.opened, service.simulated]).toEqual([[], []]);
  });

  it('the refusal of a creator address off the curve names that address', async () => {
    const { body } = await tokenApp(newTokenService())(json({ creator_address: OFF_CURVE }));
    expect(body.error).toMatch(/^creator_address must be the address of a wallet: .*; "5x38.*" was given$/);
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
    expect((await tokenApp(service)(`{"__proto__":${json()}}`)).status).toBe(400);
    const body = json().replace('{', '{"__proto__":{"revoke_mint_authority":true},');
    expect((await tokenApp(service)(body)).status).toBe(200);
    expect(service.opened[0]?.subject.revokeMint).toBe(false);
  });
});
