/**
 * Signs transactions that the policy accepts and runs them on this world's chain, to measure their costs. The
 * production code reads its evidence from two JSON-RPC servers.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { LIFI_SLIPPAGE_BPS } from '../../src/bridges/lifi.ts';
import type { Tool } from '../../src/bridges/lifi-quote.ts';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import { lamports } from '../../src/core/amount.ts';
import { LIFI_COLLECTOR } from '../../src/custody/policy/instructions.ts';
import { overheadOf, type PolicyTerms } from '../../src/custody/policy/terms.ts';
import { createThirdPartyCheck, type PolicyNode } from '../../src/custody/swap/third-party-payment.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import {
  type Draft,
  draftSwap,
  EPOCH,
  finish,
  NOW,
  RESERVE,
  RESERVE_SECRET,
  TABLE,
  tableOf,
  transfer,
  vaultSwap,
} from '../custody/policy/draft.ts';
import { createRandom, type Random } from '../simulator/random.ts';
import { createFaultBook } from './fault-book.ts';
import { plantLifi, plantTable } from './lifi-programs.ts';
import { budget, u32, u64 } from './lifi-transaction.ts';
import { createRequestCounts } from './request-counts.ts';
import { startRpcFront } from './rpc-front.ts';
import { type SolanaWorld, startSolanaWorld } from './solana-world.ts';

export type Executed = {
  readonly tool: Tool;
  readonly amount: bigint;
  /** The policy's reason for a refusal; null if it was run. */
  readonly refused: string | null;
  /** The chain's error; null when it landed well. */
  readonly error: unknown;
  /** Lamports that left the reserve. */
  readonly lost: bigint;
  /** Lamports that may leave according to the policy. */
  readonly foreseen: bigint;
  /** The amount and the caps on fees and rent. */
  readonly bound: bigint;
  /**
   * Changes of the reserve and its token accounts except the reserve's lamports: owner, data, delegates,
   * amounts.
   */
  readonly changed: readonly string[];
};

const SOL = 1_000_000_000n;
/** Place of the delegate in a token account: a tag of 4 bytes, then its key. */
const DELEGATE = 72;

/** All variations that the policy allows: fees and priority up to their caps, free settings, other terms. */
function loosen(draft: Draft, random: Random): void {
  const leg = draft.instructions[4];
  if (!leg) throw new Error('no leg');
  const fee = (draft.amount * BigInt(random.between(0, 50))) / 10_000n;
  const paid = draft.amount - fee;
  if (draft.tool === 'near' && draft.status) {
    draft.instructions[4] = transfer(draft.deposit, paid);
    const { quoteRequest, quote } = draft.status.quoteResponse;
    quoteRequest.amount = `${paid}`;
    quote.amountIn = `${paid}`;
    quote.minAmountIn = `${paid}`;
  } else {
    const { toAmount, toAmountMin } = draft.quote.estimate;
    const room = Number(BigInt(toAmount) - BigInt(toAmountMin));
    const minimum = BigInt(toAmountMin) + BigInt(random.between(0, Math.min(500, room)));
    const seed = Uint8Array.from({ length: 32 }, () => random.between(0, 255));
    draft.instructions[4] = vaultSwap({
      amount: paid,
      minimum,
      seed,
      retry: random.between(0, 600),
      brokerBps: random.between(0, 50),
    });
  }
  // Priority costs at most 500,000 lamports: units times price.
  const units = random.pick([60_000, 200_000, 650_000, 1_400_000]);
  const price = BigInt(random.between(0, Math.floor(500_000_000_000 / units)));
  draft.instructions[0] = budget(2, u32(units));
  draft.instructions[1] = budget(3, u64(price));
  if (random.chance(0.3)) draft.instructions.push(budget(1, u32(1_024 * random.between(32, 256))));
  if (fee === 0n) draft.instructions.splice(3, 1);
  else draft.instructions[3] = transfer(LIFI_COLLECTOR, fee);
  draft.fee = fee;
}

export async function executeAccepted(p: {
  readonly count: number;
  readonly seed: number;
  readonly onEach?: (done: Executed) => void;
}): Promise<Executed[]> {
  const solana = await startSolanaWorld({ slotMs: 20, reserveLamports: SOL, asrySupply: 1_000n });
  const faults = createFaultBook();
  const counts = createRequestCounts();
  const { ledger } = solana;
  const fronts = await Promise.all(
    ['rpc1', 'rpc2'].map((name) => startRpcFront({ name, ledger, faults, counts })),
  );
  try {
    await plantLifi(ledger);
    const own = await plantTokens(solana);
    const rpc = createSolanaRpc({ urls: fronts.map(({ url }) => url), fetch });
    const done: Executed[] = [];
    for (let index = 0; index < p.count; index += 1) {
      const one = await executeOne({ solana, rpc, own, seed: p.seed + index });
      done.push(one);
      p.onEach?.(one);
    }
    return done;
  } finally {
    await Promise.all(fronts.map((front) => front.stop()));
    solana.stop();
  }
}

