/**
 * Each alarm is sent when its cause begins in the world, and cleared when the cause is over. The chains' clocks
 * do not move with the Worker's, so scenes that need the chain's time come first.
 *
 * @module-tag deep
 */
import { base58 } from '@scure/base';
import { afterAll, expect, it } from 'vitest';
import { ALARMS } from '../../src/features/status/alarm-rules.ts';
import type { AlarmMessage } from '../../src/features/status/check-alarms.ts';
import { shownCode } from '../kit/operator.ts';
import { playSteps, scenes } from '../kit/scenes.ts';
import { startWebhook } from '../kit/serve.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';
import { createSwapCaller, mintEnds } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const MINUTE = '* * * * *';
const DAILY = '5 0 * * *';
const SOL = 1_000_000_000n;

let webhook: Awaited<ReturnType<typeof startWebhook>>;
let liar: LyingNode;
/** Unix milliseconds of the last cron run. */
let now = 0;
/** The first message that belongs to the scene. */
let first = 0;
const sent = (): string[] =>
  webhook.messages
    .slice(first)
    .flatMap((text) =>
      (JSON.parse(text) as AlarmMessage).alarms.map(({ name, change }) => `${change} ${name}`),
    );

afterAll(() => Promise.all([liar?.stop(), webhook?.stop()]));
const world = useWorld(
  async () => {
    webhook = await startWebhook();
    liar = await startLyingNode();
    return {
      ...{ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 100 },
      vars: ({ SOLANA_RPC_URL: nodes = '' }) => ({
        ALARM_WEBHOOK_URL: webhook.url,
        SOLANA_RPC_URL: [nodes.split(',')[0], liar.url].join(','),
      }),
    };
  },
  async (world) => {
    liar.forwardTo(world.endpoints.rpc2);
    now = world.control.now();
    await cron();
    await mintEnds(world);
    await caller.finality();
  },
);
const caller = lazy(() => createTokenCaller(world));

async function cron(minutes = 1, trigger = MINUTE): Promise<void> {
  now += minutes * 60_000;
  await world.control.cron(trigger, now);
}

/** A cron each minute until the message was sent. */
async function until(message: string, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes && !sent().includes(message); minute++) await cron();
  expect(sent(), message).toContain(message);
}

/** The second node lists, for an address, what `change` makes of its list. */
const lieAbout = (owner: string, change: (listed: readonly object[]) => readonly object[], oldest?: number) =>
  liar.tell((method, [of], result) => {
    if (method === 'getFirstAvailableBlock') return oldest ?? result;
    return method === 'getSignaturesForAddress' && of === owner ? change(result as object[]) : result;
  });
/** Transactions that nobody has. */
const invented = (length: number) => {
  const slot = Number(world.solana.ledger.clock.slot('finalized'));
  return Array.from({ length }, () => ({
    signature: base58.encode(crypto.getRandomValues(new Uint8Array(64))),
    slot,
    err: null,
    memo: null,
    blockTime: Math.floor(Date.now() / 1_000),
  }));
};
/** A known payment, then another one. The second node lists only the newest. */
async function forget(oldest?: number): Promise<void> {
  for (let paid = 0; paid < 2; paid++) {
    await caller.pay(await caller.invoice());
    await caller.finality();
    for (let minute = 0; paid === 0 && minute < 3; minute++) await cron();
  }
  lieAbout(world.treasury, (listed) => listed.slice(0, 1), oldest);
}
let payment = '';
let invoice: Readonly<Record<string, unknown>> = {};
const estimate = (amount: number, ip = caller.freshIp()) =>
  world.fetch(`/api/swap/estimate?amountSol=${amount}`, { ip });

/** Each alarm, the steps that begin its cause, and the steps that end it. Amounts are in lamports, times in minutes. */
const SCENES = scenes(`
  payment_unmatched       | invoice; transfer treasury 100000000; finality                                     | refund payment
  refund_due              | invoice; pay; confirm; pay; confirm; finality                                      | refund invoice
  work_failed             | transfer reserve 1000000; hide; finality                                           | clear
  payout_owed             | move asry; cron; acknowledge; claim                                                | fund asry
  swaps_refused           | ops pause                                                                          | ops resume
  operation_stuck         | fault oneclick {"kind":"settle","mode":"never"}; swap 0.5; finality; cron 420      | write-off
  source_down             | fault esplora1 {"kind":"500"}                                                      | clear
  quorum_missing          | fault rpc2 {"kind":"500"}                                                          | clear
  solana_stalled          | hold-finality yes                                                                  | hold-finality
  bridge_fees_over_cap    | fault oneclick {"kind":"fee","by":100}; estimate 0.51                              | clear; estimate 0.52
  bridge_rejects_request  | fault oneclick {"kind":"refusal","value":"recipient is not valid"}; estimate 0.53  | clear; estimate 0.54
  supply_above_reserve    | shrink-reserve                                                                     | clear
  quote_budget_low        | spend-quotes                                                                       | cron 121
  unexplained_spend       | move sol 100000000                                                                 | acknowledge
  signing_frozen          | move sol 100000000                                                                 | acknowledge
  sol_low                 | move sol; cron; acknowledge                                                        | fund sol; finality
  database_refuses_rows   | refuse-rows; invoice                                                               | sql DROP TRIGGER refuse
  database_behind         | rename mirror_marks away; invoice                                                  | rename away mirror_marks
  database_restored       | sql UPDATE mirror_marks SET revision=1; invoice                                    | republish
  nodes_disagree          | invoice; pay; finality; lie-about-fee; confirm-other                               | over 61
  spends_unread           | invent 700                                                                         | over 91
  treasury_walk_stuck     | forget                                                                             | over 91
  treasury_history_pruned | forget 1000000000                                                                  | over 91
  mint_skipped            | shrink-reserve; next-day                                                           | clear; cron 1440; cron 1 daily
  status_unreadable       | rename operations away                                                             | rename away operations
  cron_missing            | cron 1 daily; cron 1620                                                            | cron 1 daily
`);

