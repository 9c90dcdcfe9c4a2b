import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeBase58, isAddress, isOnCurve } from '../../../src/chain/solana/address.ts';
import {
  checkDeposit,
  type DepositAsset,
  type DepositTerms,
  type DepositTransaction,
  type DepositVerdict,
  depositTerms,
  EXCHANGE_WALLETS,
  type TokenBalanceRow,
} from '../../../src/chain/solana/deposit.ts';
import { programAddress } from '../../../src/chain/solana/program-address.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';

type Scene = {
  readonly name: string;
  readonly expected: Readonly<Record<string, string>>;
  readonly treasury: string;
  readonly sender: string | null;
  readonly held: readonly string[];
  readonly transaction: { readonly transaction: { readonly signatures: readonly string[] } };
};
type Recorded = {
  readonly reserve: string;
  readonly mints: Record<DepositAsset, string>;
  readonly scenes: readonly Scene[];
};

/** A node's records of transactions on a test chain, each with the scene that made it and its verdict. */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/deposit-transactions.json'), 'utf8'),
) as Recorded;

/** As the service reads it: through the provider, from a node's answer. */
async function read(scene: Scene): Promise<DepositTransaction> {
  const rpc = createSolanaRpc({
    urls: ['http://node.test'],
    fetch: async () => Response.json({ jsonrpc: '2.0', id: 1, result: scene.transaction }),
  });
  const found = await rpc.first((node) =>
    node.transaction(scene.transaction.transaction.signatures[0] ?? '', 'finalized'),
  );
  if (!found) throw new Error('no transaction');
  return found;
}

const termsOf = (scene: Pick<Scene, 'treasury' | 'held'>): DepositTerms =>
  depositTerms({
    treasury: scene.treasury,
    reserve: recorded.reserve,
    mints: recorded.mints,
    heldSenders: new Set([...EXCHANGE_WALLETS, ...scene.held]),
  });

describe('a transaction of the chain', () => {
  it.each(recorded.scenes.map((scene) => [scene.name, scene] as const))('%s', async (_name, scene) => {
    const verdict = checkDeposit(await read(scene), termsOf(scene));
    const { usdc, usdt, refused, held } = scene.expected;
    if (refused !== undefined) expect(verdict).toEqual({ type: 'refused', reason: refused });
    else if (held !== undefined) expect(verdict).toEqual({ type: 'held', reason: held });
    else
      expect(verdict).toMatchObject({
        type: 'deposit',
        asset: usdc === undefined ? 'USDT' : 'USDC',
        creditedAtoms: BigInt(usdc ?? usdt ?? -1),
        sender: scene.sender,
      });
  });
});

const SENDER = encodeBase58(curvePoint(1));
const OTHER = encodeBase58(curvePoint(2));
const TREASURY = encodeBase58(curvePoint(3));
const VAULT = programAddress(TOKEN_PROGRAM, [Uint8Array.of(1)]);
const terms = termsOf({ treasury: TREASURY, held: [] });

/** The first point of the curve at or after 32 bytes of one value. */
function curvePoint(seed: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(seed);
  for (let last = 0; last < 128; last += 1) {
    bytes[31] = last;
    if (isOnCurve(encodeBase58(bytes))) return bytes;
  }
  throw new Error('no point');
}

const row = (owner: string | null, atoms: bigint, more: Partial<TokenBalanceRow> = {}): TokenBalanceRow => ({
  mint: recorded.mints.USDC,
  program: TOKEN_PROGRAM,
  account: more.account ?? findAta(owner ?? SENDER, more.mint ?? recorded.mints.USDC, TOKEN_PROGRAM),
  ...more,
  owner,
  atoms,
});

const transfer = (change: Partial<DepositTransaction> = {}): DepositTransaction => ({
  signature: encodeBase58(new Uint8Array(64).fill(9)),
  slot: 100n,
  blockTime: 1_800_000_000,
  failed: false,
  signers: [SENDER],
  preTokens: [row(SENDER, 100n), row(TREASURY, 5n)],
  postTokens: [row(SENDER, 60n), row(TREASURY, 45n)],
  ...change,
});

