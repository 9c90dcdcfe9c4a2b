/** Scenes of payments as steps in text. Requests are named by letters; `a2` is the second payment to `a`. */
import { expect } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import type { Refusal, RequestView } from '../../../src/custody/api.ts';
import { storeBirth } from '../../../src/custody/kernel/birth.ts';
import { confirmPayment } from '../../../src/custody/payments/confirm.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { settling } from '../../kit/sample-operations.ts';
import { msOf, playSteps } from '../../kit/scenes.ts';
import { createPaymentWorld, fee, type PaymentWorld, signature, TREASURY } from './payment-world.ts';

const orNone = (texts: readonly unknown[] = []): string => (texts.length === 0 ? 'none' : texts.join(', '));

function createNames({ payments }: PaymentWorld) {
  const requests = new Map<string, RequestView>();
  const paid = new Map<string, string>();
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
     * @param words `unnamed` without the reference, `with b` also its reference, `by X`, `to X`, `block -5s|none`, `failed`, `sent`
     * if not final, `as a1` for its bytes
     */
    pay(name: string, sum: string, ...words: string[]) {
      const after = (word: string) => words[words.indexOf(word) + 1] ?? '';
      const references = words.includes('unnamed') ? [] : [request(name).reference];
      if (words.includes('with')) references.push(request(after('with')).reference);
      const over: Partial<ChainTransaction> = {};
      if (words.includes('failed')) Object.assign(over, { failed: true });
      if (words.includes('by'))
        Object.assign(over, { accounts: [after('by'), 'treasury', ...references], signers: [after('by')] });
      if (words.includes('to')) Object.assign(over, { accounts: ['payer', after('to'), ...references] });
      if (words.includes('block')) {
        const isUnknown = after('block') === 'none';
        const at = isUnknown ? null : Math.floor((state.now + msOf(after('block'))) / 1_000);
        Object.assign(over, { blockTime: at });
      }
      const amount = sum.startsWith('fee') ? fee(request(name)) + BigInt(sum.slice(3) || 0) : BigInt(sum);
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
  reason: (name: string) => now(name)?.reason,
  received: (name: string) => sum(now(name)?.receivedLamports ?? '', name),
  bought: (name: string) => shown(now(name)?.paymentSignature),
  reported: (name: string) => shown(now(name)?.reportedSignature),
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
  tokens: () => world.storage.exec('SELECT token_id FROM tokens').length,
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
