/** @module-tag deep */
import { beforeAll, describe, expect, it, test } from 'vitest';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { CELLS, type Cell } from './fault-cells.ts';
import { type Outcome, runCells } from './fault-run.ts';
import { judge, type Observation } from './fault-verdict.ts';
import type { Answer, Body } from './swap-caller.ts';

describe('a swap under a fault ends as stated and breaks no guarantee', () => {
  const outcomes = new Map<Cell, Outcome>();
  beforeAll(async () => {
    for (const outcome of await runCells(CELLS)) outcomes.set(outcome.cell, outcome);
  }, 300_000);

  it.each(CELLS.map((cell) => [cell.name, cell] as const))(
    'a swap has the expected result and breaks no guarantee under the fault: %s',
    (_name, cell) => {
      const { result, violations } = outcomes.get(cell) ?? {};
      expect({ result, violations }).toEqual({ result: cell.result, violations: [] });
    },
  );
});

test('the fault cases cover every upstream that a swap calls, in each phase of the swap', () => {
  const seen = (phase: string) =>
    new Set(CELLS.flatMap((cell) => (cell.phase === phase ? cell.upstreams : [])));
  const nodes = ['rpc1', 'rpc2'];
  expect(seen('before')).toEqual(new Set([...nodes, 'oneclick', ...VENUE_NAMES]));
  expect(seen('during')).toEqual(new Set([...nodes, 'oneclick']));
  expect(seen('after')).toEqual(new Set([...nodes, 'esplora1', 'esplora2', 'oneclick']));
});

describe('the verdict of a cell', () => {
  const answer = (status: number, body: Body, replayed = false): Answer => ({
    status,
    body,
    headers: new Headers(replayed ? { 'idempotency-replayed': 'true' } : {}),
  });
  const created = { id: 'S1', amountSol: 0.3, expectedBtcSats: 37_000 };
  const paid = { btcSats: 37_000, btcSatoshis: '37000', txId: 'T1' };
  const end = { id: 'S1', status: 'finished', amountSol: 0.3, ...paid };
  const payment = { signature: 'S1', to: 'D1', lamports: 300_000_000n, fee: 5_900n, blockTime: 1 };
  const good: Observation = {
    amountSol: 0.3,
    amountLamports: 300_000_000n,
    answers: [answer(200, created)],
    ends: [end],
    payments: [payment],
    paymentsAtEnd: 1,
    arrivedSats: 37_000n,
    bitcoinPayment: () => ({ sats: 37_000n, confirmed: true }),
    rows: [{ signature: 'S1', status: 'finished', btc_sats: '37000' }],
    repeats: [answer(200, created, true)],
    estimate: answer(200, { estimatedBtcSats: 1 }),
  };
  const refusal = { error_code: 'QUOTE_REFUSED', details: { reason: 'quote_amount' } };

  it('the verdict reports no violation for a swap that went well', () => {
    expect(judge(good)).toEqual({ result: '200, finished', violations: [] });
  });

  const other = { ...payment, signature: 'S2' };
  const unpaid = { ends: [], repeats: [], payments: [], paymentsAtEnd: 0, arrivedSats: 0n };
  const lagging = { signature: 'S1', status: 'waiting', btc_sats: null };
  it.each<[string, Partial<Observation>, string]>([
    ['a second payment', { payments: [payment, payment], paymentsAtEnd: 2 }, '2 payments for one swap'],
    ['one payment too many', { payments: [payment, other], paymentsAtEnd: 2 }, 'that no response named'],
    ['another amount', { payments: [{ ...payment, lamports: 1n }] }, 'a payment of 1 lamports'],
    ['a lost payment', { payments: [], paymentsAtEnd: 0 }, 'finished without a payment on Solana'],
    [
      'an open block',
      { bitcoinPayment: () => ({ sats: 1n, confirmed: false }) },
      'without Bitcoin on the chain',
    ],
    ['no delivery', { bitcoinPayment: () => null }, 'finished without Bitcoin on the chain'],
    ['sats that no response names', { arrivedSats: 74_000n }, '74000 sats arrived, 37000 are reported'],
    ['a null amount', { ends: [{ ...end, amountSol: null }] }, 'a status without its amount'],
    ['a null amount at the end', { ends: [{ ...end, btcSats: null }] }, 'finished without an amount'],
    ['no amount', { answers: [answer(200, { ...created, expectedBtcSats: null })] }, 'without its amounts'],
    ['a null estimate', { estimate: answer(200, { estimatedBtcSats: null }) }, 'an estimate without'],
    ['a mirror that lags', { rows: [lagging] }, 'the mirror differs'],
    [
      'a false expiry',
      { ends: [{ ...end, status: 'failed', reason: 'expired' }] },
      'expired, and yet it landed',
    ],
    ['a new swap', { repeats: [answer(200, { ...created, id: 'S2' }, true)] }, 'a repeat answers 200'],
    ['a repeat without its mark', { repeats: [answer(200, created)] }, 'a repeat is not marked'],
    ['a repeat that pays', { paymentsAtEnd: 2 }, 'a repeat has paid'],
    ['a signed refusal', { ...unpaid, answers: [answer(502, refusal)] }, 'a refused swap was signed'],
  ])('the verdict reports %s', (_what, change, violation) => {
    expect(judge({ ...good, ...change }).violations.join('; ')).toContain(violation);
  });

  it('the verdict summarizes the outcome of a swap under a fault', () => {
    const word = (change: Partial<Observation>): string => judge({ ...good, ...change }).result;
    const ended = (status: string, reason: string | null, btcSats: number | null = null) => [
      { ...end, status, reason, btcSats, detail: 'settling' },
    ];
    expect(word({ ends: ended('waiting', null) })).toBe('200, waiting: settling');
    expect(word({ ends: ended('failed', 'expired'), payments: [] })).toBe(
      '200, failed: expired, nothing spent',
    );
    expect(word({ ends: ended('failed', 'refunded') })).toBe('200, failed: refunded, nothing arrived');
    expect(word({ ends: ended('failed', 'partial', 9) })).toBe('200, failed: partial, less arrived');
    const refused = { answers: [answer(502, refusal)], ends: [], payments: [] };
    expect(word({ ...refused, rows: [] })).toBe('502 QUOTE_REFUSED quote_amount, nothing signed');
    expect(word(refused)).toBe('502 QUOTE_REFUSED quote_amount, SIGNED');
  });
});
