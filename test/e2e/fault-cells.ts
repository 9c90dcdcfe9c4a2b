import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { scenes } from '../kit/scenes.ts';
import type { UpstreamName } from '../world/bindings.ts';
import type { Fault } from '../world/fault-book.ts';
import type { World } from '../world/world.ts';

/** When a fault is active: during the preparation, during the send, or from the create's response on. */
export type Phase = 'before' | 'during' | 'after';

export interface Cell {
  readonly name: string;
  /** The failing upstream, or several at once. */
  readonly upstreams: readonly UpstreamName[];
  readonly phase: Phase;
  readonly faults: readonly Fault[];
  /** The stated result, in the words of `judge`. */
  readonly result: string;
  /** The fault lasts until the swap has ended, and not only for two requests to the upstream. */
  readonly lastsToTheEnd: boolean;
  /** Concurrent swap requests. */
  readonly swaps: number;
  /** Changes that no fault can make, or a wait for the fault's precondition. */
  readonly prepare?: ((world: World) => Promise<void> | void) | undefined;
}

const TARGETS: Readonly<Record<string, readonly UpstreamName[]>> = {
  'both RPCs': ['rpc1', 'rpc2'],
  'both Esploras': ['esplora1', 'esplora2'],
  'all venues': VENUE_NAMES,
};
const PREPARATION = ['getBalance', 'getLatestBlockhash'];

/** A blockhash so old that no transaction with it can land. */
const OLD_SLOTS = 200;
const LAG_SLOTS = 40;
/** What a scene waits for, or changes. A node can prove an absence only as far back as its history of this world goes. */
const PREPARE: Readonly<Record<string, (world: World, upstreams: readonly UpstreamName[]) => unknown>> = {
  async 'after old slots'({ solana: { ledger } }) {
    await ledger.clock.reached(ledger.clock.slot('confirmed') + OLD_SLOTS + 5);
  },
  /** Otherwise the nodes are behind the last swap, and the custodian rightly refuses their balance. */
  async 'after the lag'({ solana: { ledger } }) {
    await ledger.clock.reached(ledger.clock.slot('processed') + LAG_SLOTS + ledger.clock.finality);
  },
  'another price each'({ prices }, venues) {
    for (const [at, venue] of venues.entries()) prices.set({ SOL: String(90 - 10 * at) }, venue as 'kraken');
  },
};

/**
 * The failing upstream, when it fails, the fault with its details, and the stated result. Two nodes are configured, so a
 * balance or a blockhash needs both of them. Bytes that no node accepts cannot land: the attempt provably expires.
 */
