/**
 * Chainflip's vault swap on Solana. The instruction holds the whole order, so the bytes prove the BTC destination. A field
 * that the network cannot decode locks the deposit forever, so unknown fields and trailing bytes are refused.
 * @see chainflip-io/chainflip-backend: IDL of the swap endpoint v1.3.0 (Borsh), cf_parameters.rs (SCALE, no CCM)
 * @module
 */

import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type ByteReader, createByteReader } from '../chain/solana/byte-reader.ts';
import { addressSeed, programAddress } from '../chain/solana/program-address.ts';
import { SYSTEM_PROGRAM } from '../chain/solana/transaction.ts';
import { type Sats, sats } from '../core/amount.ts';

/** Mainnet. The IDL file contains the id of a local network. */
export const SWAP_ENDPOINT_PROGRAM = 'J88B7gmadHzTNGiy54c9Ms8BsEXNdB2fntFyhKpk3qoT';

/** Program-derived, as published: "data" of the endpoint, "data" of the vault, "swap_endpoint_native_vault". */
export const ENDPOINT_DATA = 'FmAcjWaRFUxGWBfGT7G3CzcFeJFsewQ4KPJVG4f6fcob';
export const VAULT_DATA = 'ACLMuTFvDAb3oecQQGkTVqpUbhCKHG3EZ9uNXHK1W9ka';
export const NATIVE_VAULT = '3tJ67qa2GDfvv2wcMYNUfN5QBZrFpTwcU8ASZKMvCTVU';

/** First 8 bytes of an `x_swap_native`, little-endian. */
const X_SWAP_NATIVE = 0xc48d69f3e25c26a3n;
const CHAIN_BITCOIN = 3;
const TOKEN_BTC = 5;
const SEED_BYTES = 32;
/** The longest Bitcoin address text is 90 characters (BIP-173). */
const MAX_ADDRESS_BYTES = 90;
const MAX_AFFILIATES = 8;
/** Blocks of 6 s for which Chainflip may retry before it refunds: one hour. */
const MAX_RETRY_BLOCKS = 600;
const PRICE_FRACTION_BITS = 128n;

export type VaultSwap = {
  readonly lamports: bigint;
  readonly destinationChain: number;
  readonly destinationToken: number;
  /** Bytes of the destination's text. */
  readonly destination: Uint8Array;
  readonly retryBlocks: number;
  readonly refundAddress: string;
  /** Output atoms per input atom, times 2^128. */
  readonly minimumPrice: bigint;
  readonly dca: { readonly chunks: number; readonly intervalBlocks: number } | null;
  readonly boostFeeBps: number;
  /** 32 bytes in base58. */
  readonly broker: string;
  readonly brokerBps: number;
  readonly affiliatesBps: readonly number[];
  readonly seed: Uint8Array;
};

export type VaultSwapRefusal =
  | 'chainflip_instruction'
  | 'chainflip_truncated'
  | 'chainflip_trailing_bytes'
  | 'chainflip_ccm'
  | 'chainflip_version'
  | 'chainflip_field'
  | 'chainflip_accounts'
  | 'chainflip_destination_chain'
  | 'chainflip_destination'
  | 'chainflip_refund_address'
  | 'chainflip_amount'
  | 'chainflip_minimum'
  | 'chainflip_unfillable'
  | 'chainflip_retry'
  | 'chainflip_dca'
  | 'chainflip_fees';

type Refusal = { readonly ok: false; readonly reason: VaultSwapRefusal };
const refusal = (reason: VaultSwapRefusal): Refusal => ({ ok: false, reason });

/** Thrown while decoding; caught in this file. */
class Refused extends Error {
  readonly reason: VaultSwapRefusal;
  constructor(reason: VaultSwapRefusal) {
    super(reason);
    this.reason = reason;
  }
}

function refuse(reason: VaultSwapRefusal): never {
  throw new Refused(reason);
}

/** Never throws. */
export function decodeVaultSwap(data: Uint8Array): { readonly ok: true; readonly swap: VaultSwap } | Refusal {
  try {
    const read = createByteReader(data);
    const swap = readSwap(read);
    return read.left() === 0 ? { ok: true, swap } : refusal('chainflip_trailing_bytes');
  } catch (error) {
    if (error instanceof Refused) return refusal(error.reason);
    if (error instanceof RangeError) return refusal('chainflip_truncated');
    throw error;
  }
}

function readSwap(read: ByteReader): VaultSwap {
  if (read.u64() !== X_SWAP_NATIVE) refuse('chainflip_instruction');
  const lamports = read.u64();
  const destinationChain = read.u32();
  const destination = read.bytes(bounded(read.u32(), MAX_ADDRESS_BYTES));
  const destinationToken = read.u32();
  // Bitcoin cannot execute messages.
  if (read.u8() !== 0) refuse('chainflip_ccm');
  const parameters = createByteReader(read.bytes(read.u32()));
  const order = readParameters(parameters);
  if (parameters.left() !== 0) refuse('chainflip_trailing_bytes');
  const seedLength = read.u32();
  if (seedLength !== SEED_BYTES) refuse('chainflip_field');
  return {
    lamports,
    destinationChain,
    destination,
    destinationToken,
    ...order,
    seed: read.bytes(SEED_BYTES),
  };
}

