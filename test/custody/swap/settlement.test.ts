import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import { swapKind } from '../../../src/custody/swap/operation.ts';
import { confirmedOutputs } from '../../../src/custody/swap/settlement.ts';
import type { BitcoinTx } from '../../../src/providers/esplora.ts';
import {
  BTC_ADDRESS,
  bitcoinTx,
  createFakeBridge,
  createSwapPorts,
  quotesOf,
} from '../../kit/fake-bridge.ts';
import { NOW, settling } from '../../kit/sample-operations.ts';
import { settleSwap } from './settle-swap.ts';

const TXID = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

const delivered = (...txids: string[]): BridgeReport => ({ state: 'delivered', txids });
const pending = (detail: string, awaitsBlock = false) => ({
  settlement: { state: 'pending', detail, ...(awaitsBlock ? { awaitsBlock } : {}) },
  once: [],
});
const paidBy = (txid: string, vout: number, sats: bigint) => ({
  settlement: { state: 'complete', outcome: { btcTxid: txid, btcVout: vout, btcSats: sats.toString() } },
  once: [`output:${txid}:${vout}`],
});

describe('the bridge only indicates where to check', () => {
  it.each(['landed', 'settling'])('a pending bridge status is shown as %s', async (detail) => {
    const { settle, bridge } = settleSwap({ state: 'pending', detail });
    expect(await settle()).toEqual(pending(detail));
    expect(bridge.reports).toEqual(['deposit']);
  });

  it('a swap waits while no transaction of the reported delivery pays our Bitcoin address', async () => {
    expect(await settleSwap(delivered(TXID)).settle()).toEqual(pending('settling'));
    expect(await settleSwap(delivered()).settle()).toEqual(pending('settling'));
  });

  it('a failed bridge status leaves the swap unsettled, because no refund is proven', async () => {
    const { settle } = settleSwap({ state: 'failed', reason: 'bridge_failed' });
    expect(await settle()).toEqual({
      settlement: { state: 'incomplete', reason: 'bridge_failed', arrived: false, outcome: {} },
      once: [],
    });
  });

  it.each([
    ['of a route that this version does not have', { route: 'retired-route', depositAddress: 'deposit' }],
    ['without a deposit address', { route: 'near-intents', depositAddress: null }],
  ])('a swap %s is not settled, and no bridge is called', async (_name, plan) => {
    const bridge = createFakeBridge();
    const ports = createSwapPorts(bridge);
    const kind = swapKind(ports, quotesOf(ports));
    expect(await kind.settle(settling({ plan }), () => false)).toBeUndefined();
    expect(bridge.reports).toEqual([]);
  });
});

