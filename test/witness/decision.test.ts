import { describe, expect, it } from 'vitest';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { sats } from '../../src/core/amount.ts';
import {
  decideCosignature,
  type LastSigned,
  type MintFacts,
  type MintView,
} from '../../src/witness/decision.ts';

const view = (node: string, change: Partial<MintView> = {}): MintView => ({
  node,
  finalizedHeight: 1_000n,
  program: TOKEN_PROGRAM,
  authority: 'multisig',
  supply: 40_000n,
  decimals: 2,
  heightAtBlockhash: 1_002n,
  ...change,
});
const THREE = [view('a'), view('b'), view('c')];
const HEIGHTS = { a: '1002', b: '1002', c: '1002' };
const tip = { height: 900_000, hash: 'aa' };
const covered = (amount: bigint): MintFacts['reserve'] => ({ ok: true, sats: sats(amount), tip });

const decide = (change: Partial<MintFacts> = {}) =>
  decideCosignature({
    request: { program: TOKEN_PROGRAM, atoms: 10_000n, decimals: 2 },
    authority: 'multisig',
    last: undefined,
    views: THREE,
    nodes: 3,
    reserve: covered(500n),
    ...change,
  });
const refused = (refusal: string) => ({ type: 'refuse', refusal });

describe('a request for a signature', () => {
  it('a mint is signed when supply and amount together equal the confirmed sats', () => {
    expect(decide()).toEqual({ type: 'sign', heights: HEIGHTS });
  });

  it('a mint is refused when supply and amount together exceed the confirmed sats by one atom', () => {
    const request = { program: TOKEN_PROGRAM, atoms: 10_001n, decimals: 2 };
    expect(decide({ request })).toEqual(refused('amount_above_reserve'));
  });

  it('a mint is refused with another code when the supply alone exceeds the confirmed sats', () => {
    expect(decide({ reserve: covered(400n) })).toEqual(refused('amount_above_reserve'));
    expect(decide({ reserve: covered(399n) })).toEqual(refused('supply_above_reserve'));
  });

  it('a mint is refused while the Bitcoin indexes do not agree', () => {
    expect(decide({ reserve: { ok: false, reason: 'sources_disagree' } })).toEqual(
      refused('sources_disagree'),
    );
  });

  it('a mint is refused when its token has other decimals or another program', () => {
    const request = { program: TOKEN_PROGRAM, atoms: 1n, decimals: 2 };
    expect(decide({ request: { ...request, decimals: 3 } })).toEqual(refused('other_mint'));
    expect(decide({ request: { ...request, program: TOKEN_2022_PROGRAM } })).toEqual(refused('other_mint'));
  });

  it.each(['custodian', null])('a mint is refused while the mint authority is %s', (authority) => {
    const [a, b, c] = [view('a', { authority }), view('b', { authority }), view('c')];
    expect(decide({ views: [a, b, c] })).toEqual(refused('not_mint_authority'));
    expect(decide({ views: [a, view('b'), c] })).toMatchObject({ type: 'sign' });
  });

  it('signs only if a quorum of nodes responds', () => {
    expect(decide({ views: [view('a')] })).toEqual(refused('nodes_unreachable'));
    expect(decide({ views: [view('a'), view('b')] })).toMatchObject({ type: 'sign' });
  });

  it('signs only if a quorum of nodes shows the same supply', () => {
    const views = [view('a'), view('b', { supply: 0n }), view('c', { supply: 1n })];
    expect(decide({ views })).toEqual(refused('supplies_disagree'));
  });

  it('ignores the supply of one lying node', () => {
    const request = { program: TOKEN_PROGRAM, atoms: 10_001n, decimals: 2 };
    const views = [view('a', { supply: 0n }), view('b'), view('c')];
    expect(decide({ views, request })).toEqual(refused('amount_above_reserve'));
  });

  it('signs only if a quorum of nodes accepts the blockhash', () => {
    const unseen = { heightAtBlockhash: null };
    const views = [view('a'), view('b', unseen), view('c', unseen)];
    expect(decide({ views })).toEqual(refused('blockhash_unknown'));
    expect(decide({ views: [view('a'), view('b'), view('c', unseen)] })).toEqual({
      type: 'sign',
      heights: { a: '1002', b: '1002' },
    });
  });
});

