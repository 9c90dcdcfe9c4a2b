import { hexToBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import {
  decodeVaultSwap,
  ENDPOINT_DATA,
  judgeVaultSwap,
  minimumOutput,
  NATIVE_VAULT,
  SWAP_ENDPOINT_PROGRAM,
  VAULT_DATA,
  type VaultSwap,
  vaultSwapAccounts,
} from '../../src/bridges/lifi-chainflip.ts';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { programAddress } from '../../src/chain/solana/program-address.ts';
import { sats } from '../../src/core/amount.ts';

// 498750000 lamports to a P2WPKH address, at least 62000 sats, refund 11x32, broker 22x32, seed 33x32.
const VECTOR = hexToBytes(
  'a3265ce2f3698dc43052ba1d00000000030000002a0000006263317177353038643671656a787464673479357233' +
    '7a6172766172793063357877376b763866337434050000000' +
    `06c0000000164000000${'11'.repeat(32)}80d568098e99ed7bb1bbb4b8962508${'00'.repeat(17)}` +
    `00000000${'22'.repeat(32)}00000020000000${'33'.repeat(32)}`,
);
const ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const RESERVE = encodeBase58(new Uint8Array(32).fill(0x11));
const EXPECTED = {
  reserveAddress: RESERVE,
  bitcoinAddress: ADDRESS,
  minimumSats: sats(62_000n),
  expectedSats: sats(63_000n),
  maxFeesBps: 50,
};

function swapOf(data: Uint8Array): VaultSwap {
  const verdict = decodeVaultSwap(data);
  if (!verdict.ok) throw new Error(verdict.reason);
  return verdict.swap;
}
const swap = swapOf(VECTOR);
const accounts = vaultSwapAccounts(RESERVE, swap.seed);

it('a vault swap reads back to its order, to the sat', () => {
  expect(VECTOR).toHaveLength(219);
  expect(swap).toMatchObject({
    lamports: 498_750_000n,
    destinationChain: 3,
    destinationToken: 5,
    retryBlocks: 100,
    refundAddress: RESERVE,
    broker: encodeBase58(new Uint8Array(32).fill(0x22)),
    brokerBps: 0,
    dca: null,
    affiliatesBps: [],
  });
  expect(new TextDecoder().decode(swap.destination)).toBe(ADDRESS);
  expect(minimumOutput(swap)).toBe(62_000n);
  expect(judgeVaultSwap(swap, accounts, EXPECTED)).toEqual({ ok: true, minimumSats: 62_000n });
});

it('the published addresses are those that the programs derive', () => {
  const derive = (program: string, seed: string) => programAddress(program, [new TextEncoder().encode(seed)]);
  expect(derive(SWAP_ENDPOINT_PROGRAM, 'data')).toBe(ENDPOINT_DATA);
  expect(derive('AusZPVXPoUM8QJJ2SL4KwvRGCQ22cDg6Y4rg7EvFrxi7', 'data')).toBe(VAULT_DATA);
  const vaults = ['AusZPVXPoUM8QJJ2SL4KwvRGCQ22cDg6Y4rg7EvFrxi7', SWAP_ENDPOINT_PROGRAM].map((program) =>
    derive(program, 'swap_endpoint_native_vault'),
  );
  expect(vaults).toContain(NATIVE_VAULT);
});

it('refuses every incomplete order', () => {
  const read = VECTOR.map((_, length) => Number(decodeVaultSwap(VECTOR.slice(0, length)).ok));
  expect([...read]).toEqual(Array.from(VECTOR, () => 0));
});

it.each<[string, number, number, string]>([
  ['another instruction', 0, 0x45, 'chainflip_instruction'],
  ['a message to run', 70, 1, 'chainflip_ccm'],
  ['an unknown version', 75, 2, 'chainflip_version'],
  ['a message with the refund', 144, 1, 'chainflip_ccm'],
  ['an option that is neither', 145, 2, 'chainflip_field'],
  ['a list length of the long form', 182, 1, 'chainflip_field'],
  ['a list that is longer than its bytes', 182, 4, 'chainflip_truncated'],
  ['a parameter length one short', 71, 107, 'chainflip_truncated'],
  ['a seed of another length', 183, 31, 'chainflip_field'],
])('%s is refused', (_name, at, byte, reason) => {
  const data = VECTOR.slice();
  data[at] = byte;
  expect(decodeVaultSwap(data)).toEqual({ ok: false, reason });
});

it('refuses a trailing byte, inside the parameters too', () => {
  expect(decodeVaultSwap(Uint8Array.from([...VECTOR, 0]))).toEqual({
    ok: false,
    reason: 'chainflip_trailing_bytes',
  });
  const inner = Uint8Array.from([...VECTOR.slice(0, 183), 0, ...VECTOR.slice(183)]);
  inner[71] = 109;
  expect(decodeVaultSwap(inner)).toEqual({ ok: false, reason: 'chainflip_trailing_bytes' });
});

it.each<[string, Partial<VaultSwap>, string]>([
  ['another chain', { destinationChain: 1 }, 'chainflip_destination_chain'],
  ['another token', { destinationToken: 9 }, 'chainflip_destination_chain'],
  ['another address', { destination: swap.destination.toReversed() }, 'chainflip_destination'],
  [
    'an address with a tail',
    { destination: Uint8Array.from([...swap.destination, 0x31]) },
    'chainflip_destination',
  ],
  ['another refund address', { refundAddress: swap.broker }, 'chainflip_refund_address'],
  ['nothing to swap', { lamports: 0n }, 'chainflip_amount'],
  ['no limit on the price', { minimumPrice: 0n }, 'chainflip_minimum'],
  ['a limit below the floor', { minimumPrice: swap.minimumPrice - (1n << 118n) }, 'chainflip_minimum'],
  [
    'a limit above the output that the quote expects',
    { minimumPrice: (swap.minimumPrice * 63_001n) / 62_000n },
    'chainflip_unfillable',
  ],
  ['a limit that nothing can fill', { minimumPrice: (1n << 256n) - 1n }, 'chainflip_unfillable'],
  ['retries for days', { retryBlocks: 601 }, 'chainflip_retry'],
  ['payment in parts', { dca: { chunks: 1, intervalBlocks: 2 } }, 'chainflip_dca'],
  ['a boost fee', { boostFeeBps: 5 }, 'chainflip_fees'],
  ['a broker that takes too much', { brokerBps: 51 }, 'chainflip_fees'],
  ['affiliates that take too much together', { affiliatesBps: [26, 25] }, 'chainflip_fees'],
])('%s is refused', (_name, change, reason) => {
  expect(judgeVaultSwap({ ...swap, ...change }, accounts, EXPECTED)).toEqual({ ok: false, reason });
});

it.each([0, 1, 2, 3, 4, 5])('another account at place %i is refused', (place) => {
  const changed = accounts.with(place, swap.broker);
  expect(judgeVaultSwap(swap, changed, EXPECTED)).toEqual({ ok: false, reason: 'chainflip_accounts' });
});
