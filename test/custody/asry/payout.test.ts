/** The part of a claim that is owed: when it is checked, what it costs, and how its operation ends. */
import { expect } from 'vitest';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { payoutKey } from '../../../src/custody/asry/asry-store.ts';
import type { PayoutAccounts } from '../../../src/custody/asry/context.ts';
import { createPayoutKind, PAYOUT, payOwed } from '../../../src/custody/asry/payout.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { code, KEY_ROTATED } from '../../../src/custody/kernel/reason.ts';
import { decodeMessage } from '../../chain/solana/decode-message.ts';
import { wallet } from '../../kit/addresses.ts';
import { signingOf } from '../../kit/sample-operations.ts';
import { eachScene, msOf, playSteps } from '../../kit/scenes.ts';
import { wordsOf } from './claim-scenes.ts';
import { PROGRAM } from './claim-simulation.ts';
import { CLAIM, createStoredClaims, DEPOSIT } from './stored-claims.ts';

const PROGRAMS: Readonly<Record<string, string | null>> = {
  token: TOKEN_PROGRAM,
  'token-2022': TOKEN_2022_PROGRAM,
  none: null,
};

/** `account:none|other atoms:5 decimals:2 program:token-2022`: what the chain shows of a recipient and the reserve. */
function shownOf(words: readonly string[]): Partial<PayoutAccounts> {
  const { account, atoms, decimals, program } = wordsOf(words);
  return {
    ...(account && { accountOwner: account === 'none' ? null : account }),
    ...(atoms && { reserveAtoms: BigInt(atoms) }),
    ...(decimals && { decimals: Number(decimals) }),
    ...(program && { program: PROGRAMS[program] ?? null }),
  };
}

function createStage() {
  const w = createStoredClaims();
  const { journal, state } = w;
  const { context } = w.claims;
  const { agenda, store } = context;
  let driven = 0;
  Object.assign(context, { program: { ...PROGRAM, price: 10n ** 12n }, drive: async () => void driven++ });
  const payouts = () => store.payouts(DEPOSIT.signature);
  const newest = () => {
    const payout = payouts().at(-1);
    if (!payout) throw new Error('no payout');
    return payout;
  };
  const due = () => {
    const at = agenda.dueAt(PAYOUT, payoutKey(newest()));
    return at === undefined ? 'none' : (at - state.now) / 1_000;
  };
  /** Ends the newest operation. @param words `debit:N`, `fee:N`, `block:N` of its landing */
  function end(to: string, ...words: string[]): void {
    const operation = journal.get(newest().operationId);
    if (!operation) throw new Error('no operation');
    const { debit, fee = '0', block, rejected } = wordsOf(words);
    const sums = debit && { fee: lamports(BigInt(fee)), debit: lamports(BigInt(debit)) };
    const reason = to === 'done' ? null : to === 'rotated' ? KEY_ROTATED : code(to);
    journal.update(
      operation,
      {
        ...operation,
        state: to === 'done' ? 'done' : 'failed',
        reason,
        dueAt: null,
        updatedAt: state.now,
        reserved: lamports(0n),
        ...(rejected && { signing: signingOf('one') }),
        ...(sums && { landing: { slot: 1n, blockTime: block ? Number(block) : null, ...sums } }),
      },
      state.now,
    );
  }
  return {
    claim: async (micro?: string) => {
      const asked = micro ? { rewardMicroUsd: BigInt(micro) } : {};
      const { type } = await w.claim({ ...CLAIM, ...asked });
      return type;
    },
    shows: (...words: string[]) => Object.assign(state, { shown: shownOf(words) }),
    unread: (is: string) => Object.assign(state, { unread: is === 'yes' }),
    stop: (stopped?: string) => Object.assign(state, { stopped }),
    'balance-fails': () =>
      Object.assign(context, { readBalance: () => Promise.reject(upstreamFailed('solana-rpc', 'timeout')) }),
    /** Another check has begun the payout before this one decides. */
    async 'late-check'() {
      const [payout] = payouts();
      await w.run();
      if (payout) await payOwed(context, [payout], 'alarm');
    },
    driven: () => driven,
    cold: () => Object.assign(context, { source: 'cold' }),
    source: () => journal.get(newest().operationId)?.plan.source,
    wait: (time: string) => Object.assign(state, { now: state.now + msOf(time) }),
    run: () => w.run(),
    end,
    reason: () => newest().reason ?? newest().state,
    states: () =>
      payouts()
        .map(({ state }) => state)
        .join(', '),
    due,
    /** The seconds between so many checks. */
    async waits(count: string) {
      const waits: unknown[] = [];
      for (let check = 0; check < Number(count); check++) {
        waits.push(due());
        state.now += Number(waits.at(-1)) * 1_000;
        await w.run();
      }
      return waits.join(' ');
    },
    /** The seconds to the next operation after each of so many that failed. */
    async fails(count: string) {
      const waits: unknown[] = [];
      for (let failure = 0; failure < Number(count); failure++) {
        end('rejected');
        waits.push(due());
        state.now += Number(waits.at(-1)) * 1_000;
        await w.run();
      }
      return waits.join(' ');
    },
    rent() {
      const { rent, rentAt } = newest();
      return rentAt === null ? `${rent}` : `${rent} ${state.now - rentAt}`;
    },
    begun: () => {
      const operation = journal.get(newest().operationId);
      return [operation?.amount, operation?.reserved, operation?.plan.createAccount].join(' ');
    },
    operation: () => newest().operationId?.split(':').at(-1),
    'paid-at': () => Number(newest().paidAt) - state.now,
    paid: () => store.epoch(0)?.paid,
    logged: () =>
      w.logged
        .splice(0)
        .map(({ level, event, reason }) => [level, event, reason].join(' '))
        .join(', ') || 'none',
    quiet: () => w.logged.splice(0),
  };
}