/** The reserve holds dollars and ASRY; one of its accounts has an old delegate. */
async function plantTokens(solana: SolanaWorld): Promise<readonly string[]> {
  await solana.faucet(RESERVE, 'usdc', 5_000_000n);
  await solana.faucet(RESERVE, 'asry', 100n);
  const usdc = await solana.tokenAccount(RESERVE, 'usdc');
  const asry = await solana.tokenAccount(RESERVE, 'asry');
  const account = await solana.ledger.account(usdc, solana.ledger.clock.slot('processed'));
  if (!account) throw new Error('no account');
  const data = account.data.slice();
  data[DELEGATE] = 1;
  data.fill(5, DELEGATE + 4, DELEGATE + 36);
  await solana.ledger.plant(usdc, BigInt(account.lamports), data, account.owner);
  return [usdc, asry, solana.mints.absr.mint, solana.mints.asry.mint];
}

async function executeOne(p: {
  solana: SolanaWorld;
  rpc: ReturnType<typeof createSolanaRpc>;
  own: readonly string[];
  seed: number;
}): Promise<Executed> {
  const { solana, rpc, own } = p;
  const { ledger } = solana;
  const random = createRandom(p.seed ^ 0xacce97);
  const draft = draftSwap(random.pick(['near', 'chainflip'] as const), p.seed);
  if (random.chance(0.8)) loosen(draft, random);
  const { amount } = draft;
  const balance = await lamportsOf(solana, RESERVE);
  if (balance < amount + SOL) await solana.faucet(RESERVE, 'sol', 50n * SOL);
  const table = tableOf(draft);
  if (table.length > 0) await plantTable(ledger, TABLE, table);
  ledger.clock.root();

  const input = finish(draft);
  const terms: PolicyTerms = { ...input.terms, ownAccounts: own };
  const node = (real: PolicyNode): PolicyNode => ({
    accounts: real.accounts,
    simulateChange: real.simulateChange,
    // The drafts are of a later epoch than this chain.
    epoch: async () => EPOCH,
  });
  const check = createThirdPartyCheck(
    {
      terms,
      quoteKey: input.quoteKey,
      nodes: rpc.nodes.map(node),
      first: (read) => rpc.first((real) => read(node(real))),
      nearStatus: async () => {
        if (!input.nearStatus) throw new Error('no status');
        return input.nearStatus;
      },
      latestBlockhash: async () => ({
        ...(await rpc.first((real) => real.latestBlockhash('confirmed'))),
        witnesses: [],
      }),
      sleep: async () => undefined,
      now: () => NOW,
      log: () => undefined,
    },
    { recorded: () => null, record: () => undefined },
  );
  const quote = { ...input.quote, transactionRequest: { data: String(input.data) } };
  const offer = { quote, slippageBps: LIFI_SLIPPAGE_BPS, askedAt: NOW - draft.ageMs };
  const verdict = await check(offer, { amount: lamports(amount), floorSats: input.order.floorSats });
  const bound = amount + overheadOf(terms.limits);
  const common = { tool: draft.tool, amount, bound };
  if (!verdict.ok) {
    return { ...common, refused: verdict.reason, error: null, lost: 0n, foreseen: 0n, changed: [] };
  }
  const before = await snapshot(solana, own);
  const { wire, signature } = signedTransaction(verdict.message, [
    ed25519.sign(verdict.message, RESERVE_SECRET),
  ]);
  const outcome = await ledger.send(wire, { skipPreflight: true });
  const landed = ledger.transaction(signature);
  const after = await snapshot(solana, own);
  return {
    ...common,
    refused: null,
    error: landed ? landed.err : outcome,
    lost: before.lamports - after.lamports,
    foreseen: verdict.spend,
    changed: [...after.rest].filter(([key, value]) => before.rest.get(key) !== value).map(([key]) => key),
  };
}

async function lamportsOf({ ledger }: SolanaWorld, address: string): Promise<bigint> {
  return BigInt((await ledger.account(address, ledger.clock.slot('processed')))?.lamports ?? 0);
}

/** The reserve and its accounts as text, with the reserve's lamports separately. */
async function snapshot(solana: SolanaWorld, own: readonly string[]) {
  const rest = new Map<string, string>();
  for (const address of [RESERVE, ...own]) {
    const account = await solana.ledger.account(address, solana.ledger.clock.slot('processed'));
    const text = (name: string, value: unknown) => rest.set(`${address} ${name}`, String(value));
    text('owner', account?.owner);
    text('data', account && Buffer.from(account.data).toString('hex'));
    if (address !== RESERVE) text('lamports', account?.lamports);
  }
  return { lamports: await lamportsOf(solana, RESERVE), rest };
}
