/** An honest LI.FI swap in parts, which a test may change before they are assembled. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { SWAP_ENDPOINT_PROGRAM, vaultSwapAccounts } from '../../../src/bridges/lifi-chainflip.ts';
import type { Tool } from '../../../src/bridges/lifi-quote.ts';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { type DecodedTransaction, encodeTransaction } from '../../../src/chain/solana/message.ts';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import { lamports, sats } from '../../../src/core/amount.ts';
import { LIFI_COLLECTOR } from '../../../src/custody/policy/instructions.ts';
import type { PolicyInput } from '../../../src/custody/policy/policy.ts';
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
  TRACKER_PROGRAM,
  trackerAccount,
} from '../../../src/custody/policy/programs.ts';
import { type AccountView, LOOKUP_TABLE_PROGRAM } from '../../../src/custody/policy/resolved-instructions.ts';
import type { AccountState, SimulationResult } from '../../../src/custody/policy/simulation.ts';
import type { OneClickStatus } from '../../../src/providers/near-intents.ts';
import { createRandom, type Random } from '../../simulator/random.ts';
import {
  budget,
  compileTransaction,
  type Instruction,
  tableData,
  tableEntries,
  tracked,
  transferOf,
  type Unsigned,
  u32,
  u64,
  type VaultOrder,
  vaultSwapOf,
} from '../../world/lifi-transaction.ts';
import { type Deep, nearStatus, signedStatus } from './near-status.ts';

const secretOf = (seed: number): Uint8Array => {
  const secret = new Uint8Array(32);
  new DataView(secret.buffer).setUint32(0, seed, true);
  return secret;
};
export const wallet = (seed: number): string => encodeBase58(ed25519.getPublicKey(secretOf(seed)));
export const RESERVE = wallet(1);
export const RESERVE_SECRET = secretOf(1);
export const THIEF = wallet(2);
/** Token accounts and mints of ours. */
export const OWN = [wallet(11), wallet(12), wallet(13)];
export const BITCOIN_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const QUOTE_SECRET = new Uint8Array(32).fill(8);
const QUOTE_KEY = `ed25519:${encodeBase58(ed25519.getPublicKey(QUOTE_SECRET))}`;
export const NOW = Date.parse('2026-11-20T10:00:03Z');
export const EPOCH = 1_027n;
const BEFORE = 10_000_000_000n;
export const RENT = 2_500_000n;
const TRACKER_ACCOUNTS = [trackerAccount(EPOCH), trackerAccount(EPOCH - 1n)] as const;

export type Draft = {
  tool: Tool;
  version: 'legacy' | 0;
  amount: bigint;
  fee: bigint;
  instructions: Instruction[];
  /** Keys in a lookup table. */
  inTable: string[];
  otherSigners: string[];
  deposit: string;
  blockhash: string;
  quote: Deep<PolicyInput['quote']>;
  status: Deep<OneClickStatus> | null;
  quoteSecret: Uint8Array;
  simulation: {
    error: unknown;
    accounts: Map<string, { before: AccountState | null; after: AccountState | null }>;
    inner: SimulationResult['inner'][number][];
  };
  deployments: Map<string, { recorded: bigint | null; current: bigint | null }>;
  ageMs: number;
  /** Final changes before and after encoding. */
  onTransaction: (transaction: DecodedTransaction) => DecodedTransaction;
  onBytes: (bytes: Uint8Array) => Uint8Array;
  onData: (text: string) => unknown;
  onTable: (view: AccountView, node: number) => AccountView | null;
};

/** Out of the reserve by default. */
export const transfer = (to: string, amount: bigint, from = RESERVE): Instruction =>
  transferOf(from, to, amount);

type Order = Pick<VaultOrder, 'amount' | 'minimum' | 'seed'> & Partial<VaultOrder>;
export const vaultSwap = (order: Order): Instruction =>
  vaultSwapOf({ from: RESERVE, address: BITCOIN_ADDRESS, refund: RESERVE, ...order });

const bytes32 = (random: Random) => Uint8Array.from({ length: 32 }, () => random.between(0, 255));

