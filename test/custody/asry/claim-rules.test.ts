import { expect, it } from 'vitest';
import type { ClaimAnswer } from '../../../src/custody/api.ts';
import { storeBirth } from '../../../src/custody/kernel/birth.ts';
import { lookUpOf } from '../../kit/custodian.ts';
import { planned } from '../../kit/sample-operations.ts';
import { eachScene, msOf } from '../../kit/scenes.ts';
import { wordsOf } from './claim-scenes.ts';
import { asChainTransaction, PROGRAM, terms, transactionOf } from './claim-simulation.ts';
import { CLAIM, createStoredClaims, DEPOSIT } from './stored-claims.ts';

/** The clock of {@link createStoredClaims} starts this many seconds after the first epoch. */
const NOW_AT = 3_600;
const SLOT = 99_000n;

const codeOf = (answer: ClaimAnswer): string =>
  answer.type === 'refused'
    ? `${answer.refusal.code} ${answer.refusal.details?.reason ?? ''}`.trim()
    : answer.type;

/**
 * The response to a claim. Times are relative to the clock. `block:T` is the block's time; `swap:T` stores an unsettled
 * operation of that time, of `signer:X` with `unsettled:N`; `birth:T` lets the journal begin anew, at `slot:N` slots after the
 * deposit's; `shared` makes the treasury the reserve.
 */
async function claimAt(text: string): Promise<string> {
  const words = wordsOf(text.split(' '));
  const { block = '0s', swap, signer = terms.treasury, unsettled = '1', birth, slot = '0', age } = words;
  const deposit = { ...DEPOSIT, at: NOW_AT + msOf(block) / 1_000, slot: SLOT };
  const w = createStoredClaims(
    {
      lookUp: lookUpOf(async () => asChainTransaction(transactionOf(deposit))),
      ...(age && { program: { ...PROGRAM, maxAgeSeconds: msOf(age) / 1_000 } }),
    },
    words.shared ? { reserveAddress: terms.treasury } : {},
  );
  if (swap)
    w.journal.insert(
      planned({ signer, unsettled: BigInt(unsettled) as never, createdAt: w.now() + msOf(swap) }),
    );
  if (birth)
    storeBirth(w.journal, { at: w.now() + msOf(birth), slot: String(SLOT + BigInt(slot)), revision: 1 });
  if (words.paidBySwap) w.journal.useOnce(`deposit:${DEPOSIT.sender}`, 'swap:one', w.now());
  const code = codeOf(await w.claim(CLAIM));
  const isUsed = w.journal.userOf(`payment:${DEPOSIT.signature}`) !== undefined;
  expect(isUsed).toBe(code === 'claimed');
  return code;
}

eachScene(`
  earns if its block is more than two minutes older than an unsettled swap            | swap:2m1ms                  | claimed
  waits if its block is two minutes older than an unsettled swap                      | swap:2m                     | CLAIMS_PAUSED swap_unsettled
  waits in the second of an unsettled swap                                            | swap:0s                     | CLAIMS_PAUSED swap_unsettled
  waits until a day after an unsettled swap                                           | swap:-1d                    | CLAIMS_PAUSED swap_unsettled
  earns more than a day after an unsettled swap                                       | swap:-1d1ms                 | claimed
  earns beside a swap that is settled                                                 | swap:0s unsettled:0         | claimed
  earns beside an unsettled swap of another key than the treasury's                   | swap:0s signer:other        | claimed
  waits for a day after a lost journal, whose swaps are unknown, if the treasury is the reserve | birth:-1d slot:-1 shared | CLAIMS_PAUSED swap_unsettled
  earns after a lost journal if the treasury is not the reserve                       | birth:-1d slot:-1           | claimed
  earns at a treasury that is the reserve                                             | shared                      | claimed
  earns nothing in the slot in which the journal began anew                           | birth:0s                    | OLDER_THAN_RECORDS
  earns nothing if a swap paid its sender                                             | paidBySwap                  | DEPOSIT_NOT_ELIGIBLE own_movement
  earns if its block is a day ahead of the clock                                      | block:1d                    | claimed
  is held if its block is more than a day ahead of the clock                          | block:24h1s                 | DEPOSIT_HELD block_time_ahead
  earns at its maximum age                                                            | block:-10m age:10m          | claimed
  earns nothing a second after its maximum age                                        | block:-601s age:10m         | DEPOSIT_TOO_OLD
`)('a deposit %s', async (_title, words = '', expected = '') => {
  expect(await claimAt(words)).toBe(expected);
});

it('a claim of a journal that began anew names its time and whom to ask', async () => {
  const w = createStoredClaims({}, { contact: 'mailto:help@sluice.test' });
  storeBirth(w.journal, { at: w.now(), slot: String(SLOT), revision: 1 });
  const message = expect.stringContaining('help@sluice.test');
  expect(await w.claim(CLAIM)).toMatchObject({
    refusal: { code: 'OLDER_THAN_RECORDS', message },
    claim: null,
  });
});

it('a claim whose network has used up its lookups returns that refusal', async () => {
  const refusal = { code: 'RATE_LIMITED', message: 'Too many.' } as const;
  const { claim } = createStoredClaims({ lookUp: async () => ({ type: 'refused', refusal }) });
  expect(await claim(CLAIM)).toEqual({ type: 'refused', refusal, claim: null });
});

it('a refused claim of a deposit that nobody has claimed shows no claim', async () => {
  const { claim } = createStoredClaims();
  const refusal = { code: 'DEPOSIT_WRONG_ASSET' };
  expect(await claim({ ...CLAIM, asset: 'USDT' })).toMatchObject({ refusal, claim: null });
});

it('of two concurrent claims of a deposit one takes the whole reward', async () => {
  const { claim } = createStoredClaims();
  expect((await Promise.all([claim(CLAIM), claim(CLAIM)])).map(codeOf)).toEqual([
    'claimed',
    'ALREADY_CLAIMED',
  ]);
});

it('a warning names a deposit that the operator must check, and no other refused one', async () => {
  const logged: unknown[] = [];
  const log = (line: object) => logged.push(line);
  for (const change of [{ failed: true }, { signers: [] }]) {
    const { claim } = createStoredClaims(
      { lookUp: lookUpOf(async () => asChainTransaction({ ...transactionOf(DEPOSIT), ...change })) },
      { log },
    );
    await claim(CLAIM);
  }
  const { signature } = DEPOSIT;
  expect(logged).toEqual([{ level: 'warn', event: 'deposit_held', signature, reason: 'sender_not_signer' }]);
});

it('a repeat reads the recipient of an owed reward again 30 seconds after the last repeat', async () => {
  let reads = 0;
  const w = createStoredClaims({
    readAccounts: async () => {
      reads += 1;
      throw new Error('the nodes are down');
    },
  });
  await w.claim(CLAIM);
  const readsAfter = async (ms: number): Promise<number> => {
    w.state.now += ms;
    reads = 0;
    await w.claim(CLAIM);
    return reads;
  };
  expect([await readsAfter(1), await readsAfter(29_999), await readsAfter(1)]).toEqual([1, 0, 1]);
});
