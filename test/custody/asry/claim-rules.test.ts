/** One claim over storage: each refusal with all its facts, and each limit to the unit. */
import { expect } from 'vitest';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { ClaimRequest } from '../../../src/custody/api.ts';
import { storeBirth } from '../../../src/custody/kernel/birth.ts';
import { wallet } from '../../kit/addresses.ts';
import { settling } from '../../kit/sample-operations.ts';
import { eachScene, msOf, playSteps } from '../../kit/scenes.ts';
import { TREASURY } from '../../kit/simulated-custodian.ts';
import { wordsOf } from './claim-scenes.ts';
import { PROGRAM, terms, transactionOf } from './claim-simulation.ts';
import { CLAIM, createStoredClaims, DEPOSIT } from './stored-claims.ts';

const START_MS = Number(PROGRAM.startsAt) * 1_000;

/** The deposit's transaction with one thing wrong. */
const FAULTS: Readonly<Record<string, (sound: ReturnType<typeof transactionOf>) => object>> = {
  failed: () => ({ failed: true }),
  uncredited: ({ preTokens }) => ({ postTokens: preTokens }),
  minted: ({ postTokens }) => ({ preTokens: [], postTokens: postTokens?.slice(1) }),
  own: () => ({ signers: [DEPOSIT.sender, terms.reserve] }),
  'both-assets': ({ preTokens, postTokens }) => {
    const usdt = transactionOf({ ...DEPOSIT, asset: 'USDT' });
    return {
      preTokens: [...(preTokens ?? []), ...(usdt.preTokens ?? [])],
      postTokens: [...(postTokens ?? []), ...(usdt.postTokens ?? [])],
    };
  },
  unsigned: () => ({ signers: [wallet(5)] }),
  'no-balances': () => ({ preTokens: null }),
};

function createStage() {
  const w = createStoredClaims();
  const { journal, state, storage } = w;
  const { context } = w.claims;
  let read = 0;
  /** What only a claim may change. */
  const stored = () =>
    ['SELECT * FROM once', 'SELECT signature, part FROM asry_payouts'].map((query) => storage.exec(query));
  async function ask(words: readonly string[]): Promise<string> {
    const { asset, expects, micro, skip, wait, key } = wordsOf(words);
    const request: ClaimRequest = {
      ...CLAIM,
      ...(asset && { asset: asset as 'USDC' }),
      ...(expects && { expectedAtoms: BigInt(expects) }),
      ...(micro && { rewardMicroUsd: BigInt(micro) }),
      ...(key && { key: { keyHash: key, bodyHash: words.join(' ') } }),
      ...(wait && { waitMs: msOf(wait) }),
      skipReward: skip !== undefined,
    };
    const answer = await w.claim(request);
    if (answer.type !== 'refused') return answer.type;
    const { code, details = {}, retryAfterSeconds: retry } = answer.refusal;
    const facts = Object.entries({ ...details, ...(retry && { retry }) }).map((fact) => fact.join(':'));
    return [code, ...facts, answer.claim === null ? '' : `claim:${answer.claim?.payouts.length}`]
      .filter(Boolean)
      .join(' ');
  }
  return {
    /** A refusal has its code, details, seconds to the retry, and the number of the claim's payouts; it stores nothing. */
    async claim(...words: string[]) {
      const before = stored();
      const outcome = await ask(words);
      if (outcome !== 'claimed') expect(stored(), outcome).toEqual(before);
      return outcome;
    },
    contact: (contact: string) => Object.assign(context, { contact }),
    /** Concurrent claims. */
    claims: async (count: string) =>
      (await Promise.all(Array.from({ length: Number(count) }, () => ask([])))).join(', '),
    lookup(type: string, reason = '') {
      const refusal = { code: 'RATE_LIMITED', message: 'used', retryAfterSeconds: 7 } as const;
      state.lookedUp =
        type === 'fails'
          ? upstreamFailed('solana-rpc', reason)
          : type === 'refused'
            ? { type, refusal }
            : { type: type as 'pending' };
    },
    lookups: () =>
      state.lookups.map(({ waitMs, unknownMs, until }) => [waitMs, unknownMs, until].join(' ')).join(', '),
    deposit(...words: string[]) {
      const { at = String(DEPOSIT.at), atoms = String(DEPOSIT.atoms) } = wordsOf(words);
      state.transaction = transactionOf({ ...DEPOSIT, at: Number(at), atoms: BigInt(atoms) });
    },
    is(fault: string) {
      const sound = transactionOf(DEPOSIT);
      state.transaction = { ...sound, ...FAULTS[fault]?.(sound) };
    },
    program(...words: string[]) {
      const { price, maxAge, cap } = wordsOf(words);
      Object.assign(context, {
        program: {
          ...PROGRAM,
          ...(price && { price: BigInt(price) }),
          ...(maxAge && { maxAgeSeconds: Number(maxAge) }),
          ...(cap && { cap: BigInt(cap) }),
        },
      });
    },
    clock: (time: string) => Object.assign(state, { now: START_MS + msOf(time) }),
    wait: (time: string) => Object.assign(state, { now: state.now + msOf(time) }),
    use: (name: string, by: string) =>
      journal.useOnce(`${name}:${name === 'payment' ? DEPOSIT.signature : DEPOSIT.sender}`, by, state.now),
    /** The journal began anew, now. */
    birth: (slot: string) => storeBirth(journal, { at: state.now, slot, revision: 0 }),
    shared: () => Object.assign(context, { reserveAddress: TREASURY }),
    swap: (signer: string, unsettled: string) =>
      storage.transaction(() =>
        journal.insert(
          settling({
            signer: { treasury: TREASURY, sender: DEPOSIT.sender }[signer] ?? signer,
            unsettled: BigInt(unsettled) as never,
            createdAt: state.now,
          }),
        ),
      ),
    stop: (stopped?: string) => Object.assign(state, { stopped }),
    verified: (is: string) => Object.assign(state, { isVerified: is === 'yes' }),
    mint: (reason: string) =>
      Object.assign(context, {
        readMint:
          reason === 'none'
            ? async () => undefined
            : () => Promise.reject(upstreamFailed('solana-rpc', reason)),
      }),
    unread: (is: string) => Object.assign(state, { unread: is === 'yes' }),
    /** Reads of the recipients since the last look. */
    reads() {
      const before = read;
      read = state.reads;
      return read - before;
    },
    /** So many other deposits were repeated earlier. */
    repeated(count: string) {
      const done = Promise.resolve();
      for (let n = 0; n < Number(count); n++) context.repeats.set(`other ${n}`, { at: state.now, done });
    },
    remembered: () => context.repeats.size,
    parts: () => context.store.payouts(DEPOSIT.signature).map(({ state, reason }) => reason ?? state),
    logged: () =>
      w.logged.map(({ level, event, reason }) => [level, event, reason].join(' ')).join(', ') || 'none',
  };
}

