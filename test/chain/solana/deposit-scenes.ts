/**
 * Transactions that reach, or only seem to reach, the treasury, made on the test chain: each row of the credit rules
 * that a chain can produce. Each scene states its expected verdict.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { AccountRole, address, type Instruction, type KeyPairSigner } from '@solana/web3.js';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getApproveInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMultisig2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import { isOnCurve } from '../../../src/chain/solana/address.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { createSolanaKey, type SolanaKey } from '../../world/keys.ts';
import { buildTransaction, landTransaction } from '../../world/solana-wallet.ts';
import type { SolanaWorld } from '../../world/solana-world.ts';
import { createMint } from '../../world/test-tokens.ts';
import { forwarderElf, vaultElf } from './forwarder-program.ts';

const DOLLAR = 1_000_000n;
const ACCOUNT_RENT = 2_039_280n;
const MULTISIG_RENT = (355n + 128n) * 6_960n;

export type Asset = 'usdc' | 'usdt';

export type Stage = ReturnType<typeof createStage>;

/** The tools of a scene: funded users and the instructions of a wallet. */
export function createStage(world: SolanaWorld) {
  const { ledger, bank } = world;

  const account = (owner: string, asset: Asset) => findAta(owner, world.mints[asset].mint, TOKEN_PROGRAM);

  async function land(payer: KeyPairSigner, ...instructions: Instruction[]): Promise<string> {
    return (await landTransaction(ledger, payer, instructions)).signature;
  }

  const openAccount = (owner: string, asset: Asset, payer: KeyPairSigner = bank.signer): Instruction =>
    getCreateAssociatedTokenIdempotentInstruction({
      payer,
      owner: address(owner),
      mint: address(world.mints[asset].mint),
      ata: address(account(owner, asset)),
    });

  /** A wallet with SOL and dollars of both kinds. */
  async function user(dollars = 1_000n): Promise<SolanaKey> {
    const key = await createSolanaKey();
    await world.faucet(key.address, 'sol', 1_000_000_000n);
    await world.faucet(key.address, 'usdc', dollars * DOLLAR);
    await world.faucet(key.address, 'usdt', dollars * DOLLAR);
    return key;
  }

  /** A treasury of its own, with its accounts unless it should have none yet. */
  async function treasury(open = true): Promise<SolanaKey> {
    const key = await createSolanaKey();
    await world.faucet(key.address, 'sol', 1_000_000_000n);
    if (open) await land(bank.signer, openAccount(key.address, 'usdc'), openAccount(key.address, 'usdt'));
    return key;
  }

  const move = (
    asset: Asset,
    source: string,
    authority: KeyPairSigner,
    to: string,
    amount: bigint,
  ): Instruction =>
    getTransferInstruction({
      source: address(source),
      destination: address(account(to, asset)),
      authority,
      amount,
    });

  /** A transfer to this token account. */
  const payInto = (to: string, from: SolanaKey, amount: bigint): Instruction =>
    getTransferInstruction({
      source: address(account(from.address, 'usdc')),
      destination: address(to),
      authority: from.signer,
      amount,
    });

  const pay = (from: SolanaKey, to: string, amount: bigint, asset: Asset = 'usdc'): Instruction =>
    move(asset, account(from.address, asset), from.signer, to, amount);

  const payChecked = (from: SolanaKey, to: string, amount: bigint, asset: Asset = 'usdc'): Instruction =>
    getTransferCheckedInstruction({
      source: address(account(from.address, asset)),
      mint: address(world.mints[asset].mint),
      destination: address(account(to, asset)),
      authority: from.signer,
      amount,
      decimals: world.mints[asset].decimals,
    });

  /** A token account that is not the associated one. */
  async function extraAccount(
    owner: string,
    asset: Asset,
    payer: SolanaKey,
  ): Promise<{ at: KeyPairSigner; open: Instruction[] }> {
    const at = (await createSolanaKey()).signer;
    return {
      at,
      open: [
        getCreateAccountInstruction({
          payer: payer.signer,
          newAccount: at,
          lamports: ACCOUNT_RENT,
          space: 165,
          programAddress: address(TOKEN_PROGRAM),
        }),
        getInitializeAccount3Instruction({
          account: at.address,
          mint: address(world.mints[asset].mint),
          owner: address(owner),
        }),
      ],
    };
  }

  const approve = (owner: SolanaKey, delegate: string, amount: bigint, asset: Asset = 'usdc'): Instruction =>
    getApproveInstruction({
      source: address(account(owner.address, asset)),
      delegate: address(delegate),
      owner: owner.signer,
      amount,
    });

  const mint = (to: string, amount: bigint, asset: Asset = 'usdc'): Instruction =>
    getMintToInstruction({
      mint: address(world.mints[asset].mint),
      token: address(account(to, asset)),
      mintAuthority: world.mints[asset].mintAuthority,
      amount,
    });

  /** Deploys a program and returns its address. */
  async function program(elf: (id: string) => Uint8Array): Promise<string> {
    const id = (await createSolanaKey()).address;
    const state = {
      lamports: 1_000_000_000,
      data: Buffer.from(elf(id)).toString('hex'),
      owner: 'BPFLoader2111111111111111111111111111111111',
      executable: true,
      rentEpoch: 0,
    };
    await ledger.surfpool.get('surfnet_setAccount', [id, state]);
    return id;
  }

  const forwarder = () => program(() => forwarderElf());

  /** A transfer by a call of a program (CPI). `signs` is null where the program signs for the source. */
  function inner(
    id: string,
    source: string,
    to: string,
    signs: SolanaKey | null,
    authority: string,
    amount: bigint,
    asset: Asset = 'usdc',
  ): Instruction {
    const data = new Uint8Array(9);
    data[0] = 3;
    new DataView(data.buffer).setBigUint64(1, amount, true);
    const who = address(authority);
    return {
      programAddress: address(id),
      data,
      accounts: [
        { address: address(source), role: AccountRole.WRITABLE },
        { address: address(account(to, asset)), role: AccountRole.WRITABLE },
        signs === null
          ? { address: who, role: AccountRole.READONLY }
          : ({ address: who, role: AccountRole.READONLY_SIGNER, signer: signs.signer } as never),
        { address: address(TOKEN_PROGRAM), role: AccountRole.READONLY },
      ],
    };
  }

  return {
    world,
    account,
    land,
    openAccount,
    user,
    treasury,
    move,
    payInto,
    pay,
    payChecked,
    extraAccount,
    approve,
    mint,
    program,
    forwarder,
    inner,
  };
}

