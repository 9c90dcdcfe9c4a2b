/**
 * Events that a range of seeds must contain, so that a run without them cannot pass.
 * @module
 */
import { LIES } from './nodes.ts';

/** From this number of seeds on all events happen; fewer seeds may miss a rare one. */
export const COVERED_FROM = 2_000;

export const REQUIRED: readonly string[] = [
  'late customers',
  ...[
    'swap done/done',
    'swap failed/refused',
    'swap failed/expired',
    'swap failed/rejected',
    'swap failed/refunded',
  ],
  ...['swap failed/partial', 'swap failed/bridge_failed', 'swap failed/late'],
  ...['token done/done', 'asry done/done', 'absr done/done', 'absr failed/refused', 'refund done/done'],
  ...['requests open', 'requests completed', 'requests expired', 'refunds due', 'refunds paid'],
  ...['asry_payouts paid', 'asry_payouts owed'],
  ...['landings', 'landings that failed', 'no-ops', 'transactions taken back by a fork'],
  ...['crashes', 'replacements', 'alarmsLost', 'days awaited'],
  ...[
    'deploy',
    'rotate',
    'pause',
    'resume',
    'clock',
    'fork',
    'reorg',
    'journal_lost',
    'd1_restored',
    'd1_down',
    'proof',
    'refund',
    'retry',
  ].map((type) => `event: ${type}`),
  ...['dust', 'reference', 'requests', 'memo', 'fund_mint', 'close', 'forge', 'reuse'].map(
    (type) => `attack: ${type}`,
  ),
  ...LIES.map((lie) => `lie: ${lie}`),
  ...['payments by sponsor', 'payments by vault', 'short returns', 'batches that D1 refused for their size'],
  'journals lost during a partial delivery',
  'journals begun anew',
];

const ACTS: readonly string[] = [
  ...['a mint', 'a covered mint', 'two covered mints at once', 'a replay', 'an altered request'],
  ...['a foreign request', 'half a signature', 'a restart', 'a crash', 'income', 'a reorganization'],
].map((act) => `thief: ${act}`);
const ANSWERS: readonly string[] = [
  ...[
    'signed',
    'busy',
    'earlier_mint_open',
    'amount_above_reserve',
    'blockhash_unknown',
    'blockhash_expired',
  ],
  ...['not_a_mint', 'not_signed_by_custodian', 'nodes_unreachable', 'supplies_disagree', 'sources_disagree'],
  ...['failed', 'response lost'],
].map((answer) => `witness: ${answer}`);

/** What a range of the thief's seeds must contain. */
export const REQUIRED_OF_THIEF: readonly string[] = [
  ...ACTS,
  ...ANSWERS,
  ...['mints that landed', 'refused by the chain', 'custodian: mint'],
  ...['before', 'after'].map((moment) => `crash ${moment} the row is stored`),
];

export const missing = (
  counts: Readonly<Record<string, number>>,
  required: readonly string[] = REQUIRED,
): string[] => required.filter((name) => (counts[name] ?? 0) === 0);