const play = (_title?: string, steps = ''): Promise<void> => playSteps(steps, createStage());

eachScene(`
  a deposit that is not final                | lookup pending; claim = DEPOSIT_NOT_FINAL retry:5
  a signature that no node has               | lookup unknown; claim = DEPOSIT_NOT_FOUND retry:5
  a caller without lookups left              | lookup refused; claim = RATE_LIMITED retry:7
  nodes that show different transactions     | lookup fails nodes_disagree; claim = DEPOSIT_HELD reason:nodes_disagree; logged = warn deposit_held nodes_disagree
  nodes that fail                            | lookup fails timeout; claim = UPSTREAM_FAILED upstream:solana-rpc reason:timeout retry:5; logged = none
  a failed transaction                       | is failed; claim = DEPOSIT_FAILED reason:transaction_failed; logged = none
  a transaction without a credit             | is uncredited; claim = DEPOSIT_NO_CREDIT reason:no_credit
  tokens that were minted to the treasury    | is minted; claim = DEPOSIT_NOT_ELIGIBLE reason:no_sender
  a transfer that the reserve signed         | is own; claim = DEPOSIT_NOT_ELIGIBLE reason:own_movement
  a credit of both assets                    | is both-assets; claim = DEPOSIT_BOTH_ASSETS reason:both_assets; logged = warn deposit_held both_assets
  a sender who did not sign                  | is unsigned; claim = DEPOSIT_HELD reason:sender_not_signer; logged = warn deposit_held sender_not_signer
  a transaction without token balances       | is no-balances; claim = UPSTREAM_FAILED upstream:solana-rpc reason:no_token_balances; logged = none
  a block time more than a day ahead         | deposit at:90001; claim = DEPOSIT_HELD reason:block_time_ahead; logged = warn deposit_held block_time_ahead; deposit at:90000; claim = claimed
  a deposit before the first epoch           | deposit at:-1; claim = DEPOSIT_TOO_OLD blockTime:1799999999; deposit at:0; claim = claimed
  a deposit older than the maximum age       | program maxAge:3539; claim = DEPOSIT_TOO_OLD blockTime:1800000060; program maxAge:3540; claim = claimed; wait 1d; claim = CLAIM_IN_PROGRESS retry:5 claim:1
  a deposit below the minimum                | deposit atoms:999999; claim = DEPOSIT_TOO_SMALL creditedAtomic:999999 minimumAtomic:1000000 feeBps:5; deposit atoms:1000000; claim = claimed
  a deposit that earns no atom               | program cap:0; claim = DEPOSIT_TOO_SMALL creditedAtomic:100000000 minimumAtomic:1000000 feeBps:5
  an asset other than that of the deposit    | claim asset:USDT = DEPOSIT_WRONG_ASSET asset:USDT creditedAsset:USDC
  an amount other than that of the deposit   | claim expects:1 = DEPOSIT_AMOUNT_MISMATCH expectedAtomic:1 creditedAtomic:100000000; claim expects:100000000 = claimed
  a payment that bought something            | use payment token:1; claim = DEPOSIT_ALREADY_USED purpose:token
  a value in dollars without a price         | claim micro:1 = REWARD_USD_UNAVAILABLE; claim skip micro:1 = REWARD_USD_UNAVAILABLE; claim skip = validated; claim = claimed
  a sender that one of our swaps paid        | use deposit swap:1; claim = DEPOSIT_NOT_ELIGIBLE reason:own_movement
  a sender that was the reserve              | swap sender 0; claim = DEPOSIT_NOT_ELIGIBLE reason:own_movement
  an unsettled swap two minutes later        | clock 3m; swap treasury 1; claim = CLAIMS_PAUSED reason:swap_unsettled retry:300
  an unsettled swap a day earlier            | clock -23h59m; swap treasury 1; clock 1h; claim = CLAIMS_PAUSED reason:swap_unsettled retry:300
  a lost journal that may have used it       | contact mailto:us; birth 99000; claim = OLDER_THAN_RECORDS recordsSince:2027-01-15T09:00:00.000Z contact:mailto:us
  a lost journal that may have swapped       | clock 1m; shared; birth 98999; claim = CLAIMS_PAUSED reason:swap_unsettled retry:300
  a pause                                    | stop operator; claim = CLAIMS_PAUSED reason:operator retry:300
  a journal that is not verified             | verified no; claim = CLAIMS_PAUSED reason:unverified retry:300
  a mint that cannot be read                 | mint timeout; claim = UPSTREAM_FAILED upstream:solana-rpc reason:timeout retry:5
  a mint that does not exist                 | mint none; claim = UPSTREAM_FAILED upstream:solana-rpc reason:mint_unexpected retry:5
  a key with another body                    | claim key:a = claimed; claim key:a micro:1 = IDEMPOTENCY_KEY_REUSED
  a reward that is being paid                | claim = claimed; claim = CLAIM_IN_PROGRESS retry:5 claim:1
  a deposit that another call claims         | claims 2 = claimed, ALREADY_CLAIMED claim:1
  a preview of a deposit below the minimum   | deposit atoms:1; claim skip = DEPOSIT_TOO_SMALL creditedAtomic:1 minimumAtomic:1000000 feeBps:5
`)('a claim is refused and stores nothing because of %s', play);