const SCENES = scenes(`
  rpc1          | before | hang                       | 502 UPSTREAM_FAILED upstream_quorum_missing, nothing signed
  rpc2          | before | 500                        | 502 UPSTREAM_FAILED upstream_quorum_missing, nothing signed
  both RPCs     | before | truncate                   | 502 UPSTREAM_FAILED upstream_not_json, nothing signed
  both RPCs     | before | delay ms:1000              | 200, finished
  rpc1          | during | drop                       | 200, finished
  rpc2          | during | 429 retryAfterSeconds:7    | 200, finished
  both RPCs     | during | lost                       | 200, finished
  both RPCs     | during | html                       | 200, finished
  rpc1          | after  | html                       | 200, finished
  rpc2          | after  | lost                       | 200, finished
  both RPCs     | after  | 500                        | 200, finished
  esplora1      | after  | 500                        | 200, finished
  esplora2      | after  | hang                       | 200, finished
  both Esploras | after  | 429 retryAfterSeconds:7    | 200, finished
  both Esploras | after  | html                       | 200, finished
  oneclick      | before | lost                       | 502 UPSTREAM_FAILED upstream_unreachable, nothing signed
  oneclick      | before | hang                       | 502 UPSTREAM_FAILED upstream_timeout, nothing signed
  oneclick      | during | truncate                   | 200, finished
  oneclick      | after  | drop                       | 200, finished
  hyperliquid   | before | drop                       | 200, finished
  coinbase      | before | html                       | 200, finished
  kraken        | before | delay ms:1000              | 200, finished
  all venues    | before | 429 retryAfterSeconds:7    | 502 PRICE_UNAVAILABLE price_unavailable, nothing signed
  oneclick      | before | wrongSignature             | 502 QUOTE_REFUSED quote_signature, nothing signed
  oneclick      | before | wrongRecipient             | 502 QUOTE_REFUSED quote_recipient, nothing signed
  oneclick      | before | wrongRefundTo              | 502 QUOTE_REFUSED quote_refund_address, nothing signed
  oneclick      | before | wrongAsset                 | 502 QUOTE_REFUSED quote_destination_asset, nothing signed
  oneclick      | before | wrongAmount                | 502 QUOTE_REFUSED quote_amount, nothing signed
  oneclick      | before | wrongDeposit               | 502 QUOTE_REFUSED quote_amount, nothing signed
  oneclick      | before | lowOutput                  | 502 QUOTE_REFUSED quote_too_expensive, nothing signed
  oneclick      | before | expiredDeadline            | 502 QUOTE_REFUSED quote_deadline, nothing signed
  oneclick      | before | noDeposit                  | 502 QUOTE_REFUSED quote_deposit_address, nothing signed
  oneclick      | before | settle times:1 mode:never  | 200, waiting: settling
  oneclick      | before | settle times:1 mode:wrongTx | 200, waiting: settling
  oneclick      | before | settle times:1 mode:failed | 200, failed: bridge_failed, nothing arrived
  oneclick      | before | settle times:1 mode:refund | 200, failed: refunded, nothing arrived
  oneclick      | before | settle times:1 mode:partial | 200, failed: partial, less arrived
  oneclick      | before | settle times:1 mode:wrongAmount by:1000 | 200, failed: partial, less arrived
  oneclick      | before | settle times:1 mode:wrongAmount by:50 | 200, finished
  oneclick      | before | settle times:1 mode:slow ms:3000 | 200, finished
  oneclick      | before | batch times:2              | 200, finished
  rpc1          | after  | lag by:40                  | 200, finished
  both RPCs     | before | lag by:40                  | 200, finished | after the lag
  both RPCs     | after  | lag by:40                  | 200, finished
  both RPCs     | before | lag by:200 match:getLatestBlockhash | 502 UPSTREAM_FAILED upstream_quorum_missing, nothing signed | after old slots
  rpc1          | after  | nullStatus                 | 200, finished
  rpc2          | after  | nullStatus                 | 200, finished
  both RPCs     | after  | nullStatus                 | 200, finished
  rpc1          | during | dropSends                  | 200, finished
  rpc2          | during | dropSends                  | 200, finished
  both RPCs     | during | dropSends                  | 200, failed: expired, nothing spent
  esplora1      | after  | staleTip by:1000           | 200, finished
  both Esploras | after  | staleTip by:1000           | 200, finished
  both Esploras | after  | wrongBalance by:1000000    | 200, finished
  each venue    | before | price                      | 200, finished | another price each
  all venues    | before | price                      | 502 PRICE_UNAVAILABLE price_divergent, nothing signed | another price each
`);

function faultOf(text: string): Fault {
  const [kind = '', ...details] = text.split(' ');
  const members = details.map((detail) => {
    const [name = '', value = ''] = detail.split(':');
    return [name, /^\d+$/.test(value) ? Number(value) : value] as const;
  });
  return { kind, ...Object.fromEntries(members) };
}

/** Only the calls of a phase: a node that fails its reads may still accept the send. */
function ofPhase(fault: Fault, target: string, phase: Phase): Fault[] {
  if (fault.kind === 'price') return [];
  if (!/rpc/i.test(target) || phase === 'after' || fault.match || /^(lag|dropSends)$/.test(fault.kind))
    return [fault];
  const methods = phase === 'before' ? PREPARATION : ['sendTransaction'];
  return methods.map((match) => ({ ...fault, match }));
}

export const CELLS: readonly Cell[] = SCENES.flatMap(([wanted = '', when, fault = '', result = '', how]) =>
  (wanted === 'each venue' ? VENUE_NAMES : [wanted]).map((target): Cell => {
    const phase = when as Phase;
    const upstreams = TARGETS[target] ?? [target as UpstreamName];
    const prepare = PREPARE[how ?? ''];
    return {
      name: `${target}, ${fault}, ${phase} the send`,
      ...{ upstreams, phase, result, faults: ofPhase(faultOf(fault), target, phase) },
      lastsToTheEnd: /^(settle|batch|dropSends|price)/.test(fault),
      swaps: fault.startsWith('batch') ? 2 : 1,
      prepare: prepare && (async (world) => void (await prepare(world, upstreams))),
    };
  }),
);