describe('further possible answers of a node', () => {
  it.each<[string, Partial<DepositTransaction>, DepositVerdict | Partial<DepositVerdict>]>([
    ['a deposit', {}, { type: 'deposit', creditedAtoms: 40n, sender: SENDER }],
    [
      'no balances at all',
      { preTokens: null, postTokens: null },
      { type: 'unverifiable', reason: 'no_token_balances' },
    ],
    ['only later balances', { preTokens: null }, { type: 'unverifiable', reason: 'no_token_balances' }],
    ['only earlier balances', { postTokens: null }, { type: 'unverifiable', reason: 'no_token_balances' }],
    ['no block time', { blockTime: null }, { type: 'unverifiable', reason: 'no_block_time' }],
    [
      'no owner of an account, as older nodes return it',
      { postTokens: [row(null, 60n), row(TREASURY, 45n)] },
      { type: 'unverifiable', reason: 'bad_balances' },
    ],
    [
      'no program of an account',
      { preTokens: [row(SENDER, 100n, { program: null }), row(TREASURY, 5n)] },
      { type: 'unverifiable', reason: 'bad_balances' },
    ],
    [
      'one account twice',
      { postTokens: [row(SENDER, 60n), row(TREASURY, 45n), row(TREASURY, 45n)] },
      { type: 'unverifiable', reason: 'bad_balances' },
    ],
    [
      'an account index out of range',
      { postTokens: [row(SENDER, 60n), row(TREASURY, 45n, { account: '' })] },
      { type: 'unverifiable', reason: 'bad_balances' },
    ],
    [
      'an exchange on the list',
      {
        signers: [EXCHANGE_WALLETS[0] ?? ''],
        preTokens: [row(EXCHANGE_WALLETS[0] ?? '', 100n), row(TREASURY, 5n)],
        postTokens: [row(EXCHANGE_WALLETS[0] ?? '', 60n), row(TREASURY, 45n)],
      },
      { type: 'held', reason: 'sender_is_exchange' },
    ],
    [
      'an account closed and created again for another token at the same address',
      {
        preTokens: [row(SENDER, 100n), row(TREASURY, 5n), row(OTHER, 1n, { account: VAULT })],
        postTokens: [
          row(SENDER, 60n),
          row(TREASURY, 45n),
          row(OTHER, 1n, { account: VAULT, mint: recorded.mints.USDT }),
        ],
      },
      { type: 'held', reason: 'several_senders' },
    ],
    [
      'a swap in which a pool pays the treasury',
      {
        preTokens: [row(VAULT, 100n), row(TREASURY, 5n)],
        postTokens: [row(VAULT, 60n), row(TREASURY, 45n)],
      },
      { type: 'held', reason: 'sender_off_curve' },
    ],
    [
      'a failed transaction whose balances look like a deposit',
      { failed: true },
      { type: 'refused', reason: 'transaction_failed' },
    ],
    ['no token rows', { preTokens: [], postTokens: [] }, { type: 'refused', reason: 'no_credit' }],
    [
      "a treasury's account under another program",
      {
        preTokens: [row(SENDER, 100n), row(TREASURY, 5n, { program: TOKEN_2022_PROGRAM })],
        postTokens: [row(SENDER, 60n), row(TREASURY, 45n, { program: TOKEN_2022_PROGRAM })],
      },
      { type: 'held', reason: 'treasury_account_changed' },
    ],
  ])('%s', (_name, change, expected) => {
    expect(checkDeposit(transfer(change), terms)).toMatchObject(expected);
  });

  it('the list of exchanges has no duplicate addresses', () => {
    expect(EXCHANGE_WALLETS.every(isAddress)).toBe(true);
    expect(new Set(EXCHANGE_WALLETS).size).toBe(EXCHANGE_WALLETS.length);
  });
});

const MUTATIONS = 5_000;

/** Generates the same numbers on every run. */
function createDice(seed: number) {
  let x = seed;
  const word = (): number => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
  return {
    word,
    below: (bound: number) => word() % bound,
    pick: <T>(list: readonly T[]) => list[word() % list.length] as T,
  };
}
type Dice = ReturnType<typeof createDice>;

type Case = {
  readonly transaction: DepositTransaction;
  readonly terms: DepositTerms;
  readonly sender: string;
};
type Rows = readonly TokenBalanceRow[];

