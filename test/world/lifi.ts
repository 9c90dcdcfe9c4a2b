import { randomBytes, randomUUID } from 'node:crypto';
import { base64 } from '@scure/base';
import { vaultSwapAccounts } from '../../src/bridges/lifi-chainflip.ts';
import { encodeTransaction } from '../../src/chain/solana/message.ts';
import { trackerAccount } from '../../src/custody/policy/programs.ts';
import type { Fault } from './fault-book.ts';
import { type Answer, json, startUpstream, type Upstream, type WorldRequest } from './fault-gate.ts';
import { createBitcoinKey, createSolanaKey } from './keys.ts';
import { HOSTILE, type LifiDraft } from './lifi-hostile.ts';
import { type Asked, readQuery } from './lifi-query.ts';
import { type LifiSettlementOptions, type LifiSwap, startLifiSettlement } from './lifi-settlement.ts';
import {
  BITCOIN_CHAIN_ID,
  btcToken,
  noRoute,
  type Offer,
  refusal,
  SOLANA_CHAIN_ID,
  showStep,
  solToken,
} from './lifi-shapes.ts';
import {
  budget,
  compileTransaction,
  type Instruction,
  tracked,
  transferOf,
  type Unsigned,
  u32,
  u64,
  type VaultOrder,
  vaultSwapOf,
} from './lifi-transaction.ts';
import { cents } from './one-click.ts';
import { BTC_ASSET, type QuoteAnswer, SOL_ASSET } from './one-click-swap.ts';
import type { PriceBook } from './price-venues.ts';
import type { RequestCounts } from './request-counts.ts';

const NAME = 'lifi';
const COLLECTOR = '34FKjAdVcTax2DHqV2XnbXa9J3zmyKcFuFKWbcmgxjgm';
const FEE_BPS = 25n;
const CHAINFLIP_BPS = 15n;
const WITHDRAW_FEE_SATS = 400n;
const UNITS = 200_000;
const MICRO_LAMPORTS = 50_000n;
const SLOTS_IN_EPOCH = 432_000;

export interface LifiOptions extends LifiSettlementOptions {
  readonly prices: PriceBook;
  readonly counts: RequestCounts;
  readonly apiKey: string;
  /** A lookup table on the chain, and its keys. */
  readonly table: { readonly table: string; readonly entries: readonly string[] };
}

/** A tool's offer for the amount less fees, or the code of its refusal. */
type ToolOffer =
  | {
      readonly leg: Instruction;
      readonly order: VaultOrder | null;
      readonly mark: string;
      readonly toAmount: bigint;
      readonly toAmountMin: bigint;
      readonly toolData?: unknown;
    }
  | string;

/**
 * A simulator of LI.FI for SOL to BTC over its two tools: quotes that contain a transaction, and the status
 * of its swap. `near` opens a real deposit with this world's 1Click, `chainflip` is a vault swap that it pays
 * itself.
 */
