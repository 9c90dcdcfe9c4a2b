/** S19: a vault swap that is not ours. */
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { SYSTEM_PROGRAM } from '../../../../src/custody/policy/programs.ts';
import type { Random } from '../../../simulator/random.ts';
import { u32 } from '../../../world/lifi-transaction.ts';
import { BITCOIN_ADDRESS, type Draft, THIEF, vaultSwap } from '../draft.ts';
import { at, collect, type Family, LEG, leg } from './family.ts';

const { list, chainflip } = collect();

const order =
  (change: (d: Draft, r: Random) => Partial<Parameters<typeof vaultSwap>[0]>): Family['change'] =>
  (d, r) => {
    const minimum = BigInt(d.quote.estimate.toAmountMin);
    d.instructions[LEG] = vaultSwap({
      amount: d.amount - d.fee,
      minimum,
      seed: new Uint8Array(32).fill(r.between(0, 255)),
      ...change(d, r),
    });
  };
chainflip(
  'a limit above what the quote expects',
  'chainflip_unfillable',
  order((d, r) => ({ minimum: BigInt(d.quote.estimate.toAmount) + BigInt(r.between(1, 1_000_000)) })),
);
chainflip(
  'BTC to the thief',
  'chainflip_destination',
  order(() => ({ address: 'bc1qthief0qejxtdg4y5r3zarvary0c5xw7kv8f3t4' })),
);
chainflip(
  'an address one letter off',
  'chainflip_destination',
  order((_, r) => {
    const place = r.between(4, 41);
    return {
      address:
        BITCOIN_ADDRESS.slice(0, place) +
        (BITCOIN_ADDRESS[place] === 'q' ? 'p' : 'q') +
        BITCOIN_ADDRESS.slice(place + 1),
    };
  }),
);
chainflip(
  'our address in capitals',
  'chainflip_destination',
  order(() => ({ address: BITCOIN_ADDRESS.toUpperCase() })),
);
chainflip(
  'our address and a tail',
  'chainflip_destination',
  order(() => ({ address: `${BITCOIN_ADDRESS}\0` })),
);
chainflip(
  'refunds to the thief',
  'chainflip_refund_address',
  order(() => ({ refund: THIEF })),
);
chainflip(
  'refunds to the burn address',
  'chainflip_refund_address',
  order(() => ({ refund: SYSTEM_PROGRAM })),
);
chainflip(
  'no floor under the output',
  'chainflip_minimum',
  order(() => ({ minimum: 0n })),
);
chainflip(
  'a floor too low',
  'chainflip_minimum',
  order((d, r) => ({ minimum: (BigInt(d.quote.estimate.toAmountMin) * BigInt(r.between(1, 999))) / 1_000n })),
);
chainflip(
  'another chain',
  'chainflip_destination_chain',
  order((_, r) => ({ chain: r.pick([1, 2, 4, 5]) })),
);
chainflip(
  'another asset',
  'chainflip_destination_chain',
  order((_, r) => ({ token: r.pick([1, 4, 9, 10]) })),
);
chainflip(
  'a broker that takes too much',
  'chainflip_fees',
  order((_, r) => ({ brokerBps: r.between(51, 65_535) })),
);
chainflip(
  'a boost fee',
  'chainflip_fees',
  order((_, r) => ({ boost: r.between(1, 255) })),
);
chainflip(
  'retries for days',
  'chainflip_retry',
  order((_, r) => ({ retry: r.between(601, 2_000_000_000) })),
);
chainflip('a swap of nothing', 'chainflip_amount', (d) => leg(d).data.fill(0, 8, 16));
chainflip(
  'an unreadable order',
  'chainflip_trailing_bytes',
  (d, r) => (leg(d).data = concatBytes(leg(d).data, new Uint8Array(r.between(1, 9)))),
);
chainflip(
  'an order cut short',
  'chainflip_truncated',
  (d, r) => (leg(d).data = leg(d).data.slice(0, leg(d).data.length - r.between(1, 32))),
);
chainflip('a message to run', 'chainflip_ccm', (d) => (leg(d).data = leg(d).data.with(70, 1)));
chainflip(
  'another version',
  'chainflip_version',
  (d, r) => (leg(d).data = leg(d).data.with(75, r.between(2, 255))),
);
chainflip(
  'an option that is neither',
  'chainflip_field',
  (d, r) => (leg(d).data = leg(d).data.with(145, r.between(2, 255))),
);
chainflip('payment in parts', 'chainflip_dca', (d) => {
  const data = leg(d).data;
  // The parameters are at offset 75, after their length; dca is at offset 71 of the parameters.
  const longer = concatBytes(data.slice(0, 146), Uint8Array.of(1), u32(9), u32(2), data.slice(147));
  longer.set(u32(116), 71);
  leg(d).data = longer;
});
chainflip('a token swap', 'chainflip_instruction', (d) => leg(d).data.set(hexToBytes('4532fc63e55377eb')));
chainflip(
  'another vault',
  'chainflip_accounts',
  (d, r) => (leg(d).accounts[r.pick([0, 1, 3, 4])] = at(THIEF)),
);

export const CHAINFLIP_FAMILIES: readonly Family[] = list;
