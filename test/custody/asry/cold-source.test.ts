/** Rewards from an account that a cold key owns, with the reserve's key as its delegate. */
import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { createAsryPorts } from '../../../src/custody/asry/context.ts';
import { createPayoutKind } from '../../../src/custody/asry/payout.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { decodeMessage } from '../../chain/solana/decode-message.ts';
import { nodesOver } from '../../kit/solana-node.ts';
import { mintAccount, tokenData } from '../../kit/token-accounts.ts';

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill));
const [RESERVE, MINT, SOURCE, COLD, RECEIVER] = [key(3), key(4), key(5), key(6), key(7)];
/** Wallets that open and close their token accounts. */
const TOGGLING = [key(11), key(12)] as const;

const tokenAccount = (owner: string, amount: bigint, delegate: string | null, delegated: bigint) => ({
  ...mintAccount({}),
  data: tokenData([MINT, owner], amount, delegate, delegated),
});

/** The ports over three nodes. Each shows an allowance of the source account for the reserve, in this order. @param missing an account that does not exist */
function portsWith(
  allowance: bigint,
  delegate: string | null = RESERVE,
  others = [allowance, allowance],
  missing = '',
) {
  const ataOf = (owner: string) => findAta(owner, MINT, TOKEN_PROGRAM);
  const chains = [allowance, ...others].map((shown, at) => ({
    newest: 5,
    accounts: {
      [MINT]: mintAccount({ supply: 1_000n }),
      [SOURCE]: tokenAccount(COLD, 1_000n, delegate, shown),
      [ataOf(RESERVE)]: tokenAccount(RESERVE, 777n, null, 0n),
      [ataOf(RECEIVER)]: tokenAccount(RECEIVER, 0n, null, 0n),
      // Each node is at another slot: the first shows neither account, the second the first, the third the second.
      ...Object.fromEntries(
        TOGGLING.filter((_, turn) => turn + 1 === at).map((owner) => [
          ataOf(owner),
          tokenAccount(owner, 0n, null, 0n),
        ]),
      ),
      [missing]: undefined,
    },
    blockhashAt: () => ({ blockhash: key(9), lastValidBlockHeight: 155 }),
  }));
  const nodes = nodesOver(chains);
  const view = new SolanaView({ nodes, reserveAddress: RESERVE, now: () => 0, within, log: () => undefined });
  return createAsryPorts(view, {
    mint: MINT,
    source: SOURCE,
    terms: { reserve: RESERVE } as never,
    program: {} as never,
  });
}

const payout = (atoms: bigint) =>
  plannedOperation({
    signer: RESERVE,
    id: 'asry:deposit:1',
    kind: 'asry',
    amount: lamports(0n),
    reserved: lamports(0n),
    plan: {
      deposit: 'deposit',
      part: 1,
      receiver: RECEIVER,
      atoms: String(atoms),
      mint: MINT,
      program: TOKEN_PROGRAM,
      decimals: 0,
      createAccount: false,
      source: SOURCE,
    },
    now: 0,
  });

it('the available ASRY of a cold source account is the allowance of the reserve, not a balance', async () => {
  expect((await portsWith(50n).readAccounts([RECEIVER]))[0]?.reserveAtoms).toBe(50n);
  expect((await portsWith(50n, COLD).readAccounts([RECEIVER]))[0]?.reserveAtoms).toBe(0n);
});

it.each([
  [MINT, { program: null, decimals: -1, accountOwner: null, reserveAtoms: 0n }],
  [SOURCE, { program: TOKEN_PROGRAM, decimals: 0, accountOwner: RECEIVER, reserveAtoms: 0n }],
])(
  'no ASRY is available while the mint or the cold source account is missing: %s',
  async (missing, shown) => {
    const ports = portsWith(50n, RESERVE, [50n, 50n], missing);
    expect(await ports.readAccounts([RECEIVER])).toEqual([shown]);
  },
);

it('one node that responds first with a false allowance neither lowers nor raises the available ASRY', async () => {
  for (const lie of [0n, 500n])
    expect((await portsWith(lie, RESERVE, [50n, 50n]).readAccounts([RECEIVER]))[0]?.reserveAtoms).toBe(50n);
});

it('recipients who open and close their accounts do not hide other recipients of the same read', async () => {
  const [first, second] = TOGGLING;
  const read = await portsWith(50n).readAccounts([first, RECEIVER, second]);
  expect(read.map((accounts) => accounts?.accountOwner)).toEqual([null, RECEIVER, null]);
});

it('pays from a cold source account up to the allowance; the reserve is the only signer', async () => {
  const prepared = await createPayoutKind(portsWith(50n)).prepare(payout(50n));
  if (!prepared.ok) throw new Error('the payout was refused');
  const { instructions } = decodeMessage(prepared.message);
  const transfer = instructions.find(({ program }) => program === TOKEN_PROGRAM);
  expect(transfer?.accounts).toEqual([SOURCE, MINT, findAta(RECEIVER, MINT, TOKEN_PROGRAM), RESERVE]);
});

it('refuses a payout above the allowance of the cold source account', async () => {
  const refused = { ok: false, reason: 'reserve_short_of_asry' };
  expect(await createPayoutKind(portsWith(50n)).prepare(payout(51n))).toEqual(refused);
});
