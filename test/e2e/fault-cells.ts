import { VENUE_NAMES, type VenueName } from '../../src/providers/price-venues.ts';
import type { UpstreamName } from '../world/bindings.ts';
import type { Fault } from '../world/fault-book.ts';
import type { World } from '../world/world.ts';

/**
 * When a fault is active: during the preparation, during the send, or from the create's response on.
 */
export const PHASES = ['before', 'during', 'after'] as const;
export type Phase = (typeof PHASES)[number];

/** How long a fault lasts: for this number of requests to the upstream, or until the swap has ended. */
export type Hold = { readonly asked: number } | 'over';

export interface Cell {
  /** The failing upstream, or several at once. */
  readonly target: string;
  readonly upstreams: readonly UpstreamName[];
  readonly fault: string;
  readonly phase: Phase;
  /** The stated result, in the words of `describeOutcome`. */
  readonly result: string;
  readonly faults: readonly Fault[];
  readonly hold: Hold;
  /** Concurrent swap requests. */
  readonly swaps?: number;
  /** The swap ends in `waiting`, on purpose. */
  readonly neverEnds?: boolean;
  /** Changes that no fault can make, or a wait for the fault's precondition. */
  readonly prepare?: (world: World) => Promise<void> | void;
  /** Whether the short run includes it. */
  readonly short: boolean;
}

const FINISHED = '200, finished';
const EXPIRED = '200, failed: expired, nothing spent';
/** Two nodes are configured, so a balance or a blockhash needs both of them. */
const NO_QUORUM = '502 UPSTREAM_FAILED upstream_quorum_missing, nothing signed';
const refused = (status: number, code: string, reason: string): string =>
  `${status} ${code} ${reason}, nothing signed`;

const EACH_VENUE = Object.fromEntries(VENUE_NAMES.map((name) => [name, [name]])) as Record<
  VenueName,
  [VenueName]
>;
const TARGETS = {
  rpc1: ['rpc1'],
  rpc2: ['rpc2'],
  'both RPCs': ['rpc1', 'rpc2'],
  esplora1: ['esplora1'],
  esplora2: ['esplora2'],
  'both Esploras': ['esplora1', 'esplora2'],
  oneclick: ['oneclick'],
  ...EACH_VENUE,
  'all venues': VENUE_NAMES,
} as const satisfies Readonly<Record<string, readonly UpstreamName[]>>;
type Target = keyof typeof TARGETS;

/** Faults of any HTTP upstream, and the reason in the refusal. */
const TRANSPORT: Readonly<Record<string, { readonly fault: Fault; readonly reason: string | null }>> = {
  delay: { fault: { kind: 'delay', ms: 1_000 }, reason: null },
  '429': { fault: { kind: '429', retryAfterSeconds: 7 }, reason: 'rate_limited' },
  '500': { fault: { kind: '500' }, reason: 'status_500' },
  html: { fault: { kind: 'html' }, reason: 'not_json' },
  truncate: { fault: { kind: 'truncate' }, reason: 'not_json' },
  drop: { fault: { kind: 'drop' }, reason: 'unreachable' },
  lost: { fault: { kind: 'lost' }, reason: 'unreachable' },
  hang: { fault: { kind: 'hang' }, reason: 'timeout' },
};

const PREPARATION = ['getBalance', 'getLatestBlockhash'];
const isRpc = (target: string): boolean => target.includes('rpc') || target.includes('RPC');

/** Only the calls of a phase: a node that fails its reads may still accept the send. */
function ofPhase(fault: Fault, target: string, phase: Phase): Fault[] {
  if (!isRpc(target) || phase === 'after') return [fault];
  const methods = phase === 'before' ? PREPARATION : ['sendTransaction'];
  return methods.map((match) => ({ ...fault, match }));
}