eachScene(`
  an unsettled swap is more than two minutes younger      | clock 3m1ms; swap treasury 1; claim = claimed
  an unsettled swap is more than a day older              | clock -23h59m; wait -1ms; swap treasury 1; clock 1h; claim = claimed
  a swap of the treasury is settled                       | clock 1m; swap treasury 0; claim = claimed
  another address has an unsettled swap                   | clock 1m; swap other 1; claim = claimed
  the reserve is the treasury                             | clock 1m; shared; claim = claimed
  the deposit is newer than a lost journal of another key | clock 1m; birth 98999; claim = claimed
`)('a deposit earns its reward if %s', play);

eachScene(`
  a claim does not read the mint while its epoch is open
    | claim skip = validated; mint timeout; claim = claimed
  the next epoch is open in its first second
    | claim skip = validated; clock 30d; deposit at:2592000; claim = claimed
  a preview with a value in dollars needs a price
    | program price:4000000000000; claim skip micro:1 = validated; claim micro:1 = claimed
  a repeat reads the recipient again after 30 seconds
    | unread yes; claim = claimed; reads = 1; claim = CLAIM_IN_PROGRESS retry:5 claim:1; reads = 1; wait 29s999ms; claim; reads = 0; wait 1ms; claim; reads = 1
  20 concurrent repeats read the recipient once
    | unread yes; claim; reads = 1; claims 20; reads = 1
  a repeat reads the recipient again if the clock was set back
    | unread yes; claim = claimed; claim; reads = 2; wait -1ms; claim; reads = 1
  a repeat does not begin a payout during a pause
    | unread yes; claim = claimed; reads = 1; stop operator; claim = CLAIM_IN_PROGRESS retry:5 claim:1; reads = 0; parts = unread
  a repeat of a claim whose reward is on its way reads and remembers nothing
    | claim = claimed; reads = 1; claim; reads = 0; remembered = 0
  the repeats of at most 1,000 deposits are remembered
    | unread yes; claim = claimed; repeated 1000; claim; remembered = 1000
  a claim waits for a final transaction as long as its caller does, but not for an unknown transaction
    | claim skip; claim wait:5s; lookups = 0 0 final, 5000 0 final
`)('%s', play);