describe('delivery', () => {
  const both = (tx: BitcoinTx) => [() => tx, () => tx];

  it('a delivery is the confirmed output to our address', async () => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(bitcoinTx(TXID, [{ address: 'bc1qchange', value: 9n }, { value: 124_500n }]));
    expect(await settle()).toEqual(paidBy(TXID, 1, 124_500n));
  });

  it('a delivery is found in any of several reported transactions', async () => {
    const { settle, ports } = settleSwap(delivered(OTHER, TXID));
    ports.indexes = [(txid) => (txid === TXID ? bitcoinTx(TXID, [{ value: 124_500n }]) : null)];
    expect(await settle()).toEqual(paidBy(TXID, 0, 124_500n));
  });

  it('a delivery of exactly the minimum is enough', async () => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(bitcoinTx(TXID, [{ value: 124_000n }]));
    expect((await settle()).settlement.state).toBe('complete');
  });

  it.each([
    [
      'settles the swap when no more is missing than a swap may cost',
      121_520n,
      { arrived: true, cost: 30_000_000n },
    ],
    ['leaves the swap unsettled when more is missing', 121_519n, { arrived: false }],
  ])('a delivery of less than the minimum is partial, not a success, and %s', async (_name, value, end) => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(bitcoinTx(TXID, [{ value }]));
    expect(await settle()).toEqual({
      settlement: {
        state: 'incomplete',
        reason: 'partial',
        ...end,
        outcome: { btcTxid: TXID, btcVout: 0, btcSats: value.toString() },
      },
      once: [`output:${TXID}:0`],
    });
  });

  it.each([
    ['in no block', true, bitcoinTx(TXID, [{ value: 124_500n }], null)],
    ['to another address', false, bitcoinTx(TXID, [{ address: 'bc1qother', value: 124_500n }])],
    ['to no address at all', false, bitcoinTx(TXID, [{ address: null, value: 124_500n }])],
  ])('an output %s is not a delivery; a block is awaited: %s', async (_name, awaitsBlock, tx) => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(tx);
    expect(await settle()).toEqual(pending('settling', awaitsBlock));
  });

  it('an output that another swap has consumed is not a delivery', async () => {
    const { settle, ports } = settleSwap(delivered(TXID), [`output:${TXID}:0`]);
    ports.indexes = both(bitcoinTx(TXID, [{ value: 124_500n }]));
    expect(await settle()).toEqual(pending('settling'));
  });

  it('the second of two equal outputs settles the second swap', async () => {
    const { settle, ports } = settleSwap(delivered(TXID), [`output:${TXID}:0`]);
    ports.indexes = both(bitcoinTx(TXID, [{ value: 124_500n }, { value: 124_500n }]));
    expect(await settle()).toEqual(paidBy(TXID, 1, 124_500n));
  });

  it.each([
    ['the larger output first', [200_000n, 124_500n], 1],
    ['the smaller output first', [60_000n, 124_500n], 1],
    ['three of them', [60_000n, 200_000n, 124_500n], 2],
  ])('each swap in a batch with %s takes the output that fits its amount', async (_name, values, vout) => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(
      bitcoinTx(
        TXID,
        values.map((value) => ({ value })),
      ),
    );
    expect(await settle()).toEqual(paidBy(TXID, vout, 124_500n));
  });

  it('the largest unused output is the partial payment when no output of a batch is enough', async () => {
    const { settle, ports } = settleSwap(delivered(TXID));
    ports.indexes = both(bitcoinTx(TXID, [{ value: 10n }, { value: 90_000n }, { value: 20n }]));
    expect((await settle()).settlement).toMatchObject({ reason: 'partial', outcome: { btcVout: 1 } });
  });

  it('a partial payment does not end a swap while another transaction of the report is not confirmed', async () => {
    const { settle, ports } = settleSwap(delivered(OTHER, TXID));
    ports.indexes = [(txid) => (txid === OTHER ? bitcoinTx(txid, [{ value: 7n }]) : null)];
    expect(await settle()).toEqual(pending('settling'));
  });

  it('a whole payment in a later transaction is preferred to a part in an earlier one', async () => {
    const { settle, ports } = settleSwap(delivered(OTHER, TXID));
    ports.indexes = [(txid) => bitcoinTx(txid, [{ value: txid === TXID ? 124_500n : 7n }])];
    expect(await settle()).toEqual(paidBy(TXID, 0, 124_500n));
  });

  it('a payment that is older than the swap is not a delivery of the swap', async () => {
    const { settle, ports } = settleSwap(delivered(TXID));
    const landed = NOW / 1_000;
    ports.indexes = both(bitcoinTx(TXID, [{ value: 124_500n }], { height: 899_000, time: landed - 7_201 }));
    expect(await settle()).toEqual(pending('settling'));
    // A block's own time may differ from the true time by two hours.
    ports.indexes = both(bitcoinTx(TXID, [{ value: 124_500n }], { height: 899_999, time: landed - 7_200 }));
    expect((await settle()).settlement.state).toBe('complete');
  });

  it('malformed txids are ignored, and at most a few valid ones are read', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => at.toString(16).padStart(64, '0'));
    const { settle, ports } = settleSwap(delivered('', '../address/x', 'A'.repeat(64), 'zz', ...many));
    const looked: string[] = [];
    ports.indexes = [
      (txid) => {
        looked.push(txid);
        return null;
      },
    ];
    expect(await settle()).toEqual(pending('settling'));
    expect(looked.length).toBeLessThanOrEqual(10);
    expect(looked.every((txid) => /^[0-9a-f]{64}$/.test(txid))).toBe(true);
  });
});

describe('two indexes', () => {
  const tx = bitcoinTx(TXID, [{ value: 5n }, { address: 'x', value: 6n }, { value: 7n }]);
  const outputs = [
    { vout: 0, value: 5n },
    { vout: 2, value: 7n },
  ];
  const SINCE = NOW / 1_000 - 7_200;
  const down = new Error('down');

  it.each<[string, (BitcoinTx | null | Error)[], { vout: number; value: bigint }[] | undefined]>([
    ['that agree', [tx, tx], outputs],
    ['that agree in different blocks', [tx, { ...tx, block: { height: 1, time: NOW / 1_000 } }], outputs],
    ['one of which is down', [down, tx], outputs],
    ['one of which lacks it', [tx, null], undefined],
    ['the first of which lacks it', [null, tx], undefined],
    ['one of which shows it unconfirmed', [tx, { ...tx, block: null }], undefined],
    [
      'one of which shows another value',
      [tx, bitcoinTx(TXID, [{ value: 4n }, { address: 'x', value: 6n }, { value: 7n }])],
      undefined,
    ],
    ['one of which shows one output fewer', [tx, bitcoinTx(TXID, [{ value: 5n }])], undefined],
    [
      'one of which shows a different position',
      [tx, bitcoinTx(TXID, [{ address: 'x', value: 6n }, { value: 5n }, { value: 7n }])],
      undefined,
    ],
    ['that are both down', [down, down], undefined],
    ['that both lack it', [null, null], undefined],
  ])(
    'outputs are confirmed only if every index that responds agrees: two indexes %s',
    (_name, views, expected) => {
      expect(confirmedOutputs(views, BTC_ADDRESS, SINCE)).toEqual(expected);
    },
  );

  it('no output is confirmed without an index', () => {
    expect(confirmedOutputs([], BTC_ADDRESS, SINCE)).toBeUndefined();
  });
});