describe('the heights that are stored with a signature', () => {
  const at = (node: string, heightAtBlockhash: bigint | null) => view(node, { heightAtBlockhash });

  it.each([1_185n, 10n ** 18n, 819n, 0n])(
    'the stored heights omit a height of %s, which no honest node has when the others have 1,002',
    (absurd) => {
      const views = [at('a', 1_002n), at('b', absurd), at('c', 1_002n)];
      expect(decide({ views })).toEqual({ type: 'sign', heights: { a: '1002', c: '1002' } });
    },
  );

  it.each([1_184n, 820n])(
    'the stored heights include a height of %s, which the life of a blockhash explains',
    (late) => {
      const views = [at('a', 1_002n), at('b', late), at('c', 1_002n)];
      expect(decide({ views })).toEqual({
        type: 'sign',
        heights: { a: '1002', b: late.toString(), c: '1002' },
      });
    },
  );

  it('stores the heights of the first nodes when two groups are equally large', () => {
    const views = [at('a', 1_000n), at('b', 1_100n), at('c', 1_250n)];
    expect(decide({ views })).toEqual({ type: 'sign', heights: { a: '1000', b: '1100' } });
  });

  it('stores no heights when only a lying node and one other accept the blockhash', () => {
    const views = [at('a', 1_002n), at('b', 10n ** 18n), at('c', null)];
    expect(decide({ views })).toEqual(refused('blockhash_unknown'));
  });
});

describe('after an earlier signature', () => {
  const last = (heights: LastSigned['heights']): LastSigned => ({
    signature: 's',
    atoms: '1',
    at: 0,
    heights,
  });
  const at = (finalizedHeight: bigint) => THREE.map((each) => ({ ...each, finalizedHeight }));
  const earlier = last({ a: '800', b: '800', c: '800' });

  it('nothing is signed until the earlier transaction can no longer land', () => {
    expect(decide({ last: earlier, views: at(982n) })).toEqual(refused('earlier_mint_open'));
    expect(decide({ last: earlier, views: at(983n) })).toMatchObject({ type: 'sign' });
  });

  it('one node that claims a great height does not end the wait for the earlier transaction', () => {
    const [a, b, c] = at(900n);
    const views = [a, b, { ...c, finalizedHeight: 10n ** 9n }].filter(
      (each) => each !== undefined,
    ) as MintView[];
    expect(decide({ last: earlier, views })).toEqual(refused('earlier_mint_open'));
  });

  it('one node that claimed a small height at the signing does not end the wait for the earlier transaction', () => {
    expect(decide({ last: last({ a: '0', b: '800', c: '800' }), views: at(982n) })).toEqual(
      refused('earlier_mint_open'),
    );
  });

  it('one node that claimed a great height at the signing does not block the next signature', () => {
    expect(decide({ last: last({ a: '999999999', b: '800', c: '800' }), views: at(983n) })).toMatchObject({
      type: 'sign',
    });
  });

  it('a node added since the signing waits for the greatest stored height', () => {
    const some = last({ a: '700', b: '800' });
    const views = [view('x', { finalizedHeight: 982n }), view('y', { finalizedHeight: 982n })];
    expect(decide({ last: some, views })).toEqual(refused('earlier_mint_open'));
    expect(
      decide({ last: some, views: views.map((each) => ({ ...each, finalizedHeight: 983n })) }),
    ).toMatchObject({
      type: 'sign',
    });
  });

  it('the supply of a node at which the earlier transaction may still land is not used', () => {
    const [a, b] = at(983n);
    const stale = view('c', { finalizedHeight: 982n, supply: 0n });
    const views = [a, b, stale].filter((each) => each !== undefined) as MintView[];
    expect(decide({ last: earlier, views })).toMatchObject({ type: 'sign' });
    expect(decide({ last: earlier, views: [stale, ...views.slice(0, 1)] })).toEqual(
      refused('earlier_mint_open'),
    );
  });
});