export async function startLifi(options: LifiOptions): Promise<Upstream> {
  const { prices, faults, ledger } = options;
  const settlement = startLifiSettlement(options);

  const satsFor = (lamports: bigint): bigint =>
    (lamports * cents(prices.price('SOL'))) / (cents(prices.price('BTC')) * 10n);

  async function near(asked: Asked, paid: bigint): Promise<ToolOffer> {
    const answer = await options.oneClick.quoteFor({
      dry: false,
      swapType: 'EXACT_INPUT',
      slippageTolerance: Math.round(asked.slippage * 10_000),
      originAsset: SOL_ASSET,
      depositType: 'ORIGIN_CHAIN',
      destinationAsset: BTC_ASSET,
      amount: paid.toString(),
      refundTo: asked.fromAddress,
      refundType: 'ORIGIN_CHAIN',
      recipient: asked.toAddress,
      recipientType: 'DESTINATION_CHAIN',
      deadline: new Date(Date.now() + 20 * 60_000).toISOString(),
      referral: 'lifi',
    });
    if (answer.status !== 201) return 'AMOUNT_TOO_LOW';
    const { quote } = JSON.parse(answer.body) as QuoteAnswer;
    const mark = String(quote.depositAddress);
    return {
      leg: transferOf(asked.fromAddress, mark, paid),
      order: null,
      mark,
      toAmount: BigInt(String(quote.amountOut)),
      toAmountMin: BigInt(String(quote.minAmountOut)),
      toolData: { quote: { quote } },
    };
  }

  function chainflip(asked: Asked, paid: bigint): ToolOffer {
    const toAmount = (satsFor(paid) * (10_000n - CHAINFLIP_BPS)) / 10_000n - WITHDRAW_FEE_SATS;
    if (toAmount < WITHDRAW_FEE_SATS) return 'AMOUNT_TOO_LOW';
    const toAmountMin = (toAmount * BigInt(10_000 - Math.round(asked.slippage * 10_000))) / 10_000n;
    const order: VaultOrder = {
      from: asked.fromAddress,
      amount: paid,
      address: asked.toAddress,
      refund: asked.fromAddress,
      minimum: toAmountMin,
      seed: randomBytes(32),
    };
    const mark = vaultSwapAccounts(order.from, order.seed)[3] ?? '';
    return { leg: vaultSwapOf(order), order, mark, toAmount, toAmountMin };
  }

  async function quote(request: WorldRequest): Promise<Answer> {
    const asked = readQuery(request.query);
    if (typeof asked === 'string') return refusal(400, 1011, asked);
    const take = (kind: string): Fault | null => faults.take(NAME, kind, request.label);
    const isFlat = take('flatErrors') !== null;
    if (take('noRoute') !== null) return noRoute(asked.tools, 'NO_POSSIBLE_ROUTE', isFlat);
    const tool = take('tool')?.value ?? asked.tools[0];
    if (tool === undefined) return noRoute([], 'NO_POSSIBLE_ROUTE', isFlat);
    const fee = (asked.amount * FEE_BPS) / 10_000n;
    const paid = asked.amount - fee;
    const part = tool === 'near' ? await near(asked, paid) : chainflip(asked, paid);
    if (typeof part === 'string') return noRoute(asked.tools, part, isFlat);

    const low = take('lowOutput');
    const lowered = (sats: bigint) =>
      low === null ? sats : (sats * BigInt(10_000 - (low.by ?? 1_000))) / 10_000n;
    const id = [...randomBytes(8)];
    const offer: Offer = {
      id: `${randomUUID()}:0`,
      transactionId: `0x${id.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`,
      tool,
      amount: asked.amount,
      fee,
      networkFee: 5_000n + (BigInt(UNITS) * MICRO_LAMPORTS) / 1_000_000n,
      fromAddress: asked.fromAddress,
      toAddress: take('wrongRecipient') === null ? asked.toAddress : createBitcoinKey().address,
      slippage: asked.slippage,
      toAmount: lowered(part.toAmount),
      toAmountMin: lowered(part.toAmountMin),
      durationSeconds: 3.5,
      ...(part.toolData === undefined ? {} : { toolData: part.toolData }),
    };
    const draft = await drafted(asked, offer, id, part);
    const hostile = take('hostile');
    if (hostile !== null) HOSTILE[hostile.value ?? 'drain']?.(draft);
    settlement.watch({
      tool,
      transactionId: offer.transactionId,
      mark: part.mark,
      amount: asked.amount,
      paid,
      toAmount: part.toAmount,
      toAmountMin: part.toAmountMin,
      recipient: asked.toAddress,
      refundTo: asked.fromAddress,
      signature: null,
      outcome: { status: 'PENDING', substatus: 'WAIT_SOURCE_CONFIRMATIONS' },
    });
    const entries = draft.unsigned.table === options.table.table ? options.table.entries : undefined;
    const bytes = draft.bytes(encodeTransaction(compileTransaction(draft.unsigned, entries)));
    return json(200, { ...showStep(offer, prices, draft.data(base64.encode(bytes))), ...draft.over });
  }

  async function drafted(
    asked: Asked,
    offer: Offer,
    id: readonly number[],
    part: Exclude<ToolOffer, string>,
  ): Promise<LifiDraft> {
    const slot = ledger.clock.slot('confirmed');
    const unsigned: Unsigned = {
      payer: asked.fromAddress,
      otherSigners: [],
      version: 0,
      instructions: [
        budget(2, u32(UNITS)),
        budget(3, u64(MICRO_LAMPORTS)),
        tracked(trackerAccount(BigInt(Math.floor(slot / SLOTS_IN_EPOCH))), id),
        transferOf(asked.fromAddress, COLLECTOR, offer.fee),
        part.leg,
      ],
      blockhash: ledger.clock.blockhashAt(slot).blockhash,
      table: options.table.table,
      inTable: options.table.entries,
    };
    return {
      reserve: asked.fromAddress,
      thief: (await createSolanaKey()).address,
      thiefBitcoin: createBitcoinKey().address,
      order: part.order,
      unsigned,
      over: {},
      data: (text) => text,
      bytes: (bytes) => bytes,
    };
  }

  function status(request: WorldRequest): Answer {
    const txHash = request.query.get('txHash');
    if (!txHash) return refusal(400, 1011, 'txHash is required');
    const swap = settlement.find(txHash);
    const lie = faults.take(NAME, 'status', request.label);
    const unknown = {
      status: 'NOT_FOUND',
      tool: request.query.get('bridge') ?? '',
      sending: { txHash, chainId: SOLANA_CHAIN_ID },
    };
    if (swap === undefined) return json(200, unknown);
    return json(200, { ...shownStatus(swap, txHash), ...(lie ? said(lie.value ?? '') : {}) });
  }

  function shownStatus(swap: LifiSwap, txHash: string): Record<string, unknown> {
    const outcome = settlement.outcome(swap);
    return {
      transactionId: swap.transactionId,
      status: outcome.status,
      substatus: outcome.substatus,
      substatusMessage: '',
      tool: swap.tool,
      sending: {
        txHash,
        chainId: SOLANA_CHAIN_ID,
        txLink: `https://solscan.io/tx/${txHash}`,
        amount: `${swap.amount}`,
        token: solToken(prices),
        timestamp: Math.floor(Date.now() / 1_000),
      },
      receiving: received(outcome),
      lifiExplorerLink: `https://scan.li.fi/tx/${txHash}`,
      fromAddress: swap.refundTo,
      toAddress: swap.recipient,
    };
  }

  function received(outcome: ReturnType<typeof settlement.outcome>): Record<string, unknown> {
    if ('sats' in outcome) {
      const { txid, sats } = outcome;
      return { chainId: BITCOIN_CHAIN_ID, txHash: txid, amount: `${sats}`, token: btcToken(prices) };
    }
    if ('lamports' in outcome) {
      const { txid, lamports } = outcome;
      return { chainId: SOLANA_CHAIN_ID, txHash: txid, amount: `${lamports}`, token: solToken(prices) };
    }
    return { chainId: BITCOIN_CHAIN_ID };
  }

  function handle(request: WorldRequest): Answer | Promise<Answer> {
    const key = request.headers['x-lifi-api-key'];
    if (key !== undefined && key !== options.apiKey) return refusal(401, 1010, 'Unauthorized');
    if (request.label === 'GET /v1/quote') return quote(request);
    if (request.label === 'GET /v1/status') return status(request);
    return refusal(404, 1003, `Cannot ${request.label}`);
  }

  const upstream = await startUpstream({ name: NAME, faults, counts: options.counts, handle });
  return {
    ...upstream,
    async stop() {
      settlement.stop();
      await upstream.stop();
    },
  };
}

/** `DONE REFUNDED` as members of a status. */
function said(text: string): Record<string, string> {
  const [status = '', substatus] = text.split(' ');
  return { status, ...(substatus === undefined ? {} : { substatus }) };
}