function readParameters(read: ByteReader) {
  const version = read.u8();
  if (version > 1) refuse('chainflip_version');
  const retryBlocks = read.u32();
  const refundAddress = read.address();
  const minimumPrice = read.u128() | (read.u128() << 128n);
  if (version === 1) {
    // A message with the refund would run a third party's program.
    if (read.u8() !== 0) refuse('chainflip_ccm');
    if (option(read)) read.u16();
  }
  const dca = option(read) ? { chunks: read.u32(), intervalBlocks: read.u32() } : null;
  const boostFeeBps = read.u8();
  const broker = read.address();
  const brokerBps = read.u16();
  // SCALE compact length: one byte below 64, its two low bits 0.
  const prefix = read.u8();
  if (prefix % 4 !== 0) refuse('chainflip_field');
  const affiliatesBps = Array.from({ length: bounded(prefix / 4, MAX_AFFILIATES) }, () => {
    read.u8();
    return read.u8();
  });
  return { retryBlocks, refundAddress, minimumPrice, dca, boostFeeBps, broker, brokerBps, affiliatesBps };
}

function option(read: ByteReader): boolean {
  const mark = read.u8();
  if (mark > 1) refuse('chainflip_field');
  return mark === 1;
}

function bounded(length: number, maximum: number): number {
  if (length > maximum) refuse('chainflip_field');
  return length;
}

/** The minimum output of the order in sats, rounded up as Chainflip does. */
export const minimumOutput = (swap: Pick<VaultSwap, 'minimumPrice' | 'lamports'>): Sats =>
  sats((swap.minimumPrice * swap.lamports + (1n << PRICE_FRACTION_BITS) - 1n) >> PRICE_FRACTION_BITS);

/** The account in which the endpoint stores the order for Chainflip's witnesses. The sender pays its rent. */
const eventAccount = (from: string, seed: Uint8Array): string =>
  programAddress(SWAP_ENDPOINT_PROGRAM, [utf8ToBytes('swap_event'), addressSeed(from), seed]);

/** Addresses of an instruction's accounts, in the order of the IDL. */
export const vaultSwapAccounts = (from: string, seed: Uint8Array): readonly string[] => [
  VAULT_DATA,
  NATIVE_VAULT,
  from,
  eventAccount(from, seed),
  ENDPOINT_DATA,
  SYSTEM_PROGRAM,
];

export type VaultSwapExpectation = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  readonly minimumSats: Sats;
  /** The output that the quote expects. */
  readonly expectedSats: Sats;
  /** Broker and affiliates together. */
  readonly maxFeesBps: number;
};

/** Compares a decoded order with our own record and with the quote. */
export function judgeVaultSwap(
  swap: VaultSwap,
  accounts: readonly string[],
  expected: VaultSwapExpectation,
): { readonly ok: true; readonly minimumSats: Sats } | Refusal {
  const own = vaultSwapAccounts(expected.reserveAddress, swap.seed);
  if (accounts.length !== own.length || accounts.some((address, index) => address !== own[index])) {
    return refusal('chainflip_accounts');
  }
  if (swap.destinationChain !== CHAIN_BITCOIN || swap.destinationToken !== TOKEN_BTC) {
    return refusal('chainflip_destination_chain');
  }
  const address = utf8ToBytes(expected.bitcoinAddress);
  if (
    address.length !== swap.destination.length ||
    address.some((byte, index) => byte !== swap.destination[index])
  ) {
    return refusal('chainflip_destination');
  }
  if (swap.refundAddress !== expected.reserveAddress) return refusal('chainflip_refund_address');
  if (swap.lamports === 0n) return refusal('chainflip_amount');
  const minimumSats = minimumOutput(swap);
  if (swap.minimumPrice === 0n || minimumSats < expected.minimumSats) return refusal('chainflip_minimum');
  // A minimum above the expected output is never met: the swap would be refunded, less its fees.
  if (minimumSats > expected.expectedSats) return refusal('chainflip_unfillable');
  if (swap.retryBlocks > MAX_RETRY_BLOCKS) return refusal('chainflip_retry');
  if (swap.dca) return refusal('chainflip_dca');
  const fees = swap.affiliatesBps.reduce((sum, bps) => sum + bps, swap.brokerBps);
  if (swap.boostFeeBps !== 0 || fees > expected.maxFeesBps) return refusal('chainflip_fees');
  return { ok: true, minimumSats };
}