function transportResult(target: string, kind: string, phase: Phase): string {
  const reason = TRANSPORT[kind]?.reason ?? null;
  if (reason === null) return FINISHED;
  if (phase === 'before' && (target === 'oneclick' || target === 'both RPCs'))
    return refused(502, 'UPSTREAM_FAILED', `upstream_${reason}`);
  // The quorum of two nodes is both.
  if (phase === 'before' && isRpc(target)) return NO_QUORUM;
  if (phase === 'before' && target === 'all venues')
    return refused(502, 'PRICE_UNAVAILABLE', 'price_unavailable');
  // Bytes that no node accepts cannot land: the attempt provably expires.
  if (phase === 'during' && target === 'both RPCs' && kind === 'hang') return EXPIRED;
  return FINISHED;
}

/** In the short run, each upstream has a different fault in each phase in which a swap calls it. */
const SHORT = new Set([
  'rpc1/hang/before',
  'rpc2/500/before',
  'both RPCs/truncate/before',
  'both RPCs/delay/before',
  'rpc1/drop/during',
  'rpc2/429/during',
  'both RPCs/lost/during',
  'both RPCs/html/during',
  'rpc1/html/after',
  'rpc2/lost/after',
  'both RPCs/500/after',
  'esplora1/500/after',
  'esplora2/hang/after',
  'both Esploras/429/after',
  'both Esploras/html/after',
  'oneclick/lost/before',
  'oneclick/hang/before',
  'oneclick/truncate/during',
  'oneclick/drop/after',
  'hyperliquid/drop/before',
  'coinbase/html/before',
  'kraken/delay/before',
  'all venues/429/before',
]);

const transport: Cell[] = Object.entries(TARGETS).flatMap(([target, upstreams]) =>
  Object.entries(TRANSPORT).flatMap(([kind, { fault }]) =>
    PHASES.map((phase): Cell => {
      const result = transportResult(target, kind, phase);
      return {
        target,
        upstreams,
        fault: kind,
        phase,
        result,
        faults: ofPhase(fault, target, phase),
        hold: result === EXPIRED ? 'over' : { asked: 2 },
        short: SHORT.has(`${target}/${kind}/${phase}`),
      };
    }),
  ),
);

/** A cell of one upstream that lies in its own way; all of them are in the short run. */
function special(
  target: Target,
  phase: Phase,
  fault: string,
  result: string,
  faults: readonly Fault[],
  more: Partial<Cell> = {},
): Cell {
  const upstreams = TARGETS[target];
  return { target, upstreams, fault, phase, result, faults, hold: { asked: 2 }, short: true, ...more };
}

const quoteLies: Cell[] = (
  [
    ['wrongSignature', 'quote_signature'],
    ['wrongRecipient', 'quote_recipient'],
    ['wrongRefundTo', 'quote_refund_address'],
    ['wrongAsset', 'quote_destination_asset'],
    ['wrongAmount', 'quote_amount'],
    ['wrongDeposit', 'quote_amount'],
    ['lowOutput', 'quote_too_expensive'],
    ['expiredDeadline', 'quote_deadline'],
    ['noDeposit', 'quote_deposit_address'],
  ] as const
).map(([kind, reason]) =>
  special('oneclick', 'before', kind, refused(502, 'QUOTE_REFUSED', reason), [{ kind }]),
);

const settle = (
  mode: string,
  result: string,
  more: Partial<Cell> & { by?: number; ms?: number } = {},
): Cell => {
  const { by, ms, ...rest } = more;
  const fault: Fault = {
    kind: 'settle',
    mode,
    times: 1,
    ...(by === undefined ? {} : { by }),
    ...(ms === undefined ? {} : { ms }),
  };
  return special(
    'oneclick',
    'before',
    `settles: ${mode}${by === undefined ? '' : ` by ${by}`}`,
    result,
    [fault],
    {
      hold: 'over',
      ...rest,
    },
  );
};