/** The address that a program derives from one byte, and that byte. */
function vaultOf(program: string): { authority: string; bump: number } {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const bytes = concatBytes(
      Uint8Array.of(bump),
      base58.decode(program),
      utf8ToBytes('ProgramDerivedAddress'),
    );
    const authority = base58.encode(sha256(bytes));
    if (!isOnCurve(authority)) return { authority, bump };
  }
  throw new Error('no vault');
}

const handOver = (account: string, owner: SolanaKey, next: SolanaKey): Instruction =>
  getSetAuthorityInstruction({
    owned: address(account),
    owner: owner.signer,
    authorityType: AuthorityType.AccountOwner,
    newAuthority: next.signer.address,
  });

/** Two funded users and a treasury. */
type Cast = { readonly from: SolanaKey; readonly other: SolanaKey; readonly to: SolanaKey };

type DepositScene = {
  readonly name: string;
  /** Dollars credited, or why there are none. */
  readonly expected:
    | { readonly usdc: bigint }
    | { readonly usdt: bigint }
    | { readonly refused: string }
    | { readonly held: string };
  /** The treasury has no token accounts yet. */
  readonly hasNoAccounts?: true;
  /** `from` is the hot wallet of an exchange. */
  readonly isExchange?: true;
  /** Lands the transaction; of a deposit, `from` is the sender. Returns its signature. */
  play(stage: Stage, cast: Cast): Promise<string>;
};

/** Plays a scene with users and a treasury of its own. */
export async function playScene(stage: Stage, scene: DepositScene) {
  const [from, other] = [await stage.user(), await stage.user()];
  const to = await stage.treasury(!scene.hasNoAccounts);
  const signature = await scene.play(stage, { from, other, to });
  const isDeposit = 'usdc' in scene.expected || 'usdt' in scene.expected;
  return {
    signature,
    treasury: to.address,
    sender: isDeposit ? from.address : null,
    held: scene.isExchange ? [from.address] : [],
  };
}

const usdc = (dollars: bigint) => ({ usdc: dollars * DOLLAR });