const VERBS = {
  async invoice() {
    invoice = await caller.invoice();
  },
  async pay() {
    payment = await caller.pay(invoice);
  },
  confirm: () => caller.confirm(invoice, payment),
  /** One request to confirm the last payment for another invoice. */
  'confirm-other': async () =>
    caller.call('/api/invoices/confirm', {
      invoice_id: (await caller.invoice()).invoice_id,
      tx_signature: payment,
    }),
  async transfer(to: string, amount: string) {
    const address = to === 'treasury' ? world.treasury : world.reserve.solana;
    payment = await world.control.transfer({
      ...{ from: caller.user(), to: address, asset: 'sol', amount: BigInt(amount) },
    });
  },
  refund: (what: string) => caller.ops('refund', what === 'payment' ? payment : invoice.invoice_id),
  finality: () => caller.finality(),
  ops: (name: string) => caller.ops(name),
  cron: (minutes = '1', trigger = '') => cron(Number(minutes), trigger === 'daily' ? DAILY : MINUTE),
  /** Until six minutes after the next midnight. */
  'next-day': () => cron(1_446 - ((now / 60_000) % 1_440)),
  swap: (amount: string) => createSwapCaller(world).create(Number(amount)),
  async 'write-off'() {
    const query = world.worker.query("SELECT id FROM operations WHERE kind = 'swap'");
    return caller.ops('write-off', ((await query) as { id: string }[])[0]?.id);
  },
  fault: (upstream: string, ...form: string[]) =>
    world.faults.set(upstream as UpstreamName, JSON.parse(form.join(' '))),
  hide: () => world.faults.set('rpc2', { kind: 'nullStatus', value: payment }),
  clear: () => world.faults.clear(),
  'shrink-reserve'() {
    for (const index of ['esplora1', 'esplora2'] as const)
      world.faults.set(index, { kind: 'wrongBalance', by: -900_000 });
  },
  'hold-finality': (isHeld = '') => world.solana.ledger.clock.holdFinality(isHeld === 'yes'),
  estimate: (amount: string) => estimate(Number(amount)),
  async 'spend-quotes'() {
    for (let call = 0; call < 125; call++) await estimate(0.6 + call / 1_000, `10.${call}.7.1`);
  },
  /** The reserve's own key moves this, as a thief or the operator would. Default: all but 0.15 SOL. */
  async move(asset: string, amount?: string) {
    const all = async () =>
      asset === 'asry'
        ? createAsryStage(world).asryOf(world.reserve.solana)
        : (await createSwapCaller(world).lamports()) - 150_000_000n;
    await world.control.transfer({
      ...{ from: world.solana.reserve, to: caller.user().address, asset: asset as 'sol' | 'asry' },
      amount: amount === undefined ? await all() : BigInt(amount),
    });
    await caller.finality();
  },
  async acknowledge() {
    await caller.ops('unfreeze', shownCode(String((await caller.ops('unfreeze')).message)));
    await caller.ops('resume');
  },
  fund: (asset: string) =>
    world.control.faucet(
      ...([world.reserve.solana, asset as 'sol' | 'asry', asset === 'sol' ? 9n * SOL : 10n ** 18n] as const),
    ),
  async claim() {
    const stage = createAsryStage(world);
    await stage.claim(await stage.deposit(await stage.user(), 20n));
  },
  sql: (...words: string[]) => world.worker.query(words.join(' ')),
  rename: (from: string, to: string) => world.worker.query(`ALTER TABLE ${from} RENAME TO ${to}`),
  'refuse-rows': () =>
    world.worker.query(
      "CREATE TRIGGER refuse BEFORE INSERT ON invoices BEGIN SELECT RAISE(ABORT, 'refused'); END",
    ),
  async republish() {
    while (!String((await caller.ops('republish')).message).includes('was sent')) await cron();
  },
  'lie-about-fee': () =>
    liar.tell((method, _of, shown) =>
      method === 'getTransaction' && shown ? { ...shown, meta: { ...Object(shown).meta, fee: 1 } } : shown,
    ),
  invent: (length: string) => lieAbout(world.reserve.solana, () => invented(Number(length))),
  forget: (oldest?: string) => forget(oldest === undefined ? undefined : Number(oldest)),
  /** The node is honest again, and this time has passed. */
  async over(minutes: string) {
    liar.tell(undefined);
    await cron(Number(minutes));
  },
};
const play = (steps = '') =>
  playSteps(steps, VERBS, (_actual, _expected, step) => {
    throw new Error(`a step of this test compares nothing: ${step}`);
  });

it('every alarm has a scene, except one that needs more payments than a test can make', () => {
  const names = SCENES.map(([name]) => name);
  expect(ALARMS.filter((name) => !names.includes(name))).toEqual(['treasury_walk_behind']);
});

it.each(SCENES)(
  'the alarm %s is sent when its cause begins, and cleared when it is over',
  async (name, begin, end) => {
    first = webhook.messages.length;
    await play(begin);
    await until(`raised ${name}`, 14);
    await play(end);
    await until(`cleared ${name}`, 6);
  },
);