const settlements: Cell[] = [
  settle('never', '200, waiting: settling', { neverEnds: true }),
  settle('wrongTx', '200, waiting: settling', { neverEnds: true }),
  settle('failed', '200, failed: bridge_failed, nothing arrived'),
  settle('refund', '200, failed: refunded, nothing arrived'),
  settle('partial', '200, failed: partial, less arrived'),
  settle('wrongAmount', '200, failed: partial, less arrived', { by: 1_000 }),
  settle('wrongAmount', FINISHED, { by: 50 }),
  settle('slow', FINISHED, { ms: 3_000 }),
  special('oneclick', 'before', 'pays two swaps at once', FINISHED, [{ kind: 'batch', times: 2 }], {
    swaps: 2,
    hold: 'over',
  }),
];

/** A blockhash so old that no transaction with it can land. */
const OLD_SLOTS = 200;
const oldHashExists = async (world: World): Promise<void> => {
  const { clock } = world.solana.ledger;
  const oldest = clock.slot('confirmed');
  // Of the world's own time: a node can prove an absence only as far back as its history goes.
  await clock.reached(oldest + OLD_SLOTS + 5);
};

const LAG_SLOTS = 40;
/** Otherwise the nodes are behind the last swap, and the custodian rightly refuses their balance. */
async function lagShowsLastSwap(world: World): Promise<void> {
  const { clock } = world.solana.ledger;
  await clock.reached(clock.slot('processed') + LAG_SLOTS + clock.finality);
}

const chainViews: Cell[] = [
  special('rpc1', 'after', 'lag', FINISHED, [{ kind: 'lag', by: LAG_SLOTS }]),
  special('both RPCs', 'before', 'lag', FINISHED, [{ kind: 'lag', by: LAG_SLOTS }], {
    prepare: lagShowsLastSwap,
  }),
  special('both RPCs', 'after', 'lag', FINISHED, [{ kind: 'lag', by: LAG_SLOTS }]),
  special(
    'both RPCs',
    'before',
    'an expired block hash',
    NO_QUORUM,
    [{ kind: 'lag', by: OLD_SLOTS, match: 'getLatestBlockhash' }],
    { prepare: oldHashExists },
  ),
  special('rpc1', 'after', 'nullStatus', FINISHED, [{ kind: 'nullStatus' }]),
  special('rpc2', 'after', 'nullStatus', FINISHED, [{ kind: 'nullStatus' }]),
  special('both RPCs', 'after', 'nullStatus', FINISHED, [{ kind: 'nullStatus' }]),
  special('rpc1', 'during', 'dropSends', FINISHED, [{ kind: 'dropSends' }], { hold: 'over' }),
  special('rpc2', 'during', 'dropSends', FINISHED, [{ kind: 'dropSends' }], { hold: 'over' }),
  special('both RPCs', 'during', 'dropSends', EXPIRED, [{ kind: 'dropSends' }], { hold: 'over' }),
  special('esplora1', 'after', 'staleTip', FINISHED, [{ kind: 'staleTip', by: 1_000 }]),
  special('both Esploras', 'after', 'staleTip', FINISHED, [{ kind: 'staleTip', by: 1_000 }]),
  special('both Esploras', 'after', 'wrongBalance', FINISHED, [{ kind: 'wrongBalance', by: 1_000_000 }]),
];

const price = (venues: readonly VenueName[]) => (world: World) => {
  for (const [at, venue] of venues.entries()) world.prices.set({ SOL: String(90 - 10 * at) }, venue);
};

const priceLies: Cell[] = [
  ...VENUE_NAMES.map((venue) =>
    special(venue, 'before', 'another price', FINISHED, [], { prepare: price([venue]), hold: 'over' }),
  ),
  special(
    'all venues',
    'before',
    'another price each',
    refused(502, 'PRICE_UNAVAILABLE', 'price_divergent'),
    [],
    {
      prepare: price(VENUE_NAMES),
    },
  ),
];

/** Every cell, in the order of the printed table. */
export const CELLS: readonly Cell[] = [
  ...transport,
  ...quoteLies,
  ...settlements,
  ...chainViews,
  ...priceLies,
];