export const DEPOSIT_SCENES: readonly DepositScene[] = [
  {
    name: 'a plain transfer',
    expected: usdc(12n),
    play: (s, { from, to }) => s.land(from.signer, s.pay(from, to.address, 12n * DOLLAR)),
  },
  {
    name: 'a checked transfer',
    expected: { usdt: 13n * DOLLAR },
    play: (s, { from, to }) => s.land(from.signer, s.payChecked(from, to.address, 13n * DOLLAR, 'usdt')),
  },
  {
    name: 'a transfer that a program makes for its signer',
    expected: usdc(14n),
    async play(s, { from, to }) {
      const id = await s.forwarder();
      return s.land(
        from.signer,
        s.inner(id, s.account(from.address, 'usdc'), to.address, from, from.address, 14n * DOLLAR),
      );
    },
  },
  {
    name: 'several transfers in one transaction',
    expected: usdc(6n),
    async play(s, { from, to }) {
      const parts = [1n, 2n, 3n].map((dollars) => s.pay(from, to.address, dollars * DOLLAR));
      return s.land(from.signer, ...parts);
    },
  },
  {
    name: 'two transfers in one batch instruction',
    expected: usdc(5n),
    async play(s, { from, to }) {
      const parts = [2n, 3n].map((dollars) => s.pay(from, to.address, dollars * DOLLAR));
      // Batch (255): of each instruction the number of its accounts, the length of its data, its data.
      const data = parts.flatMap(({ accounts = [], data: bytes = new Uint8Array() }) => [
        accounts.length,
        bytes.length,
        ...bytes,
      ]);
      const batch: Instruction = {
        programAddress: address(TOKEN_PROGRAM),
        accounts: parts.flatMap(({ accounts = [] }) => accounts),
        data: Uint8Array.of(255, ...data),
      };
      return s.land(from.signer, batch);
    },
  },
  {
    name: "a transfer that makes the treasury's account",
    expected: usdc(15n),
    hasNoAccounts: true,
    play: (s, { from, to }) =>
      s.land(
        from.signer,
        s.openAccount(to.address, 'usdc', from.signer),
        s.payChecked(from, to.address, 15n * DOLLAR),
      ),
  },
  {
    name: 'a transfer whose fee a relayer pays, signed by its owner',
    expected: usdc(16n),
    play: (s, { from, other: relayer, to }) => s.land(relayer.signer, s.pay(from, to.address, 16n * DOLLAR)),
  },
  {
    name: "a transfer from an account that is not the sender's associated one",
    expected: usdc(17n),
    async play(s, { from, to }) {
      const extra = await s.extraAccount(from.address, 'usdc', from);
      await s.land(from.signer, ...extra.open, s.payInto(extra.at.address, from, 20n * DOLLAR));
      return s.land(from.signer, s.move('usdc', extra.at.address, from.signer, to.address, 17n * DOLLAR));
    },
  },
  {
    name: 'a transfer through an account that the sender opens and closes in the same transaction',
    expected: usdc(18n),
    async play(s, { from, to }) {
      const extra = await s.extraAccount(from.address, 'usdc', from);
      return s.land(
        from.signer,
        ...extra.open,
        s.payInto(extra.at.address, from, 18n * DOLLAR),
        s.move('usdc', extra.at.address, from.signer, to.address, 18n * DOLLAR),
        getCloseAccountInstruction({
          account: extra.at.address,
          destination: from.signer.address,
          owner: from.signer,
        }),
      );
    },
  },
  {
    name: 'a transfer of everything that closes its source',
    expected: usdc(1_000n),
    play: (s, { from, to }) =>
      s.land(
        from.signer,
        s.pay(from, to.address, 1_000n * DOLLAR),
        getCloseAccountInstruction({
          account: address(s.account(from.address, 'usdc')),
          destination: from.signer.address,
          owner: from.signer,
        }),
      ),
  },
  {
    name: 'a payment to two receivers, one of them the treasury',
    expected: usdc(19n),
    play: (s, { from, other, to }) =>
      s.land(from.signer, s.pay(from, to.address, 19n * DOLLAR), s.pay(from, other.address, 5n * DOLLAR)),
  },
  {
    name: 'a transfer by a delegate that the owner signs as well',
    expected: usdc(20n),
    async play(s, { from, other: delegate, to }) {
      await s.land(from.signer, s.approve(from, delegate.address, 50n * DOLLAR));
      return s.land(
        from.signer,
        s.move('usdc', s.account(from.address, 'usdc'), delegate.signer, to.address, 20n * DOLLAR),
      );
    },
  },
  {
    name: 'more in than out again in one transaction, of which the rest counts',
    expected: usdc(7n),
    async play(s, { from, other: keeper, to }) {
      await s.land(to.signer, s.approve(to, keeper.address, 50n * DOLLAR));
      return s.land(
        from.signer,
        s.pay(from, to.address, 10n * DOLLAR),
        s.move('usdc', s.account(to.address, 'usdc'), keeper.signer, from.address, 3n * DOLLAR),
      );
    },
  },
  {
    name: 'a failed transfer',
    expected: { refused: 'transaction_failed' },
    async play(s, { from, to }) {
      const { ledger } = s.world;
      for (;;) {
        const { signature, wire } = await buildTransaction(ledger, from.signer, [
          s.pay(from, to.address, 1_000_000n * DOLLAR),
        ]);
        await ledger.send(wire, { skipPreflight: true });
        // A failing transaction may also never land, which this scene must avoid.
        if (ledger.transaction(signature)) return signature;
      }
    },
  },
  {
    name: 'a transfer to a different owner',
    expected: { refused: 'no_credit' },
    play: (s, { from, other }) => s.land(from.signer, s.pay(from, other.address, DOLLAR)),
  },
  {
    name: 'a transfer of SOL',
    expected: { refused: 'no_credit' },
    async play(s, { from, to }) {
      const sol = getTransferSolInstruction({
        source: from.signer,
        destination: to.signer.address,
        amount: DOLLAR,
      });
      return s.land(from.signer, sol);
    },
  },
  {
    name: 'a payment out of the treasury',
    expected: { refused: 'no_credit' },
    async play(s, { from: other, to }) {
      await s.land(s.world.bank.signer, s.mint(to.address, 5n * DOLLAR));
      return s.land(to.signer, s.pay(to, other.address, DOLLAR));
    },
  },
  {
    name: 'a token of another mint with six decimals',
    expected: { refused: 'no_credit' },
    async play(s, { from, to }) {
      const { ledger, bank } = s.world;
      const fake = await createMint(ledger, bank.signer, bank.signer, 6);
      const accounts = [from.address, to.address].map((owner) => findAta(owner, fake.mint, TOKEN_PROGRAM));
      const [source, destination] = accounts.map((each) => address(each));
      if (!source || !destination) throw new Error('no accounts');
      const open = [from, to].map((owner, at) =>
        getCreateAssociatedTokenIdempotentInstruction({
          payer: bank.signer,
          owner: owner.signer.address,
          mint: address(fake.mint),
          ata: address(accounts[at] ?? ''),
        }),
      );
      await s.land(
        bank.signer,
        ...open,
        getMintToInstruction({
          mint: address(fake.mint),
          token: source,
          mintAuthority: bank.signer,
          amount: 9n * DOLLAR,
        }),
      );
      return s.land(
        from.signer,
        getTransferInstruction({ source, destination, authority: from.signer, amount: 9n * DOLLAR }),
      );
    },
  },
  {
    name: 'a Token-2022 mint with six decimals',
    expected: { refused: 'no_credit' },
    async play(s, { from, to }) {
      const { bank } = s.world;
      const mint = (await createSolanaKey()).signer;
      const program = { programAddress: address(TOKEN_2022_PROGRAM) };
      const [source = '', destination = ''] = [from.address, to.address].map((owner) =>
        findAta(owner, mint.address, TOKEN_2022_PROGRAM),
      );
      const open = [
        [from, source],
        [to, destination],
      ] as const;
      const initialize: Instruction = {
        ...program,
        accounts: [{ address: mint.address, role: AccountRole.WRITABLE }],
        data: concatBytes(Uint8Array.of(20, 6), base58.decode(bank.address), Uint8Array.of(0)),
      };
      await s.land(
        bank.signer,
        getCreateAccountInstruction({
          payer: bank.signer,
          newAccount: mint,
          lamports: 1_461_600n,
          space: 82,
          ...program,
        }),
        initialize,
      );
      await s.land(
        bank.signer,
        ...open.map(([owner, ata]) =>
          getCreateAssociatedTokenIdempotentInstruction({
            payer: bank.signer,
            owner: owner.signer.address,
            mint: mint.address,
            ata: address(ata),
            tokenProgram: program.programAddress,
          }),
        ),
      );
      await s.land(
        bank.signer,
        getMintToInstruction(
          { mint: mint.address, token: address(source), mintAuthority: bank.signer, amount: 9n * DOLLAR },
          program,
        ),
      );
      return s.land(
        from.signer,
        getTransferCheckedInstruction(
          {
            source: address(source),
            mint: mint.address,
            destination: address(destination),
            authority: from.signer,
            amount: 9n * DOLLAR,
            decimals: 6,
          },
          program,
        ),
      );
    },
  },
  {
    name: 'a transfer to another account of the treasury',
    expected: { refused: 'no_credit' },
    async play(s, { from, to }) {
      const extra = await s.extraAccount(to.address, 'usdc', from);
      return s.land(from.signer, ...extra.open, s.payInto(extra.at.address, from, 4n * DOLLAR));
    },
  },
  {
    name: 'a funded account handed over to the treasury',
    expected: { refused: 'no_credit' },
    play: (s, { from, to }) => s.land(from.signer, handOver(s.account(from.address, 'usdc'), from, to)),
  },
  {
    name: 'in and out again in one transaction',
    expected: { refused: 'no_credit' },
    async play(s, { from, other: keeper, to }) {
      await s.land(to.signer, s.approve(to, keeper.address, 50n * DOLLAR));
      return s.land(
        from.signer,
        s.pay(from, to.address, 10n * DOLLAR),
        s.move('usdc', s.account(to.address, 'usdc'), keeper.signer, from.address, 10n * DOLLAR),
      );
    },
  },
  {
    name: 'a movement between accounts of the treasury',
    expected: { refused: 'own_movement' },
    async play(s, { from: other, to }) {
      const extra = await s.extraAccount(to.address, 'usdc', to);
      await s.land(to.signer, ...extra.open);
      await s.land(other.signer, s.payInto(extra.at.address, other, 9n * DOLLAR));
      return s.land(to.signer, s.move('usdc', extra.at.address, to.signer, to.address, 9n * DOLLAR));
    },
  },
  {
    name: "a movement between the treasury's accounts by its delegate",
    expected: { refused: 'own_movement' },
    async play(s, { from: keeper, to }) {
      const extra = await s.extraAccount(to.address, 'usdc', to);
      await s.land(
        to.signer,
        ...extra.open,
        getApproveInstruction({
          source: extra.at.address,
          delegate: keeper.signer.address,
          owner: to.signer,
          amount: 50n * DOLLAR,
        }),
      );
      await s.land(keeper.signer, s.payInto(extra.at.address, keeper, 9n * DOLLAR));
      return s.land(keeper.signer, s.move('usdc', extra.at.address, keeper.signer, to.address, 9n * DOLLAR));
    },
  },
  {
    name: 'a transfer whose fee the treasury pays',
    expected: { refused: 'own_movement' },
    play: (s, { from, to }) => s.land(to.signer, s.pay(from, to.address, DOLLAR)),
  },
  {
    name: 'a transfer whose fee the reserve pays',
    expected: { refused: 'own_movement' },
    play: (s, { from, to }) => s.land(s.world.reserve.signer, s.pay(from, to.address, DOLLAR)),
  },
  {
    name: "the reserve's own dollars",
    expected: { refused: 'own_movement' },
    async play(s, { from: keeper, to }) {
      const { reserve } = s.world;
      await s.world.faucet(reserve.address, 'usdc', 30n * DOLLAR);
      await s.land(reserve.signer, s.approve(reserve, keeper.address, 30n * DOLLAR));
      return s.land(
        keeper.signer,
        s.move('usdc', s.account(reserve.address, 'usdc'), keeper.signer, to.address, 3n * DOLLAR),
      );
    },
  },
  {
    name: 'a swap of one asset of the treasury for the other',
    expected: { refused: 'own_movement' },
    async play(s, { from: other, to }) {
      await s.land(s.world.bank.signer, s.mint(to.address, 50n * DOLLAR, 'usdt'));
      return s.land(
        other.signer,
        s.pay(other, to.address, 9n * DOLLAR, 'usdc'),
        s.pay(to, other.address, 9n * DOLLAR, 'usdt'),
      );
    },
  },
  {
    name: 'the same swap by a delegate',
    expected: { refused: 'own_movement' },
    async play(s, { from: other, to }) {
      await s.land(s.world.bank.signer, s.mint(to.address, 50n * DOLLAR, 'usdt'));
      await s.land(to.signer, s.approve(to, other.address, 50n * DOLLAR, 'usdt'));
      return s.land(
        other.signer,
        s.pay(other, to.address, 9n * DOLLAR, 'usdc'),
        s.move('usdt', s.account(to.address, 'usdt'), other.signer, other.address, 9n * DOLLAR),
      );
    },
  },
  {
    name: 'tokens minted to the treasury',
    expected: { refused: 'no_sender' },
    play: (s, { to }) => s.land(s.world.bank.signer, s.mint(to.address, DOLLAR)),
  },
  {
    name: 'tokens partly minted, partly sent',
    expected: { held: 'credit_exceeds_debit' },
    play: (s, { from, to }) =>
      s.land(from.signer, s.pay(from, to.address, DOLLAR), s.mint(to.address, DOLLAR)),
  },
  {
    name: 'both assets at once',
    expected: { held: 'both_assets' },
    play: (s, { from, to }) =>
      s.land(from.signer, s.pay(from, to.address, DOLLAR, 'usdc'), s.pay(from, to.address, DOLLAR, 'usdt')),
  },
  {
    name: 'two senders',
    expected: { held: 'several_senders' },
    play: (s, { from, other, to }) =>
      s.land(from.signer, s.pay(from, to.address, 3n * DOLLAR), s.pay(other, to.address, DOLLAR)),
  },
  {
    name: 'a delegate',
    expected: { held: 'sender_not_signer' },
    async play(s, { from, other: delegate, to }) {
      await s.land(from.signer, s.approve(from, delegate.address, 50n * DOLLAR));
      return s.land(
        delegate.signer,
        s.move('usdc', s.account(from.address, 'usdc'), delegate.signer, to.address, 3n * DOLLAR),
      );
    },
  },
  {
    name: 'a delegate through a program',
    expected: { held: 'sender_not_signer' },
    async play(s, { from, other: delegate, to }) {
      await s.land(from.signer, s.approve(from, delegate.address, 50n * DOLLAR));
      const id = await s.forwarder();
      return s.land(
        delegate.signer,
        s.inner(id, s.account(from.address, 'usdc'), to.address, delegate, delegate.address, 3n * DOLLAR),
      );
    },
  },
  {
    name: "a program's vault, such as that of an exchange router",
    expected: { held: 'sender_off_curve' },
    async play(s, { from: caller, to }) {
      const id = await s.program((program) => vaultElf(vaultOf(program).bump));
      const { authority } = vaultOf(id);
      await s.world.faucet(authority, 'usdc', 100n * DOLLAR);
      return s.land(
        caller.signer,
        s.inner(id, s.account(authority, 'usdc'), to.address, null, authority, 8n * DOLLAR),
      );
    },
  },
  {
    name: 'an account of several signers',
    expected: { held: 'sender_not_signer' },
    async play(s, { from: one, other: two, to }) {
      const multisig = (await createSolanaKey()).signer;
      await s.land(
        one.signer,
        getCreateAccountInstruction({
          payer: one.signer,
          newAccount: multisig,
          lamports: MULTISIG_RENT,
          space: 355,
          programAddress: address(TOKEN_PROGRAM),
        }),
        getInitializeMultisig2Instruction({
          multisig: multisig.address,
          signers: [one.signer.address, two.signer.address],
          m: 2,
        }),
      );
      await s.world.faucet(multisig.address, 'usdc', 100n * DOLLAR);
      return s.land(
        one.signer,
        getTransferInstruction({
          source: address(s.account(multisig.address, 'usdc')),
          destination: address(s.account(to.address, 'usdc')),
          authority: multisig.address,
          amount: 3n * DOLLAR,
          multiSigners: [one.signer, two.signer],
        }),
      );
    },
  },
  {
    name: 'an account whose owner changes in the transaction',
    expected: { held: 'account_owner_changed' },
    async play(s, { from, other, to }) {
      const source = s.account(from.address, 'usdc');
      return s.land(
        from.signer,
        handOver(source, from, other),
        s.move('usdc', source, other.signer, to.address, 3n * DOLLAR),
      );
    },
  },
  {
    name: "a treasury's account that no longer belongs to the treasury",
    expected: { held: 'treasury_account_changed' },
    async play(s, { from, to }) {
      await s.land(to.signer, handOver(s.account(to.address, 'usdc'), to, from));
      return s.land(from.signer, s.pay(from, to.address, DOLLAR));
    },
  },
  {
    name: 'the hot wallet of an exchange',
    expected: { held: 'sender_is_exchange' },
    isExchange: true,
    play: (s, { from: exchange, to }) => s.land(exchange.signer, s.pay(exchange, to.address, 9n * DOLLAR)),
  },
];
