import { ed25519 } from '@noble/curves/ed25519.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { confirmNearDestination } from '../../src/bridges/near-intents.ts';
import { quoteHashText } from '../../src/bridges/near-intents-signature.ts';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import {
  BTC_ASSET,
  type OneClickQuote,
  type OneClickStatus,
  SOL_ASSET,
} from '../../src/providers/near-intents.ts';

const SECRET = new Uint8Array(32).fill(8);
const KEY = `ed25519:${encodeBase58(ed25519.getPublicKey(SECRET))}`;
const wallet = (byte: number) => encodeBase58(ed25519.getPublicKey(new Uint8Array(32).fill(byte)));
const NOW = Date.parse('2026-11-20T10:00:03Z');
const EXPECTED = {
  depositAddress: wallet(1),
  amount: lamports(498_750_000n),
  reserveAddress: wallet(2),
  bitcoinAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  minimumSats: sats(62_000n),
  quoteKey: KEY,
  now: NOW,
};

type Change = {
  readonly status?: string;
  readonly swapDetails?: Partial<OneClickStatus['swapDetails']>;
  readonly quoteRequest?: Partial<OneClickQuote['quoteRequest']>;
  readonly quote?: Partial<OneClickQuote['quote']>;
  readonly secret?: Uint8Array;
};

function statusWith(change: Change = {}): OneClickStatus {
  const unsigned: OneClickQuote = {
    timestamp: '2026-11-20T10:00:01.104Z',
    signature: '',
    quoteRequest: {
      dry: false,
      swapType: 'EXACT_INPUT',
      depositMode: 'SIMPLE',
      depositType: 'ORIGIN_CHAIN',
      originAsset: SOL_ASSET,
      destinationAsset: BTC_ASSET,
      amount: '498750000',
      recipient: EXPECTED.bitcoinAddress,
      recipientType: 'DESTINATION_CHAIN',
      refundTo: EXPECTED.reserveAddress,
      refundType: 'ORIGIN_CHAIN',
      slippageTolerance: 50,
      deadline: '2026-11-20T10:20:00.000Z',
      referral: 'lifi',
      virtualChainRecipient: null,
      ...change.quoteRequest,
    },
    quote: {
      amountIn: '498750000',
      amountInFormatted: '0.49875',
      amountInUsd: '50.4',
      minAmountIn: '498750000',
      amountOut: '62386',
      amountOutFormatted: '0.00062386',
      amountOutUsd: '50.0',
      minAmountOut: '62074',
      depositAddress: EXPECTED.depositAddress,
      deadline: '2026-11-23T10:20:00.000Z',
      timeEstimate: 465,
      withdrawFee: '1500',
      ...change.quote,
    },
  };
  const signature = ed25519.sign(utf8ToBytes(quoteHashText(unsigned)), change.secret ?? SECRET);
  return {
    status: change.status ?? 'PENDING_DEPOSIT',
    quoteResponse: { ...unsigned, signature: `ed25519:${encodeBase58(signature)}` },
    swapDetails: { originChainTxHashes: [], destinationChainTxHashes: [], ...change.swapDetails },
  };
}

it("1Click's own signed quote for the deposit address confirms where the BTC goes", async () => {
  expect(await confirmNearDestination(statusWith(), EXPECTED)).toEqual({
    ok: true,
    minimumSats: 62_074n,
    expiresAt: Date.parse('2026-11-23T10:20:00.000Z'),
  });
});

it.each<[string, Change, string]>([
  ['a deposit that is known', { status: 'KNOWN_DEPOSIT_TX' }, 'near_status'],
  ['a swap that is over', { status: 'SUCCESS' }, 'near_status'],
  ['an undocumented state', { status: 'READY' }, 'near_status'],
  ['a deposit in its list', { swapDetails: { originChainTxHashes: [{ hash: 'a' }] } }, 'near_deposit_seen'],
  [
    'a payout in its list',
    { swapDetails: { destinationChainTxHashes: [{ hash: 'a' }] } },
    'near_deposit_seen',
  ],
  ['a refund', { swapDetails: { refundedAmount: '5' } }, 'near_deposit_seen'],
  ['another deposit address', { quote: { depositAddress: wallet(3) } }, 'near_deposit_address'],
  ['a memo', { quote: { depositMemo: '7' } }, 'quote_deposit_mode'],
  ['another key', { secret: new Uint8Array(32).fill(9) }, 'quote_signature'],
  ['another recipient', { quoteRequest: { recipient: 'bc1qother' } }, 'quote_recipient'],
  ['a recipient inside the bridge', { quoteRequest: { recipientType: 'INTENTS' } }, 'quote_recipient'],
  ['another refund address', { quoteRequest: { refundTo: wallet(3) } }, 'quote_refund_address'],
  ['another asset to pay out', { quoteRequest: { destinationAsset: SOL_ASSET } }, 'quote_destination_asset'],
  ['another asset to pay in', { quoteRequest: { originAsset: BTC_ASSET } }, 'quote_origin_asset'],
  ['another kind of swap', { quoteRequest: { swapType: 'FLEX_INPUT' } }, 'quote_type'],
  ['an amount that is not paid', { quoteRequest: { amount: '498750001' } }, 'quote_amount'],
  ['an amount in that is not paid', { quote: { amountIn: '498750001' } }, 'quote_amount'],
  ['a dry quote', { quoteRequest: { dry: true } }, 'quote_dry'],
  ['slippage of a tenth', { quoteRequest: { slippageTolerance: 1_000 } }, 'quote_slippage'],
  ['slippage that is not a number', { quoteRequest: { slippageTolerance: Number.NaN } }, 'quote_slippage'],
  ['a detour', { quoteRequest: { virtualChainRecipient: '0x1' } }, 'quote_detour'],
  ['fees for a third party', { quoteRequest: { appFees: [{ recipient: 'a', fee: 26 }] } }, 'quote_app_fees'],
  ['an end that is near', { quote: { deadline: '2026-11-20T10:15:00.000Z' } }, 'quote_deadline'],
  [
    'an address that goes cold soon',
    { quote: { timeWhenInactive: '2026-11-20T10:15:00.000Z' } },
    'quote_deadline',
  ],
  ['too little', { quote: { minAmountOut: '61999' } }, 'near_minimum'],
])('a status with %s confirms nothing', async (_name, change, reason) => {
  expect(await confirmNearDestination(statusWith(change), EXPECTED)).toEqual({ ok: false, reason });
});

it.each(['recipient', 'refundTo'] as const)(
  'a %s changed behind the signature confirms nothing',
  async (field) => {
    const status = statusWith();
    const quoteRequest = { ...status.quoteResponse.quoteRequest, [field]: wallet(4) };
    const forged = { ...status, quoteResponse: { ...status.quoteResponse, quoteRequest } };
    expect(await confirmNearDestination(forged, EXPECTED)).toEqual({ ok: false, reason: 'quote_signature' });
  },
);
