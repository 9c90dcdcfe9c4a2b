import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeBase58, isAddress, isOnCurve } from '../../../src/chain/solana/address.ts';
import {
  checkDeposit,
  type DepositAsset,
  type DepositTerms,
  type DepositTransaction,
  depositTerms,
  EXCHANGE_WALLETS,
  EXCHANGE_WALLETS_AS_OF,
  type TokenBalanceRow,
} from '../../../src/chain/solana/deposit.ts';
import { programAddress } from '../../../src/chain/solana/program-address.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { eachScene } from '../../kit/scenes.ts';
import { nodesOver } from '../../kit/solana-node.ts';
import { createRandom } from '../../simulator/random.ts';

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
  const [node] = nodesOver([{ newest: 0, methods: { getTransaction: () => scene.transaction } }]);
  const found = await node?.transaction(scene.transaction.transaction.signatures[0] ?? '', 'finalized');
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

it.each(recorded.scenes.map((scene) => [scene.name, scene] as const))(
  'checkDeposit judges a recorded transaction: %s',
  async (_name, scene) => {
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
  },
);

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
  ...{ signature: encodeBase58(new Uint8Array(64).fill(9)), slot: 100n, blockTime: 1_800_000_000 },
  ...{ failed: false, signers: [SENDER], preTokens: [row(SENDER, 100n), row(TREASURY, 5n)] },
  ...{ postTokens: [row(SENDER, 60n), row(TREASURY, 45n)] },
  ...change,
});

const EXCHANGE = EXCHANGE_WALLETS[0] ?? '';
const OWNERS: Readonly<Record<string, string>> = {
  ...{ sender: SENDER, other: OTHER, treasury: TREASURY, vault: VAULT, exchange: EXCHANGE },
};
/** What a scene may say of a token balance after its owner and its atoms. */
const MARKS: Readonly<Record<string, Partial<TokenBalanceRow>>> = {
  'no-program': { program: null },
  '2022': { program: TOKEN_2022_PROGRAM },
  nowhere: { account: '' },
  'at-vault': { account: VAULT },
  usdt: { account: VAULT, mint: recorded.mints.USDT },
};

/** Token balances as a scene writes them: `owner atoms [mark]`, `-` for none and `?` for unknown ones. */
function balancesOf(text: string): readonly TokenBalanceRow[] | null {
  if (text === '?') return null;
  const listed = text === '-' ? [] : text.split(', ');
  return listed.map((each) => {
    const [owner = '', atoms = '', mark = ''] = each.split(' ');
    return row(OWNERS[owner] ?? null, BigInt(atoms), MARKS[mark]);
  });
}

eachScene(`
  a deposit                                         |           | sender 100, treasury 5            | sender 60, treasury 45               | deposit
  no balances at all                                |           | ?                                 | ?                                    | unverifiable no_token_balances
  only later balances                               |           | ?                                 | sender 60, treasury 45               | unverifiable no_token_balances
  only earlier balances                             |           | sender 100, treasury 5            | ?                                    | unverifiable no_token_balances
  no block time                                     | undated   | sender 100, treasury 5            | sender 60, treasury 45               | unverifiable no_block_time
  no owner of an account, as older nodes return it  |           | sender 100, treasury 5            | nobody 60, treasury 45               | unverifiable bad_balances
  an account row that lacks its token program       |           | sender 100 no-program, treasury 5 | sender 60, treasury 45               | unverifiable bad_balances
  one account twice                                 |           | sender 100, treasury 5            | sender 60, treasury 45, treasury 45  | unverifiable bad_balances
  an account index out of range                     |           | sender 100, treasury 5            | sender 60, treasury 45 nowhere       | unverifiable bad_balances
  an exchange on the list                           | exchange  | exchange 100, treasury 5          | exchange 60, treasury 45             | held sender_is_exchange
  an account created again for another token        |           | sender 100, treasury 5, other 1 at-vault | sender 60, treasury 45, other 1 usdt | held several_senders
  a swap in which a pool pays the treasury          |           | vault 100, treasury 5             | vault 60, treasury 45                | held sender_off_curve
  a failure whose balances look like a deposit      | failed    | sender 100, treasury 5            | sender 60, treasury 45               | refused transaction_failed
  no token rows                                     |           | -                                 | -                                    | refused no_credit
  a treasury's account under another program        |           | sender 100, treasury 5 2022       | sender 60, treasury 45 2022          | held treasury_account_changed
`)(
  'checkDeposit judges another response of a node: %s',
  (_name, what, before = '', after = '', verdict = '') => {
    const shown = transfer({
      preTokens: balancesOf(before),
      postTokens: balancesOf(after),
      ...(what === 'failed' && { failed: true }),
      ...(what === 'undated' && { blockTime: null }),
      ...(what === 'exchange' && { signers: [EXCHANGE] }),
    });
    const [type, reason] = verdict.split(' ');
    expect(checkDeposit(shown, terms)).toMatchObject(
      type === 'deposit' ? { type, creditedAtoms: 40n, sender: SENDER } : { type, reason },
    );
  },
);