const both = (
  t: DepositTransaction,
  change: (rows: Rows, when: 'pre' | 'post') => Rows,
): DepositTransaction => ({
  ...t,
  preTokens: change(t.preTokens ?? [], 'pre'),
  postTokens: change(t.postTokens ?? [], 'post'),
});
/** Points of the curve that no other row uses. Finding one is slow, so all cases share a few hundred. */
const THIRD_PARTIES = (() => {
  const dice = createDice(0x57a);
  const found: string[] = [];
  while (found.length < 300) {
    const address = encodeBase58(Uint8Array.from({ length: 32 }, () => dice.below(256)));
    if (isOnCurve(address)) found.push(address);
  }
  return found;
})();
const thirdParty = (dice: Dice): string => dice.pick(THIRD_PARTIES);
let accounts = 0;
/** An account address that no other row has. */
const freshAccount = (): string => {
  accounts += 1;
  return encodeBase58(new Uint8Array(new Uint32Array(8).fill(accounts).buffer));
};
const shuffled = (rows: Rows, dice: Dice): Rows =>
  rows
    .map((value) => ({ value, at: dice.word() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
const isTreasurys = (each: Case, asset: DepositAsset) => (r: TokenBalanceRow) =>
  r.account === each.terms.accounts[asset];
const assetOf = (each: Case): DepositAsset => {
  const change = (asset: DepositAsset) => {
    const atoms = (rows: Rows | null) => rows?.find(isTreasurys(each, asset))?.atoms ?? 0n;
    return atoms(each.transaction.postTokens) - atoms(each.transaction.preTokens);
  };
  return change('USDC') > 0n ? 'USDC' : 'USDT';
};

/** Changes that must not change the verdict. */
const NEUTRAL: readonly ((each: Case, dice: Dice) => DepositTransaction)[] = [
  ({ transaction }, dice) => both(transaction, (rows) => shuffled(rows, dice)),
  ({ transaction }, dice) => ({ ...transaction, signers: [...transaction.signers, thirdParty(dice)] }),
  ({ transaction }, dice) => ({ ...transaction, slot: BigInt(dice.word()) }),
  ({ transaction }, dice) => {
    const mint = thirdParty(dice);
    const [from, to] = [thirdParty(dice), thirdParty(dice)];
    const account = () => ({ mint, account: freshAccount() });
    const source = account();
    return both(transaction, (rows, when) =>
      when === 'pre'
        ? [...rows, row(from, 50n, source)]
        : [...rows, row(from, 10n, source), row(to, 40n, account())],
    );
  },
  (each, dice) => {
    const to = thirdParty(dice);
    const mint = each.terms.mints[assetOf(each)];
    const gift = row(to, 3n, { mint, account: freshAccount() });
    const isSource = (r: TokenBalanceRow) => r.owner === each.sender && r.mint === mint;
    // The sender must also have had the amount that the third party receives.
    let given = false;
    return both(each.transaction, (rows, when) =>
      when === 'post'
        ? [...rows, gift]
        : rows.map((r) => {
            if (given || !isSource(r)) return r;
            given = true;
            return { ...r, atoms: r.atoms + 3n };
          }),
    );
  },
];

type Mutation = {
  readonly name: string;
  readonly change: (each: Case, dice: Dice) => Partial<Case> | undefined;
  readonly expected: string;
};
const tx = (transaction: DepositTransaction): Partial<Case> => ({ transaction });
const mapRows = (each: Case, change: (r: TokenBalanceRow) => TokenBalanceRow): Partial<Case> =>
  tx(both(each.transaction, (rows) => rows.map(change)));

/** The treasury has atoms of the other asset only before, or only after the transaction. */
function withOther(each: Case, when: 'preTokens' | 'postTokens'): Partial<Case> {
  const other = assetOf(each) === 'USDC' ? 'USDT' : 'USDC';
  const { treasury, mints, accounts: own } = each.terms;
  const more = row(treasury, 7n, { mint: mints[other], account: own[other] });
  const others = (rows: Rows | null) => (rows ?? []).filter((r) => r.account !== more.account);
  const { preTokens, postTokens } = each.transaction;
  const rest = { preTokens: others(preTokens), postTokens: others(postTokens) };
  return tx({ ...each.transaction, ...rest, [when]: [...rest[when], more] });
}

/** One defect of a good deposit, and the verdict that it must cause. */
const HARMFUL: readonly Mutation[] = [
  {
    name: 'failed',
    expected: 'transaction_failed',
    change: ({ transaction }) => tx({ ...transaction, failed: true }),
  },
  {
    name: 'no time',
    expected: 'no_block_time',
    change: ({ transaction }) => tx({ ...transaction, blockTime: null }),
  },
  {
    name: 'no balances',
    expected: 'no_token_balances',
    change: ({ transaction }, dice) => tx({ ...transaction, [dice.pick(['preTokens', 'postTokens'])]: null }),
  },
  {
    name: 'sender does not sign',
    expected: 'sender_not_signer',
    change: ({ transaction, sender }, dice) =>
      tx({ ...transaction, signers: transaction.signers.map((s) => (s === sender ? thirdParty(dice) : s)) }),
  },
  {
    name: 'treasury or reserve signs',
    expected: 'own_movement',
    change: ({ transaction, terms: t }, dice) =>
      tx({ ...transaction, signers: [...transaction.signers, dice.pick([t.treasury, t.reserve])] }),
  },
  {
    name: 'sender is the reserve',
    expected: 'own_movement',
    change: (each) => ({ terms: { ...each.terms, reserve: each.sender } }),
  },
  {
    name: 'sender is held',
    expected: 'sender_is_exchange',
    change: (each) => ({ terms: { ...each.terms, heldSenders: new Set([each.sender]) } }),
  },
  {
    name: 'sender is off the curve',
    expected: 'sender_off_curve',
    change: (each) => mapRows(each, (r) => (r.owner === each.sender ? { ...r, owner: VAULT } : r)),
  },
  {
    name: 'another account',
    expected: 'no_credit',
    change: (each) => {
      const account = freshAccount();
      return mapRows(each, (r) => (isTreasurys(each, assetOf(each))(r) ? { ...r, account } : r));
    },
  },
  {
    name: 'another treasury',
    expected: 'no_credit',
    change: (each, dice) => ({ terms: depositTerms({ ...each.terms, treasury: thirdParty(dice) }) }),
  },
  {
    name: 'other mints',
    expected: 'no_credit',
    change: (each, dice) => ({
      terms: depositTerms({ ...each.terms, mints: { USDC: thirdParty(dice), USDT: thirdParty(dice) } }),
    }),
  },
  {
    name: "the treasury's account has another owner",
    expected: 'treasury_account_changed',
    change: (each, dice) => {
      const owner = thirdParty(dice);
      return mapRows(each, (r) => (isTreasurys(each, assetOf(each))(r) ? { ...r, owner } : r));
    },
  },
  {
    name: "the treasury's account is of another program",
    expected: 'treasury_account_changed',
    change: (each) =>
      mapRows(each, (r) => (isTreasurys(each, assetOf(each))(r) ? { ...r, program: TOKEN_2022_PROGRAM } : r)),
  },
  {
    name: 'nothing stays',
    expected: 'no_credit',
    change: (each, dice) => {
      const isCredit = isTreasurys(each, assetOf(each));
      const before = each.transaction.preTokens?.find(isCredit)?.atoms ?? 0n;
      const less = before > 0n ? BigInt(dice.below(2)) : 0n;
      const post = (each.transaction.postTokens ?? []).map((r) =>
        isCredit(r) ? { ...r, atoms: before - less } : r,
      );
      return tx({ ...each.transaction, postTokens: post });
    },
  },
  {
    name: 'a second sender',
    expected: 'several_senders',
    change: (each, dice) => {
      const second = thirdParty(dice);
      const mint = each.terms.mints[assetOf(each)];
      const more = { mint, account: freshAccount() };
      return tx(
        both(each.transaction, (rows, when) => [...rows, row(second, when === 'pre' ? 9n : 8n, more)]),
      );
    },
  },
  {
    name: 'a part has no sender',
    expected: 'credit_exceeds_debit',
    change: (each) => {
      const isCredit = isTreasurys(each, assetOf(each));
      const post = (each.transaction.postTokens ?? []).map((r) =>
        isCredit(r) ? { ...r, atoms: r.atoms + 10n ** 15n } : r,
      );
      return tx({ ...each.transaction, postTokens: post });
    },
  },
  {
    name: 'it has no sender',
    expected: 'no_sender',
    change: (each) => {
      const keep = (rows: Rows | null) => (rows ?? []).filter(isTreasurys(each, assetOf(each)));
      const { preTokens, postTokens } = each.transaction;
      return tx({ ...each.transaction, preTokens: keep(preTokens), postTokens: keep(postTokens) });
    },
  },
  {
    name: 'both assets',
    expected: 'both_assets',
    change: (each) => withOther(each, 'postTokens'),
  },
  {
    name: 'the other asset goes out',
    expected: 'own_movement',
    change: (each) => withOther(each, 'preTokens'),
  },
  {
    name: 'an account changes its owner',
    expected: 'account_owner_changed',
    change: (each, dice) => {
      const mint = each.terms.mints[assetOf(each)];
      const account = freshAccount();
      const owners = { pre: each.sender, post: thirdParty(dice) };
      return tx(both(each.transaction, (rows, when) => [...rows, row(owners[when], 4n, { mint, account })]));
    },
  },
  {
    name: 'a row twice',
    expected: 'bad_balances',
    change: ({ transaction }, dice) =>
      tx(
        both(transaction, (rows, when) =>
          when === 'post' && rows.length > 0 ? [...rows, dice.pick(rows)] : rows,
        ),
      ),
  },
  {
    name: 'an owner or a program is missing',
    expected: 'bad_balances',
    change: ({ transaction }, dice) => {
      const at = dice.word();
      const hole = dice.pick([{ owner: null }, { program: null }]);
      const dig = (rows: Rows) =>
        rows.map((r, index) => (index === at % rows.length ? { ...r, ...hole } : r));
      // The program is the account's, named by its first row.
      return tx(both(transaction, (rows, when) => (when === 'pre' && rows.length > 0 ? dig(rows) : rows)));
    },
  },
];

const labelOf = (verdict: DepositVerdict): string =>
  verdict.type === 'deposit' ? 'deposit' : verdict.reason;

describe(`${MUTATIONS.toLocaleString('en')} mutations of good deposits`, () => {
  it('every mutation of a good deposit gets the right verdict', async () => {
    const dice = createDice(0xdeb);
    const good: Case[] = [];
    for (const scene of recorded.scenes)
      if (scene.sender)
        good.push({ transaction: await read(scene), terms: termsOf(scene), sender: scene.sender });
    expect(good.length).toBeGreaterThanOrEqual(12);

    const verdicts = new Map(good.map((each) => [each, checkDeposit(each.transaction, each.terms)]));
    const wrong: string[] = [];
    const seen = new Map<string, number>();
    for (let at = 0; at < MUTATIONS; at += 1) {
      let each = dice.pick(good);
      const credited = verdicts.get(each);
      for (let more = dice.below(4); more > 0; more -= 1)
        each = { ...each, transaction: dice.pick(NEUTRAL)(each, dice) };
      const neutral = checkDeposit(each.transaction, each.terms);
      const same = { ...credited, slot: each.transaction.slot };
      if (labelOf(neutral) !== 'deposit') wrong.push(`${at}: neutral became ${labelOf(neutral)}`);
      else expect(neutral).toEqual(same);

      const harm = dice.pick(HARMFUL);
      const mutated = { ...each, ...harm.change(each, dice) };
      const verdict = labelOf(checkDeposit(mutated.transaction, mutated.terms));
      seen.set(harm.name, (seen.get(harm.name) ?? 0) + 1);
      if (verdict !== harm.expected) wrong.push(`${at}: ${harm.name} became ${verdict}`);
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(seen.size).toBe(HARMFUL.length);
  });

  it('no mutation of a good deposit gives a credit that the balances do not show', async () => {
    const dice = createDice(0xf00d);
    const scenes = await Promise.all(
      recorded.scenes.map(async (scene) => ({ transaction: await read(scene), terms: termsOf(scene) })),
    );
    let deposits = 0;
    for (let at = 0; at < MUTATIONS; at += 1) {
      const { transaction, terms: t } = dice.pick(scenes);
      const names = [t.treasury, t.reserve, ...transaction.signers, thirdParty(dice)];
      const garbled = both(transaction, (rows) =>
        rows.map((r) =>
          dice.below(6) > 0
            ? r
            : {
                ...r,
                ...dice.pick<Partial<TokenBalanceRow>>([
                  { atoms: BigInt(dice.word()) },
                  { owner: dice.pick(names) },
                  { mint: dice.pick(Object.values(t.mints)) },
                  { account: dice.pick(Object.values(t.accounts)) },
                ]),
              },
        ),
      );
      const verdict = checkDeposit(garbled, t);
      if (verdict.type !== 'deposit') continue;
      deposits += 1;
      const mint = t.mints[verdict.asset];
      const held = (rows: Rows | null, owner: string) =>
        (rows ?? [])
          .filter((r) => r.mint === mint && r.owner === owner)
          .reduce((sum, r) => sum + r.atoms, 0n);
      const account = t.accounts[verdict.asset];
      const atoms = (rows: Rows | null) => rows?.find((r) => r.account === account)?.atoms ?? 0n;
      expect(verdict.creditedAtoms).toBe(atoms(garbled.postTokens) - atoms(garbled.preTokens));
      expect(garbled.signers).toContain(verdict.sender);
      expect(
        held(garbled.preTokens, verdict.sender) - held(garbled.postTokens, verdict.sender),
      ).toBeGreaterThanOrEqual(verdict.creditedAtoms);
      expect([t.treasury, t.reserve]).not.toContain(verdict.sender);
    }
    expect(deposits).toBeGreaterThan(100);
  });
});
