/** Scenes of payments as steps in text. Requests are named by letters; `a2` is the second payment to `a`. */
import { expect } from 'vitest';
import type { ListingFault } from '../../../src/chain/solana/listed-token.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { Refusal, RequestView } from '../../../src/custody/api.ts';
import { storeBirth } from '../../../src/custody/kernel/birth.ts';
import { confirmPayment } from '../../../src/custody/payments/confirm.ts';
import type { TokenDeps } from '../../../src/custody/tokens/products.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { runDue } from '../../kit/kernel.ts';
import { settling } from '../../kit/sample-operations.ts';
import { msOf, playSteps } from '../../kit/scenes.ts';
import { createPaymentWorld, fee, type PaymentWorld, signature, TREASURY } from './payment-world.ts';

const orNone = (texts: readonly unknown[] = []): string => (texts.length === 0 ? 'none' : texts.join(', '));

function createNames({ payments }: PaymentWorld) {
  const requests = new Map<string, RequestView>();
  /** No node has what is invented. */
  const paid = new Map([['invented', signature(99)]]);
  const request = (name: string): RequestView => {
    const found = requests.get(name);
    if (!found) throw new Error(`no request ${name}`);
    return found;
  };
  return {
    requests,
    paid,
    request,
    payment: (name: string): string => paid.get(name) ?? name,
    now: (name: string) => payments.find(request(name).id),
    /** A text with names in place of the ids of requests and payments. */
    shown: (text: unknown): string =>
      [...paid, ...[...requests].map(([name, { id }]) => [name, id] as const)].reduce(
        (named, [name, id]) => named.replaceAll(id, name),
        String(text),
      ),
    sum: (lamports: string, name: string) => (lamports === request(name).feeLamports ? 'fee' : lamports),
  };
}
type Names = ReturnType<typeof createNames>;

const SHOWN = { uri: '', creator: null, decimals: 9, supply: '2', program: 'token-2022' } as const;
const FAULTS: Readonly<Record<string, ListingFault>> = {
  powers: { type: 'powers', powers: ['pausable'] },
  not_a_mint: { type: 'not_a_mint' },
  text: { type: 'text', field: 'name', fault: 'reserved', text: 'ABSR' },
};
/** What the chain says of a mint: `named X`, a fault, or nothing while it is `unread`. */
const listingFacts =
  (what: string, name = ''): TokenDeps['listingFacts'] =>
  async (mint) => {
    if (what === 'unread') throw new Error('no quorum');
    const fault = FAULTS[what];
    if (fault) return { type: 'refused', fault };
    return { type: 'listable', token: { ...SHOWN, mint, name, symbol: name.toUpperCase() } };
  };