it('the list of exchanges has no duplicate addresses', () => {
  expect(EXCHANGE_WALLETS.every(isAddress)).toBe(true);
  expect(new Set(EXCHANGE_WALLETS).size).toBe(EXCHANGE_WALLETS.length);
});

const MUTATIONS = 5_000;

type Rows = readonly TokenBalanceRow[];

/** Points of the curve. */
const THIRD_PARTIES = Array.from({ length: 20 }, (_, at) => encodeBase58(curvePoint(at + 10)));

it('a deposit with randomly changed token balance rows credits only the amount that the balances show', async () => {
  const random = createRandom(0xf00d);
  const scenes = await Promise.all(
    recorded.scenes.map(async (scene) => ({ transaction: await read(scene), terms: termsOf(scene) })),
  );
  let deposits = 0;
  for (let at = 0; at < MUTATIONS; at += 1) {
    const { transaction, terms: t } = random.pick(scenes);
    const names = [t.treasury, t.reserve, ...transaction.signers, random.pick(THIRD_PARTIES)];
    const garble = (rows: Rows | null): Rows =>
      (rows ?? []).map((r) => {
        if (!random.chance(1 / 6)) return r;
        const change = random.pick<Partial<TokenBalanceRow>>([
          { atoms: BigInt(random.between(0, 2 ** 32 - 1)) },
          { owner: random.pick(names) },
          { mint: random.pick(Object.values(t.mints)) },
          { account: random.pick(Object.values(t.accounts)) },
        ]);
        return { ...r, ...change };
      });
    const { preTokens, postTokens } = transaction;
    const garbled = { ...transaction, preTokens: garble(preTokens), postTokens: garble(postTokens) };
    const verdict = checkDeposit(garbled, t);
    if (verdict.type !== 'deposit') continue;
    deposits += 1;
    const mint = t.mints[verdict.asset];
    const held = (rows: Rows | null, owner: string) =>
      (rows ?? []).filter((r) => r.mint === mint && r.owner === owner).reduce((sum, r) => sum + r.atoms, 0n);
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

/** Days from the last comparison of the list to the newest release; 0 before the first one. */
const releasedAfter = (changelog: string): number => {
  const released = /^## \[\d[^\]]*\] - (\S+)$/m.exec(changelog)?.[1] ?? EXCHANGE_WALLETS_AS_OF;
  return (Date.parse(released) - Date.parse(EXCHANGE_WALLETS_AS_OF)) / 86_400_000;
};

it(`the list of exchange wallets, dated ${EXCHANGE_WALLETS_AS_OF}, is at most half a year old at a release`, () => {
  expect(releasedAfter(readFileSync('CHANGELOG.md', 'utf8'))).toBeLessThan(183);
});
