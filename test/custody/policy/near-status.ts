import { ed25519 } from '@noble/curves/ed25519.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { quoteHashText } from '../../../src/bridges/near-intents-signature.ts';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import type { OneClickQuote, OneClickStatus } from '../../../src/providers/near-intents.ts';
import { BTC_ASSET, SOL_ASSET } from '../../../src/providers/near-intents.ts';

/** With members that a test may change. */
export type Deep<T> = T extends object ? { -readonly [K in keyof T]: Deep<T[K]> } : T;

/** 1Click's status of a deposit address before any deposit. */
export function nearStatus(p: {
  paid: bigint;
  minimum: bigint;
  depositAddress: string;
  recipient: string;
  refundTo: string;
}): Deep<OneClickStatus> {
  const { paid, minimum, depositAddress, recipient, refundTo } = p;
  return {
    status: 'PENDING_DEPOSIT',
    swapDetails: { originChainTxHashes: [], destinationChainTxHashes: [] },
    quoteResponse: {
      timestamp: '2026-11-20T10:00:01.104Z',
      signature: '',
      quoteRequest: {
        dry: false,
        swapType: 'EXACT_INPUT',
        depositMode: 'SIMPLE',
        depositType: 'ORIGIN_CHAIN',
        originAsset: SOL_ASSET,
        destinationAsset: BTC_ASSET,
        amount: `${paid}`,
        recipient,
        recipientType: 'DESTINATION_CHAIN',
        refundTo,
        refundType: 'ORIGIN_CHAIN',
        slippageTolerance: 50,
        deadline: '2026-11-20T10:20:00.000Z',
        referral: 'lifi',
      },
      quote: {
        amountIn: `${paid}`,
        amountInFormatted: '1',
        amountInUsd: '1',
        minAmountIn: `${paid}`,
        amountOut: `${(minimum * 1_005n) / 1_000n}`,
        amountOutFormatted: '1',
        amountOutUsd: '1',
        minAmountOut: `${minimum}`,
        depositAddress,
        deadline: '2026-11-23T10:20:00.000Z',
        withdrawFee: '1500',
      },
    },
  };
}

/** Signs it with the given secret key. */
export function signedStatus(status: OneClickStatus, secret: Uint8Array): OneClickStatus {
  const quote: OneClickQuote = status.quoteResponse;
  const signature = ed25519.sign(utf8ToBytes(quoteHashText(quote)), secret);
  return { ...status, quoteResponse: { ...quote, signature: `ed25519:${encodeBase58(signature)}` } };
}