const play = (_title?: string, steps = ''): Promise<void> => playSteps(steps, createStage());

eachScene(`
  a payout whose recipient cannot be read is checked again after 2 seconds to a minute
    | unread yes; claim = claimed; reason = unread; waits 7 = 2 4 8 16 32 60 60
  a payout that cannot begin is checked again after 30 seconds to an hour
    | shows account:other; claim; reason = recipient_account_foreign; waits 9 = 30 60 120 240 480 960 1920 3600 3600
  a payout that failed on the chain begins again after 30 seconds to a day
    | claim; due = none; fails 14 = 30 60 120 240 480 960 1920 3840 7680 15360 30720 61440 86400 86400; operation = 15
  a payout that waits during a pause counts earlier checks in its wait
    | unread yes; claim; unread no; stop operator; wait 2s; run; reason = paused; due = 60
  a payout is checked again after 4 seconds if the balance cannot be read
    | unread yes; claim; unread no; balance-fails; wait 2s; run; reason = unread; due = 4
  a repeat by a caller does not postpone the check
    | unread yes; claim; due = 2; wait 1s; claim; due = 1
  an owed payout alerts the operator once an hour, if only the operator can help
    | shows account:other; claim; logged = alarm payout_owed recipient_account_foreign; wait 59m59s999ms; run; logged = none; wait 2h; run; logged = alarm payout_owed recipient_account_foreign
  an owed payout alerts the operator if the reserve is short of ASRY
    | shows atoms:1; claim; logged = alarm payout_owed reserve_short_of_asry
  an owed payout alerts the operator if the mint is not the expected one
    | shows decimals:8; claim; logged = alarm payout_owed mint_unexpected
  an owed payout does not alert the operator if the owner has closed the account
    | shows account:none; claim 1; end done debit:2046280 fee:7000; claim 1; reason = recipient_account_closed; logged = none
  the operator is alerted at the third failure of a payout
    | claim; quiet; end rejected; logged = warn payout_failed rejected; wait 30s; run; end rejected; logged = warn payout_failed rejected; wait 1m; run; end rejected; logged = alarm payout_failed rejected
  a check that another check has overtaken begins nothing
    | unread yes; claim; unread no; wait 2s; late-check; states = begun; operation = 1; due = none
  a claim waits for its payout, but the timer waits for no payout that it begins
    | claim; driven = 1; end rejected; wait 30s; run; reason = begun; operation = 2; driven = 1
  a payout begins from the account that the operator has set
    | cold; claim; source = cold
  a payout begins from the reserve's account if the operator has set no other account
    | claim; source = null
  a part of a claim whose payout has failed waits too
    | claim 1; end rejected; claim 1; reason = payout_failed; states = owed, owed; due = 30
`)('%s', play);

