import { expect, it } from 'vitest';
import { ownMoney } from '../../../src/custody/asry/claim.ts';
import { CLAIM, createStoredClaims, DEPOSIT } from './stored-claims.ts';

const SECOND = 1_000;
const DAY = 86_400;
const SWAP_AT = 1_800_000_000;

const facts = { isOwnSender: false, unsettledSince: [SWAP_AT * SECOND] };

it.each([
  ['more than two minutes before the swap', SWAP_AT - 121, undefined],
  ['in a block whose time is two minutes behind the swap', SWAP_AT - 120, 'swap_unsettled'],
  ['in the second of the swap', SWAP_AT, 'swap_unsettled'],
  ['a day later', SWAP_AT + DAY, 'swap_unsettled'],
  ['more than a day later', SWAP_AT + DAY + 1, undefined],
])(
  'the block time decides whether a deposit to a shared address may be our own money: %s',
  (_name, blockTime, reason) => {
    expect(ownMoney({ blockTime }, facts)).toBe(reason);
  },
);

it('no deposit is treated as our own money at a separate treasury address, or without an unsettled swap', () => {
  expect(ownMoney({ blockTime: SWAP_AT }, { ...facts, unsettledSince: [] })).toBeUndefined();
});

it('a deposit from an address that one of our swaps paid is treated as our own money', () => {
  const fromBridge = { isOwnSender: true, unsettledSince: [] };
  expect(ownMoney({ blockTime: SWAP_AT }, fromBridge)).toBe('own_movement');
});

it('a deposit from an address that a swap paid earns nothing, and a claim does not use it', async () => {
  const { claim, journal, now } = createStoredClaims();
  journal.useOnce(`deposit:${DEPOSIT.sender}`, 'swap:one', now());
  expect(await claim(CLAIM)).toMatchObject({
    type: 'refused',
    refusal: { code: 'DEPOSIT_NOT_ELIGIBLE' },
  });
  expect(journal.userOf(`payment:${DEPOSIT.signature}`)).toBeUndefined();
});