function actsOf(world: PaymentWorld, { requests, paid, request, payment }: Names) {
  const { payments, state } = world;
  let said = '';
  return {
    open(name: string, kind = 'token', mint = '') {
      const subject = mint === '' ? {} : { subject: { mint, name: 'Moon' } };
      requests.set(name, world.open({ kind: kind as RequestView['kind'], ...subject }));
    },
    /**
     * @param sum `fee+7` or lamports
     * @param words `unnamed` without the reference, `with b` also its reference, `by X`, `vault` by an account that signs
     * nothing, `to X`, `block -5s|none`, `failed`,
     * `free` without a charged fee, `sent` if not final, `as a1` for its bytes
     */
    pay(name: string, sum: string, ...words: string[]) {
      const after = (word: string) => words[words.indexOf(word) + 1] ?? '';
      const references = words.includes('unnamed') ? [] : [request(name).reference];
      if (words.includes('with')) references.push(request(after('with')).reference);
      const over: Partial<ChainTransaction> = {};
      if (words.includes('failed')) Object.assign(over, { failed: true });
      if (words.includes('free')) Object.assign(over, { fee: 0n });
      if (words.includes('by'))
        Object.assign(over, { accounts: [after('by'), 'treasury', ...references], signers: [after('by')] });
      if (words.includes('to')) Object.assign(over, { accounts: ['payer', after('to'), ...references] });
      if (words.includes('block')) {
        const isUnknown = after('block') === 'none';
        const at = isUnknown ? null : Math.floor((state.now + msOf(after('block'))) / 1_000);
        Object.assign(over, { blockTime: at });
      }
      const amount = sum.startsWith('fee') ? fee(request(name)) + BigInt(sum.slice(3) || 0) : BigInt(sum);
      if (words.includes('vault'))
        Object.assign(over, {
          accounts: ['vault', 'member', 'treasury', ...references],
          signers: ['member'],
          preLamports: [amount, 1_000_000n, 0n],
          postLamports: [0n, 1_000_000n - 5_000n, amount],
        });
      const count = [...paid.keys()].filter((each) => each.startsWith(name)).length + 1;
      if (words.includes('sent')) Object.assign(over, { signature: signature(90 + paid.size) });
      if (words.includes('as')) Object.assign(over, { signature: payment(after('as')) });
      const moved = (words.includes('sent') ? world.send : world.pay)(amount, references, over);
      if (!words.includes('as')) paid.set(`${name}${count}`, moved);
    },
    /** The code of the outcome, and the facts of its refusal. */
    async confirm(name: string, payment: string, how = '5s', kind?: string) {
      const outcome = await confirmPayment(payments.context, {
        id: request(name).id,
        kind: (kind as RequestView['kind'] | undefined) ?? request(name).kind,
        signature: paid.get(payment) ?? payment,
        client: 'ip',
        waitMs: msOf(how),
      });
      if (outcome.type !== 'refused') return outcome.type;
      const { code, details = {}, retryAfterSeconds: retry }: Refusal = outcome.refusal;
      said = outcome.refusal.message;
      const facts = Object.entries({ ...details, retry }).map((fact) => fact.join(':'));
      return [code, ...facts].join(' ');
    },
    /** The text of the error that the call throws. */
    'confirm-fails': (name: string, payment: string) =>
      world.confirm(request(name).id, paid.get(payment) ?? payment).then(String, ({ message }) => message),
    'open-fails'(kind: string, mint: string) {
      try {
        return world.open({ kind: kind as RequestView['kind'], subject: { mint } }).id;
      } catch (error) {
        return (error as Error).message;
      }
    },
    mints: (what: string, name?: string) => Object.assign(state, { listing: listingFacts(what, name) }),
    /** Each read of a transaction takes this long. */
    slow: (length: string) =>
      Object.assign(state, { reading: async () => Object.assign(state, { now: state.now + msOf(length) }) }),
    /** Whether the last refusal has these words. */
    said: (...words: string[]) => said.includes(words.join(' ')),
    /** A swap of the reserve is unsettled with this part of the fee of `a`, in percent, and some lamports more. */
    swap(percent: string, more: string, signer = TREASURY) {
      const unsettled = lamports((fee(request('a')) * BigInt(percent)) / 100n + BigInt(more));
      const row = settling({ id: 'swap:a', signer, unsettled, createdAt: state.now });
      world.storage.transaction(() => world.journal.insert(row));
    },
    settle() {
      const row = world.journal.get('swap:a');
      const none = lamports(0n);
      const end = { state: 'done', unsettled: none, reserved: none, dueAt: null } as const;
      if (row) world.journal.update(row, { ...row, ...end }, state.now);
    },
    async refund(name: string) {
      const { rows, ok } = await payments.commands.refund(requests.get(name)?.id ?? payment(name));
      return orNone(rows?.map(({ outcome }) => outcome) ?? [ok]);
    },
    /** From now on another treasury is configured. */
    treasury: (treasuryAddress: string) => Object.assign(payments.context, { treasuryAddress }),
    wait: (time: string) => Object.assign(state, { now: state.now + msOf(time) }),
    set(name: string, value?: string) {
      if (!(name in state)) throw new Error(`no state ${name}`);
      Object.assign(state, { [name]: value });
    },
    async runs(minutes: string) {
      for (let minute = 0; minute < Number(minutes); minute++) {
        state.now += 60_000;
        await payments.run();
      }
    },
    cron: () => payments.onCron(),
    /** Each second passes with its due work, and each minute with the cron. */
    async seconds(count: string) {
      for (let second = 0; second < Number(count); second++) {
        state.now += 1_000;
        await runDue(payments, payments.context.agenda);
        if (state.now % 60_000 < 1_000) await payments.onCron();
      }
    },
    /** How many crons of this time have searched the chain. */
    async searches(time: string) {
      let count = 0;
      for (const end = state.now + msOf(time); state.now < end; ) {
        const { lists } = state;
        state.now += 60_000;
        await payments.onCron();
        if (state.lists > lists) count++;
      }
      return count;
    },
    ask: (name: string) => payments.askFor(request(name).id),
    'wait-for-next': () => Object.assign(state, { now: world.nextSearchAt() }),
    /** As many transfers of this sum and one lamport more each time, perhaps with the reference of a request. */
    dust(count: string, sum = '1', _to = '', name = '') {
      for (let sent = 0; sent < Number(count); sent++)
        world.pay(BigInt(sum) + BigInt(name ? 0 : sent), name ? [request(name).reference] : []);
    },
    run: () => payments.run(),
    'run-twice': () => Promise.all([payments.run(), payments.run()]),
    sweep: () => world.tokens.onCron(),
    /** The journal began anew, now. */
    birth: () => storeBirth(world.journal, { at: state.now, slot: '1', revision: 0 }),
    /** Ends the creation of `a`, or the refund operation `a1:1`. */
    finish(name: string, end: string) {
      const [of = '', attempt] = name.split(':');
      world.finish(attempt ? `refund:${payment(of)}:${attempt}` : `token:${request(of).id}`, end as 'done');
    },
    /** Ends the creation of `a` once more, or that of an earlier number such as `:0`. */
    'end-again'(name: string, end: string, number = '') {
      const id = `token:${request(name).id}`;
      const operation = world.journal.get(id);
      if (operation) payments.kinds.token?.onEnd?.({ ...operation, id: id + number, state: end as 'done' });
    },
    consume(name: string, purpose: string) {
      const [kind, of = ''] = purpose.split(':');
      const consumer = `${kind}:${requests.get(of)?.id ?? of}`;
      world.journal.useOnce(`payment:${payment(name)}`, consumer, state.now);
    },
  };
}

