/**
 * Compares the responses with the chain, D1 and the page-view log: nothing lost, nothing twice.
 * @module
 */
import type { World } from '../world/world.ts';
import type { Traffic } from './load-traffic.ts';
import { createSwapCaller, until } from './swap-caller.ts';

export interface Money {
  readonly swaps: number;
  readonly tokens: number;
  readonly rewards: number;
  readonly pageviews: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

/** Call it after the traffic and the faults: it repeats every request and waits for its end. */
export async function judgeMoney(world: World, traffic: Traffic): Promise<Money> {
  const { answered, stage } = traffic;
  const caller = createSwapCaller(world);
  const lost: string[] = [];
  const doubled: string[] = [];

  for (const key of answered.swaps.keys()) await traffic.createSwap(key);
  const ids = [...answered.swaps].flatMap(([key, named]) => {
    if (named.size > 1) doubled.push(`key ${key}: ${[...named].join(', ')}`);
    return [...named];
  });
  let paid = 0;
  for (const id of ids) {
    const end = await caller.settled(id);
    const payments = caller.payments().filter(({ signature }) => signature === id);
    if (end.status === 'finished' && payments.length !== 1) lost.push(`swap ${id} is finished and not paid`);
    if (end.status === 'failed' && end.reason !== 'expired') lost.push(`swap ${id} ${String(end.reason)}`);
    paid += payments.length;
  }
  const payments = caller.payments();
  if (payments.length > paid) doubled.push(`${payments.length - paid} payments that no answer named`);
  if (new Set(payments.map(({ to }) => to)).size < payments.length) doubled.push('a deposit address twice');
  const outputs = (await caller.rows()).flatMap(({ btc_txid: txid }) =>
    typeof txid === 'string' ? [txid] : [],
  );
  if (new Set(outputs).size < outputs.length) doubled.push('one Bitcoin payment for two swaps');

  const mints = new Set<string>();
  for (const id of answered.invoices) {
    const body = await until(`invoice ${id} completed`, async () => {
      const answer = await caller.get(`/api/invoices/${id}`);
      return answer.body.status === 'completed' ? answer.body : undefined;
    }).catch(() => undefined);
    if (body === undefined) lost.push(`invoice ${id} was paid and made nothing`);
    else mints.add(String(body.mint_address));
  }
  const { ledger } = world.solana;
  for (const mint of mints)
    if ((await ledger.account(mint, ledger.clock.slot('processed'))) === null) lost.push(`mint ${mint}`);
  const [made] = (await world.worker.query(
    "SELECT count(*) AS n FROM operations WHERE kind = 'token' AND status = 'finished'",
  )) as { n: number }[];
  if (made && made.n > answered.invoices.length)
    doubled.push(`${made.n} tokens for ${answered.invoices.length} payments`);

  for (const deposit of answered.deposits) {
    const claimed = await until(`claim of ${deposit}`, async () => {
      const answer = await traffic.claim(deposit);
      return answer?.status === 200 || answer?.body.error_code === 'ALREADY_CLAIMED' ? true : undefined;
    }).catch(() => false);
    if (!claimed) {
      lost.push(`claim of ${deposit}`);
      continue;
    }
    const record = await stage.paid(deposit);
    const sent = stage.payoutsOf(deposit).length;
    if (sent < record.payouts.length) lost.push(`payout of ${deposit}`);
    if (sent > record.payouts.length || sent > 1) doubled.push(`${sent} payouts of ${deposit}`);
  }

  const [views] = (await world.worker.pageViews(
    "SELECT (SELECT count(*) FROM views) AS logged, (SELECT pageviews FROM periods WHERE period = 'total') AS counted",
  )) as { logged: number; counted: number }[];
  const { pageviewsCounted, pageviewsUnknown } = answered;
  const logged = views?.logged ?? 0;
  if (logged < pageviewsCounted) lost.push(`${pageviewsCounted - logged} page views`);
  if (logged > pageviewsCounted + pageviewsUnknown || views?.counted !== logged)
    doubled.push(`page views: ${pageviewsCounted} accepted, ${logged} logged, ${views?.counted} counted`);
  return {
    swaps: payments.length,
    tokens: mints.size,
    rewards: answered.deposits.length,
    pageviews: pageviewsCounted,
    lost,
    doubled,
  };
}
