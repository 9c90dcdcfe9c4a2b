import { describe, expect, it } from 'vitest';
import {
  draftFaults,
  draftFrom,
  EMPTY_DRAFT,
  formUrl,
  invoiceBody,
  isSplit,
  pictureLack,
  supplyAtoms,
  supplyRemark,
  type TokenDraft,
  withoutEntries,
  withSplit,
} from '../../site/parts/token-draft.ts';
import { AppError } from '../../src/core/errors.ts';
import { checkedProgram } from '../../src/features/tokens/token-request.ts';

const CREATOR = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const draft = (over: Partial<TokenDraft> = {}): TokenDraft => ({
  ...EMPTY_DRAFT,
  name: 'Moon Cat',
  symbol: 'MCAT',
  creator: CREATOR,
  ...over,
});

it.each([
  [{}, undefined],
  [{ image: 'http://cats.example/a.png' }, 'An https address'],
  [{ image: ' https://cats.example/a.png ' }, undefined],
])('the fault of the picture in a draft with %j begins with: %s', (over, text) => {
  const fault = draftFaults(draft(over)).image;
  expect(fault?.startsWith(text ?? '')).toBe(text === undefined ? undefined : true);
});

it.each([
  [{}, false, 'no_link'],
  [{ image: ' ' }, false, 'no_link'],
  [{ image: 'https://cats.example/a.png' }, false, 'not_loaded'],
  [{ image: 'https://cats.example/a.png' }, true, null],
  [{ image: 'https://cats.example/a.png', keepEditing: true }, false, null],
  [{ keepEditing: true }, false, null],
] as const)('the picture check of a draft with %j (loaded: %s) reports %s', (over, isLoaded, lack) => {
  expect(pictureLack(draft(over), isLoaded)).toBe(lack);
});

it('a token of whole pieces has no decimals, and a token that can be split has the usual ones', () => {
  const whole = withSplit(draft({ supply: '1,000,000' }), false);
  expect(invoiceBody(whole)).toMatchObject({ decimals: 0, supply: '1000000' });
  expect(isSplit(whole)).toBe(false);
  expect(draftFaults({ ...whole, supply: '2500.5' }).supply).toContain('A whole number');
  expect(invoiceBody(withSplit(whole, true))).toMatchObject({ decimals: 6, supply: '1000000000000' });
  expect([isSplit(withSplit(whole, true)), isSplit(draft({ decimals: '3' }))]).toEqual([true, true]);
});

it.each([
  ['5.000', '6', '= 5 tokens. For thousands, write 5,000.'],
  ['5.000', '0', '= 5 tokens. For thousands, write 5,000.'],
  ['5.25', '6', null],
  ['5,000', '6', null],
  ['5000.125', '6', null],
])('the remark on the supply %s of a token with %s decimals is: %s', (supply, decimals, remark) => {
  expect(supplyRemark(draft({ supply, decimals }))).toBe(remark);
});

it('a form without a link orders a token without a picture', () => {
  expect(invoiceBody(draft({ image: ' ' }))).not.toHaveProperty('image');
});

it('a link to the form contains all its entries but the wallet', () => {
  const form = 'https://sluice.test/tokens/new';
  const full: TokenDraft = {
    ...{ name: 'A & B', symbol: 'MCAT', description: 'x=1', supply: '12', decimals: '0' },
    ...{ image: 'https://cats.example/a.png', program: 'token', creator: CREATOR },
    ...{ keepMinting: true, keepFreezing: true, keepEditing: true },
  };
  const link = formUrl(full, `${form}?invoice=1`);
  expect(draftFrom(new URL(link).search)).toEqual({ ...full, creator: '' });
  expect(withoutEntries(link)).toBe(`${form}?invoice=1`);
  expect(draftFrom('?creator=x&constructor=y&program=z&keepMinting=1')).toEqual(EMPTY_DRAFT);
  expect(formUrl(EMPTY_DRAFT, form)).toBe(form);
});

it("accepts a complete token form and converts it to the service's request", () => {
  expect(draftFaults(draft())).toEqual({});
  expect(invoiceBody(draft({ supply: '2500.5', decimals: '3' }))).toEqual({
    name: 'Moon Cat',
    symbol: 'MCAT',
    decimals: 3,
    supply: '2500500',
    description: '',
    creator_address: CREATOR,
    revoke_mint_authority: true,
    revoke_freeze_authority: true,
    revoke_update_authority: true,
    token_program: 'token-2022',
    metaplex_metadata: false,
  });
});

it("converts the supply exactly to the chain's smallest unit", () => {
  expect(supplyAtoms(draft({ supply: '18446744073.709551615', decimals: '9' }))).toBe(2n ** 64n - 1n);
  expect(draftFaults(draft({ supply: '18446744073.709551615', decimals: '9' }))).toEqual({});
  expect(draftFaults(draft({ supply: '18446744073.709551616', decimals: '9' })).supply).toContain(
    'Too large',
  );
});

it.each(['1,000,000', '1 000 000', "1'000'000", '1_000_000', ' 1000000 '])(
  'reads the supply "%s" as a million',
  (supply) => {
    expect(supplyAtoms(draft({ supply, decimals: '0' }))).toBe(1_000_000n);
  },
);

it.each(['1,5', '1,00,000', '1,000,00', '1.000.000', ',000', '1,000 000'])(
  'refuses the supply "%s" and explains the use of the comma',
  (supply) => {
    expect(draftFaults(draft({ supply })).supply).toContain('A comma only groups three digits.');
  },
);

describe('the form refuses all input that the service would refuse', () => {
  const BAD: readonly (readonly [keyof TokenDraft, Partial<TokenDraft>])[] = [
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(33) }],
    ['name', { name: ' Moon' }],
    ['name', { name: 'Mo\u200Bon' }],
    ['name', { name: '\u202EnooM' }],
    ['symbol', { symbol: 'ÄÄÄÄÄÄ' }],
    ['description', { description: 'x'.repeat(1001) }],
    ['image', { image: 'http://example.com/a.png' }],
    ['image', { image: `https://example.com/${'a'.repeat(200)}` }],
    ['image', { image: 'javascript:alert(1)' }],
    ['supply', { supply: '0' }],
    ['supply', { supply: '99999999999999' }],
  ];
  it.each(BAD)('the form and the service both refuse the %s of %j', (field, over) => {
    const bad = draft(over);
    expect(Object.keys(draftFaults(bad))).toEqual([field]);
    const body = invoiceBody(bad);
    const order = {
      name: body.name,
      symbol: body.symbol,
      decimals: body.decimals ?? 0,
      supply: BigInt(body.supply ?? 0),
      description: body.description,
      image: body.image ?? null,
      creator: body.creator_address,
      revokeFreeze: body.revoke_freeze_authority,
      revokeMint: body.revoke_mint_authority,
      revokeUpdate: body.revoke_update_authority,
      metaplex: body.metaplex_metadata,
      program: body.token_program,
    };
    expect(() => checkedProgram(order)).toThrow(AppError);
  });

  it.each([
    ['decimals', { decimals: '10' }],
    ['decimals', { decimals: '-1' }],
    ['supply', { supply: '1.0000001', decimals: '6' }],
    ['creator', { creator: 'not an address' }],
    ['creator', { creator: '0x52908400098527886E0F7030069857D2E4169EE7' }],
  ] as const)('the form refuses the %s of %j', (field, over) => {
    expect(draftFaults(draft(over))[field]).toBeTypeOf('string');
  });
});
