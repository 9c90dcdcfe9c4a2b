import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import type { Settled } from '../../../src/custody/kernel/operation.ts';
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
import { scenes } from '../../kit/scenes.ts';
import { settleSwap } from './settle-swap.ts';

const TXID = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

const delivered = (...txids: string[]): BridgeReport => ({ state: 'delivered', txids });
const pending = (detail: string) => ({ settlement: { state: 'pending', detail }, once: [] });

describe('the bridge only states where to check', () => {
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

const IDS: Readonly<Record<string, string>> = { t: TXID, o: OTHER };
const LANDED = NOW / 1_000;
/** `t 9@bc1qother 5 mempool`: the transaction, its outputs in sats, to our address unless named, and its block if it is not a usual one. */
function txOf(text: string): BitcoinTx {
  const [name = '', ...words] = text.trim().split(' ');
  const outputs = words
    .filter((word) => /^\d/.test(word))
    .map((word) => {
      const [value = '', to] = word.split('@');
      return { value: BigInt(value), ...(to && { address: to === 'none' ? null : to }) };
    });
  const age = words.find((word) => word.startsWith('age='))?.slice(4);
  if (words.includes('mempool')) return bitcoinTx(IDS[name] ?? '', outputs, null);
  if (age) return bitcoinTx(IDS[name] ?? '', outputs, { height: 899_999, time: LANDED - Number(age) });
  return bitcoinTx(IDS[name] ?? '', outputs);
}
const shown = ({ settlement }: Settled): string => {
  if (settlement.state === 'pending') return settlement.awaitsBlock ? 'waits for a block' : 'waits';
  const { btcTxid, btcVout, btcSats } = settlement.outcome;
  const paid = `${btcTxid === TXID ? 't' : 'o'}:${btcVout} ${btcSats}`;
  if (settlement.state === 'complete') return `whole ${paid}`;
  return settlement.arrived
    ? `${settlement.reason} ${paid} cost ${settlement.cost}`
    : `${settlement.reason} ${paid} unsettled`;
};

describe('delivery', () => {
  // The transactions that the bridge reports, those that both indexes show, the output that another swap consumed.
  it.each(
    scenes(`
      a delivery is the confirmed output to our address                                              | t   | t 9@bc1qchange 124500  |   | whole t:1 124500
      a delivery is found in any of several reported transactions                                    | o t | t 124500               |   | whole t:0 124500
      a delivery of exactly the minimum is enough                                                    | t   | t 124000               |   | whole t:0 124000
      less than the minimum settles the swap if no more is missing than it may cost                  | t   | t 121520               |   | partial t:0 121520 cost 30000000
      a delivery of which more is missing leaves the swap unsettled                                  | t   | t 121519               |   | partial t:0 121519 unsettled
      an output in no block is not a delivery yet, and its block is awaited                          | t   | t 124500 mempool       |   | waits for a block
      an output to another address is not a delivery                                                 | t   | t 124500@bc1qother     |   | waits
      an output to no address is not a delivery                                                      | t   | t 124500@none          |   | waits
      an output that another swap has consumed is not a delivery                                     | t   | t 124500               | 0 | waits
      the second of two equal outputs settles the second swap                                        | t   | t 124500 124500        | 0 | whole t:1 124500
      a swap takes the output of a batch that fits its amount, not a larger one                      | t   | t 200000 124500        |   | whole t:1 124500
      a swap takes the output of a batch that fits its amount, not a smaller one                     | t   | t 60000 124500         |   | whole t:1 124500
      of three outputs, a swap takes the one that fits its amount                                    | t   | t 60000 200000 124500  |   | whole t:2 124500
      the largest unused output is the part when no output of a batch is enough                      | t   | t 10 90000 20          |   | partial t:1 90000 unsettled
      a part does not end a swap while another reported transaction is unconfirmed                   | o t | o 7                    |   | waits
      a whole payment in a later transaction is preferred to a part in an earlier                    | o t | o 7, t 124500          |   | whole t:0 124500
      a payment that is more than two hours older than the swap is not a delivery                    | t   | t 124500 age=7201      |   | waits
      a payment two hours older than the swap may be a delivery, because a block's time may be wrong | t   | t 124500 age=7200      |   | whole t:0 124500
    `),
  )('%s', async (_title, reported = '', txs = '', consumed, end) => {
    const outputs = consumed === '' ? [] : [`output:${TXID}:${consumed}`];
    const { settle, ports } = settleSwap(
      delivered(...reported.split(' ').map((id) => IDS[id] ?? '')),
      outputs,
    );
    const all = txs.split(',').map(txOf);
    const index = (txid: string) => all.find((tx) => tx.txid === txid) ?? null;
    ports.indexes = [index, index];
    const settled = await settle();
    expect(shown(settled)).toBe(end);
    const { outcome = {} } = settled.settlement.state === 'pending' ? {} : settled.settlement;
    const once = outcome.btcTxid === undefined ? [] : [`output:${outcome.btcTxid}:${outcome.btcVout}`];
    expect(settled.once).toEqual(once);
  });

  it.each([
    [7_200, 'is a delivery', 'whole t:0 124500'],
    [7_201, 'is too old', 'waits'],
  ])(
    'if the block time of a swap is unknown, a payment %i seconds older than its creation %s',
    async (age, _what, end) => {
      const { settle, ports } = settleSwap(delivered(TXID));
      const tx = () => txOf(`t 124500 age=${age}`);
      ports.indexes = [tx, tx];
      const { landing } = settling();
      expect(shown(await settle(settling({ landing: landing && { ...landing, blockTime: null } })))).toBe(
        end,
      );
    },
  );

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

describe('the Bitcoin indexes', () => {
  const SINCE = LANDED - 7_200;
  const viewOf = (text: string) => {
    if (text === 'down') return new Error('down');
    return text === 'none' ? null : txOf(text);
  };

  it.each(
    scenes(`
      both agree                          | t 5 6@x 7, t 5 6@x 7         | 0:5 2:7
      they agree in different blocks      | t 5 6@x 7, t 5 6@x 7 age=0   | 0:5 2:7
      the only one shows it               | t 5 6@x 7                    | 0:5 2:7
      one of two is down                  | down, t 5 6@x 7              | no
      one of three is down                | down, t 5 6@x 7, t 5 6@x 7   | 0:5 2:7
      two of three are down               | down, down, t 5 6@x 7        | no
      one of three shows another value    | t 5, t 4, t 5                | 0:5
      three show three values             | t 5, t 4, t 3                | no
      the second lacks it                 | t 5 6@x 7, none              | no
      the first lacks it                  | none, t 5 6@x 7              | no
      one shows it unconfirmed            | t 5 6@x 7, t 5 6@x 7 mempool | no
      one shows another value             | t 5 6@x 7, t 4 6@x 7         | no
      one shows one output fewer          | t 5 6@x 7, t 5               | no
      one shows a different position      | t 5 6@x 7, t 6@x 5 7         | no
      both are down                       | down, down                   | no
      both lack it                        | none, none                   | no
    `),
  )('a quorum of the configured indexes confirms outputs: %s', (_name, views = '', expected) => {
    const outputs = confirmedOutputs(views.split(', ').map(viewOf), BTC_ADDRESS, SINCE);
    expect(outputs?.map(({ vout, value }) => `${vout}:${value}`).join(' ') ?? 'no').toBe(expected);
  });

  it('without an index, outputs are never confirmed', () => {
    expect(confirmedOutputs([], BTC_ADDRESS, SINCE)).toBeUndefined();
  });
});