eachScene(`
  by an unknown failure                         | end expired; reason = payout_failed; due = 30
  because the recipient's account is missing    | end recipient_account_missing; reason = recipient_account_missing; due = 30
  because the recipient's account is foreign    | end recipient_account_foreign; reason = recipient_account_foreign; due = 30
  because the reserve is short of ASRY          | end reserve_short_of_asry; reason = reserve_short_of_asry; due = 30
  because the mint is not the expected one      | end mint_unexpected; reason = mint_unexpected; due = 30
  because the reserve has another key           | end rotated; reason = unread; due = 2; wait 2s; run; operation = 2
`)('a payout that ends %s is owed again', (_cause, steps = '') => play(_cause, `claim; ${steps}`));

eachScene(`
  nothing if the account is open, at the time of its block
    | claim; begun = 0 5900 false; rent = 0; wait 1s; end done debit:5900 fee:5900 block:1800003599; reason = paid; rent = 0; paid-at = -2000; paid = 1109323590079; due = none; wait 1d; run; operation = 1
  the rent of an account that it opens, from the time when it began
    | shows account:none; claim; begun = 2039280 2046280 true; rent = 2039280 0; wait 1s; end done debit:2046280 fee:7000; rent = 2039280 1000; paid-at = 0
  a rent that the chain has lowered meanwhile
    | shows account:none; claim 1; end done debit:7001 fee:7000; rent = 1 0; claim 1; reason = recipient_account_closed
  the rent of an account of Token-2022
    | shows account:none program:token-2022; claim; begun = 2074080 2081080 true
  no rent if somebody else opened the account meanwhile
    | shows account:none; claim; end done debit:7000 fee:7000; rent = 0
  the reserved rent if the landing is unknown
    | shows account:none; claim; end done; rent = 2039280 0; paid-at = 0
  no rent if its operation fails
    | shows account:none; claim; end rejected; rent = 0
`)('a payout costs %s', play);

eachScene(`
  the reserve has exactly its ASRY                             | shows atoms:1109323590079; claim; reason = begun
  the reserve lacks an atom of ASRY                            | shows atoms:1109323590078; claim; reason = reserve_short_of_asry
  the reserve lacks an atom beside a payout that is on its way | shows atoms:22186471802; claim 1; reason = begun; claim 1; reason = begun; claim 1; reason = reserve_short_of_asry
  another payout of the claim opens the account                | shows account:none; claim 1; claim 1; reason = unread; due = 2
  another program owns the mint                                | shows program:none; claim; reason = mint_unexpected
`)('a payout begins only while chain and reserve allow it: %s', play);

const OWNER = wallet(1);
eachScene(`
  to an open account                                |              |                          | 5900
  to an account that it opens                       | createAccount | account:none            | 7000
  to an account that was opened meanwhile           | createAccount |                         | 7000
  to an account that was closed meanwhile           |              | account:none             | recipient_account_missing
  to an account that another owner has now          |              | account:other            | recipient_account_foreign
  to an account that it opens and another owner has | createAccount | account:other           | recipient_account_foreign
  of exactly the ASRY of the reserve                |              | atoms:50                 | 5900
  of one atom more than the reserve has             |              | atoms:49                 | reserve_short_of_asry
  of a mint with other decimals                     |              | decimals:8               | mint_unexpected
  of a mint of another program                      |              | program:token-2022       | mint_unexpected
  of a mint that does not exist                     |              | program:none decimals:-1 | mint_unexpected
`)('a payout %s gets its cost, or the reason why it ended', async (_what, plan = '', shown = '', outcome) => {
  const accounts = { program: TOKEN_PROGRAM, decimals: 9, accountOwner: OWNER, reserveAtoms: 10n ** 18n };
  const kind = createPayoutKind({
    mint: wallet(2),
    readAccounts: async () => [{ ...accounts, ...shownOf(shown.split(' ')) }],
    latestBlockhash: async () => ({ blockhash: wallet(3), slot: 5n, witnesses: [] }),
  });
  const prepared = await kind.prepare(
    plannedOperation({
      signer: wallet(4),
      id: 'asry:deposit:1',
      kind: 'asry',
      amount: lamports(0n),
      reserved: lamports(0n),
      plan: {
        receiver: OWNER,
        atoms: '50',
        mint: wallet(2),
        program: TOKEN_PROGRAM,
        decimals: 9,
        createAccount: plan === 'createAccount',
        source: null,
      },
      now: 0,
    }),
  );
  expect('message' in prepared ? String(prepared.cost) : 'reason' in prepared && prepared.reason).toBe(
    outcome,
  );
  if ('message' in prepared)
    expect(decodeMessage(prepared.message).instructions).toHaveLength(plan === 'createAccount' ? 5 : 4);
});