const factsOf = (world: PaymentWorld, { request, now, payment, shown, sum }: Names) => ({
  detail: (name: string) => now(name)?.detail ?? 'gone',
  paid: (name: string) => Boolean(now(name)?.paidAt),
  /** The next planned search. */
  next() {
    const left = (world.nextSearchAt() ?? Number.POSITIVE_INFINITY) - world.state.now;
    return left <= 0 ? 'now' : `in ${left / 1_000}s`;
  },
  reason: (name: string) => now(name)?.reason,
  received: (name: string) => sum(now(name)?.receivedLamports ?? '', name),
  bought: (name: string) => shown(now(name)?.paymentSignature),
  reported: (name: string) => shown(now(name)?.reportedSignature),
  subject: (name: string) => now(name)?.subject.name,
  token: (name: string) => now(name)?.tokenId ?? now(name)?.subject.tokenId,
  owed: (name: string) =>
    orNone(now(name)?.refunds.map(({ reason, lamports }) => `${reason} ${sum(lamports, name)}`)),
  refunds: (name: string) =>
    orNone(now(name)?.refunds.map(({ signature, status }) => `${shown(signature)} ${status}`)),
  refunded: () => orNone(world.refunded.map((id) => shown(id).replace('refund:', ''))),
  /** Of all refund operations, for the fee of `a`. */
  moved: () => {
    const all = world.refunded.reduce((lamports, id) => lamports + (world.journal.get(id)?.amount ?? 0n), 0n);
    return `fee+${all - fee(request('a'))}`;
  },
  payers: () => orNone(world.refunded.map((id) => world.journal.get(id)?.plan.payer).sort()),
  created: () => orNone(world.created.map((id) => shown(id).replace('token:', ''))),
  waits: () => orNone(world.waits),
  lookups: () => orNone(world.lookups.map((lookup) => lookup.join(' '))),
  purposes: () =>
    orNone(world.storage.exec('SELECT used_by FROM treasury_payments').map((row) => String(row.used_by))),
  alarms: () =>
    orNone(
      world.alarms.map(
        ({ event, signature, error, reason }) => `${event} ${shown(signature)} ${error ?? reason}`,
      ),
    ),
  used: (name: string) => shown(world.journal.userOf(`payment:${payment(name)}`)),
  async unmatched() {
    const { rows } = await world.payments.commands.unmatched('');
    return orNone(rows?.map((row) => `${shown(row.payment)} ${row.lamports} ${row.payer}`));
  },
  /** How many transactions could not be recorded, as the list for the operator says. */
  async unbooked() {
    const { message } = await world.payments.commands.unmatched('');
    return /(\d+) transactions could not be recorded/.exec(message)?.[1];
  },
  tokens: () => world.storage.exec('SELECT token_id FROM tokens').length,
  /** Number, texts, decimals and supply of each listed token. */
  listed: () =>
    orNone(
      world.storage
        .exec('SELECT row FROM tokens')
        .map(({ row }) => JSON.parse(String(row)))
        .filter(({ listedAt }) => listedAt !== null)
        .map((token) => [token.tokenId, token.name, token.symbol, token.decimals, token.supply].join(' ')),
    ),
});

/** Runs the steps. After ` = `, a step has what it returns; of a refusal, its code and any of its facts. */
export async function play(steps: string, world: PaymentWorld = createPaymentWorld()): Promise<void> {
  const names = createNames(world);
  await playSteps(steps, { ...actsOf(world, names), ...factsOf(world, names) }, (actual, expected, step) => {
    const [code = '', ...facts] = actual.split(' ');
    const outcome = [code, ...facts.filter((fact) => expected.split(' ').includes(fact))].join(' ');
    expect(step.startsWith('confirm') ? outcome : actual, step).toBe(expected);
  });
}
