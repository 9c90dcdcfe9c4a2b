/** @module-tag deep */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { scenes } from '../kit/scenes.ts';
import type { UpstreamName } from '../world/bindings.ts';
import type { Fault } from '../world/fault-book.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { createSwapCaller } from './swap-caller.ts';

const AMOUNT = 300_000_000n;
/** Milliseconds for which the custodian shares one read of the balance or of the prices, a failure too. */
const READ_SHARED_MS = 1_000;
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  nodes: ['rpc1', 'rpc2'],
  indexes: ['esplora1', 'esplora2'],
  venues: VENUE_NAMES,
};

const world = useWorld({
  cron: false,
  blockMs: 300,
  settleDelayMs: 300,
  reserveLamports: 100_000_000_000n,
  vars: { SWAP_MAX_SOL_HOUR: '100', SWAP_MAX_SOL_DAY: '100', SWAP_MAX_UNSETTLED_SOL: '100' },
});
const caller = lazy(() => createSwapCaller(world));
let clients = 0;

/** A fault as in `hang getBalance 1`: its kind, the calls, and how many of them. */
function faultOf(text: string): Fault {
  const [kind = '', match = '', times = '2'] = text.split(' ');
  if (kind === 'settle') return { kind, mode: match, times: 1 };
  return { kind, match, ...(times === 'all' ? {} : { times: Number(times) }) };
}

it.each(
  scenes(`
    rpc1        | hang getLatestBlockhash 1  | 502 UPSTREAM_FAILED upstream_quorum_missing
    nodes       | truncate getLatestBlockhash | 502 UPSTREAM_FAILED upstream_not_json
    nodes       | lost sendTransaction       | finished
    nodes       | html sendTransaction       | finished
    nodes       | dropSends sendTransaction all | failed expired
    nodes       | nullStatus getSignatureStatuses | finished
    nodes       | 500 getTransaction         | finished
    indexes     | 429 /tx/                   | finished
    esplora2    | hang /tx/ 1                | finished
    venues      | 429 /                      | 502 PRICE_UNAVAILABLE price_unavailable
    kraken      | drop /                     | finished
    oneclick    | lost /v0/quote             | 502 UPSTREAM_FAILED upstream_unreachable
    oneclick    | wrongRecipient /v0/quote   | 502 QUOTE_REFUSED quote_recipient
    oneclick    | drop /v0/status            | finished
    oneclick    | settle refund              | failed refunded
    oneclick    | settle partial             | failed partial
  `),
)('under a fault of %s (%s) a swap ends as %s and pays at most once', async (target, fault, result) => {
  const payments = caller.payments().length;
  const sats = caller.sats();
  const key = randomUUID();
  const create = () => caller.create(0.3, { key, ip: `10.0.${++clients}.1` });
  for (const name of GROUPS[String(target)] ?? [String(target)])
    world.faults.set(name as UpstreamName, faultOf(String(fault)));
  const answer = await create();
  const end = answer.status === 200 ? await caller.settled(String(answer.body.id)) : undefined;
  world.faults.clear();
  const { details, error_code: code } = answer.body as { details?: { reason: string }; error_code?: string };
  const shown = end ? [end.status, end.reason] : [answer.status, code, details?.reason];
  expect(shown.filter(Boolean).join(' ')).toBe(result);
  const hasPaid = end !== undefined && end.reason !== 'expired';
  expect(caller.payments().slice(payments)).toMatchObject(
    hasPaid ? [{ signature: answer.body.id, lamports: AMOUNT }] : [],
  );
  expect(caller.sats() - sats).toBe(BigInt(String(end?.btcSatoshis ?? 0)));
  const [row] = (await caller.rows()).filter(({ signature }) => signature === answer.body.id);
  expect([row?.status, row?.btc_sats]).toEqual([end?.status, end?.btcSatoshis]);
  await sleep(READ_SHARED_MS + 1);
});