/** Another amount, blockhash, fee level, deposit address and placing of keys for every seed. */
export function draftSwap(tool: Tool, seed: number): Draft {
  const random = createRandom(seed);
  const amount = BigInt(random.between(100_000_000, 2_000_000_000));
  const fee = (amount * 25n) / 10_000n;
  const paid = amount - fee;
  const minimum = (amount * 120n) / 1_000_000n;
  const id = Array.from({ length: 8 }, () => random.between(0, 255));
  const deposit = wallet(random.between(1_000, 1_000_000));
  const swapSeed = bytes32(random);
  const [units, price] = random.pick([
    [650_000, 50_000n],
    [1_400_000, 200_000n],
    [200_000, 1_000_000n],
  ] as const);
  const version = random.pick(['legacy', 0] as const);
  const accounts = version === 0 && random.chance(0.7) ? [CLOCK_SYSVAR, LIFI_COLLECTOR] : [];
  const notes = random.pick(TRACKER_ACCOUNTS);
  const leg =
    tool === 'near' ? transfer(deposit, paid) : vaultSwap({ amount: paid, minimum, seed: swapSeed });
  const networkFee = 5_000n + (BigInt(units) * price) / 1_000_000n;
  const state = (owner: string, atoms: bigint, data = new Uint8Array()): AccountState => ({
    owner,
    lamports: atoms,
    data,
  });
  const spend = amount + networkFee + (tool === 'near' ? 0n : RENT);
  const token = (address: string, chainId: number, decimals: number) => ({ address, chainId, decimals });
  const sol = token(SYSTEM_PROGRAM, 1_151_111_081_099_710, 9);
  const btc = token('bitcoin', 20_000_000_000_001, 8);
  const draft: Draft = {
    tool,
    version,
    amount,
    fee,
    deposit,
    inTable: accounts,
    otherSigners: [],
    blockhash: encodeBase58(bytes32(random)),
    instructions: [
      budget(2, u32(units)),
      budget(3, u64(price)),
      tracked(notes, id),
      transfer(LIFI_COLLECTOR, fee),
      leg,
    ],
    quote: {
      id: `${seed}:0`,
      type: 'lifi',
      tool,
      transactionId: `0x${id.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`,
      action: {
        fromChainId: sol.chainId,
        toChainId: btc.chainId,
        fromToken: { ...sol },
        toToken: { ...btc },
        fromAmount: `${amount}`,
        fromAddress: RESERVE,
        toAddress: BITCOIN_ADDRESS,
        slippage: 0.005,
      },
      estimate: {
        tool,
        fromAmount: `${amount}`,
        toAmount: `${(minimum * 1_005n) / 1_000n}`,
        toAmountMin: `${minimum}`,
        feeCosts: [{ name: 'LIFI Fixed Fee', token: { ...sol }, amount: `${fee}`, included: true }],
      },
      transactionRequest: { data: 'x' },
    },
    status:
      tool === 'near'
        ? nearStatus({
            paid,
            minimum,
            depositAddress: deposit,
            recipient: BITCOIN_ADDRESS,
            refundTo: RESERVE,
          })
        : null,
    quoteSecret: QUOTE_SECRET,
    simulation: {
      error: null,
      accounts: new Map([
        [RESERVE, { before: state(SYSTEM_PROGRAM, BEFORE), after: state(SYSTEM_PROGRAM, BEFORE - spend) }],
        ...OWN.map((address) => {
          const one = state(
            'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
            2_039_280n,
            new Uint8Array(165).fill(7),
          );
          return [address, { before: one, after: { ...one, data: one.data.slice() } }] as const;
        }),
      ]),
      inner: tool === 'near' ? [] : vaultSwapCalls(paid, vaultSwapAccounts(RESERVE, swapSeed)),
    },
    deployments: new Map([
      [TRACKER_PROGRAM, { recorded: 5n, current: 5n }],
      [SWAP_ENDPOINT_PROGRAM, { recorded: null, current: 9n }],
    ]),
    ageMs: random.between(0, 60_000),
    onTransaction: (transaction) => transaction,
    onBytes: (bytes) => bytes,
    onData: (text) => text,
    onTable: (view) => view,
  };
  return draft;
}

/** The calls of the endpoint: it opens its event account and takes the amount. */
function vaultSwapCalls(paid: bigint, accounts: readonly string[]): Draft['simulation']['inner'] {
  const call = (to = '', data: Uint8Array) => ({
    instruction: 4,
    call: {
      program: SYSTEM_PROGRAM,
      accounts: [RESERVE, to].map((address) => ({
        address,
        isSigner: address === RESERVE,
        isWritable: true,
      })),
      data,
    },
  });
  const create = concatBytes(u32(0), u64(RENT), u64(300n), addressSeed(SWAP_ENDPOINT_PROGRAM));
  return [call(accounts[3], create), call(accounts[1], concatBytes(u32(2), u64(paid)))];
}

export const TABLE = wallet(21);

const unsignedOf = ({ version, instructions, blockhash, inTable, otherSigners }: Draft): Unsigned => ({
  payer: RESERVE,
  otherSigners,
  version,
  instructions,
  blockhash,
  table: TABLE,
  inTable,
});

/** The keys of the draft's lookup table. */
export const tableOf = (draft: Draft): string[] => tableEntries(unsignedOf(draft));

export function finish(draft: Draft): PolicyInput {
  const unsigned = unsignedOf(draft);
  const transaction = draft.onTransaction(compileTransaction(unsigned));
  const view = { owner: LOOKUP_TABLE_PROGRAM, data: tableData(tableOf(draft)) };
  const views = [0, 1].map((node) => draft.onTable({ owner: view.owner, data: view.data.slice() }, node));
  return {
    quote: draft.quote,
    data: draft.onData(base64.encode(draft.onBytes(encodeTransaction(transaction)))),
    order: {
      amount: lamports(draft.amount),
      slippageBps: 50,
      floorSats: sats((draft.amount * 119n) / 1_000_000n),
    },
    terms: {
      reserveAddress: RESERVE,
      bitcoinAddress: BITCOIN_ADDRESS,
      ownAccounts: OWN,
      limits: {
        maxPriorityFee: 500_000n,
        maxFeeBps: 50,
        maxBrokerBps: 50,
        maxRent: 3_000_000n,
        floor: 100_000_000n,
      },
    },
    ageMs: draft.ageMs,
    epoch: EPOCH,
    lifetime: { blockhash: wallet(31) },
    tables: new Map([[TABLE, views]]),
    deployments: draft.deployments,
    simulation: draft.simulation,
    nearStatus: draft.status && signedStatus(draft.status, draft.quoteSecret),
    quoteKey: QUOTE_KEY,
    now: NOW,
  };
}
