import { expect, it } from 'vitest';
import { Offer } from '../../site/parts/swap-panel.tsx';
import { SWAP_DETAILS, swapSteps } from '../../site/parts/swap-progress.tsx';
import { swapDetails } from '../docs/markdown.ts';
import { exampleOf } from '../kit/example.ts';

const swap = (status: string, detail: string) => ({
  id: '5fFK6dZeVLSmuXCgLUbXRWsKPZBj7jUaicdZfyVMdY7NJeZTtUfbCwkgZwGh35zr6t7bs4GaMCCdhrqgNfz8obY1',
  status: status as 'waiting' | 'finished' | 'failed',
  detail,
  reason: null,
  amountSol: 0.5,
  amountLamports: '500000000',
  btcSats: null,
  btcSatoshis: null,
  expectedSatoshis: '61975',
  txId: null,
  nextPollSeconds: 5,
});

it('each documented `detail` value of a swap has a label, and no other value has one', () => {
  expect(Object.keys(SWAP_DETAILS).sort()).toEqual([...swapDetails().keys()].sort());
});

it.each([
  ['waiting', 'signed', ['now', 'open', 'open']],
  ['waiting', 'sent', ['now', 'open', 'open']],
  ['waiting', 'landed', ['done', 'now', 'open']],
  ['waiting', 'settling', ['done', 'now', 'open']],
  // Every report of a bridge under way concerns SOL that has left the reserve.
  ['waiting', 'a_state_of_tomorrow', ['done', 'now', 'open']],
  ['waiting', 'held', ['done', 'now', 'open']],
  ['waiting', 'refunding', ['done', 'failed', 'failed']],
  ['finished', 'done', ['done', 'done', 'done']],
  ['failed', 'refunded', ['done', 'failed', 'failed']],
  ['failed', 'bridge_failed', ['done', 'failed', 'failed']],
  ['failed', 'partial', ['done', 'failed', 'failed']],
  ['failed', 'written_off', ['done', 'failed', 'failed']],
  ['failed', 'late', ['done', 'done', 'done']],
  ['failed', 'expired', ['failed', 'failed', 'failed']],
  ['failed', 'rejected', ['failed', 'failed', 'failed']],
])('shows the right steps for a swap in the state %s, %s', (status, detail, states) => {
  expect(swapSteps(swap(status, detail)).map(({ state }) => state)).toEqual(states);
});

it('each `detail` value of a failed swap is explained in a sentence', () => {
  const failed = [...swapDetails()].filter(([, status]) => status === 'failed');
  expect(failed).toHaveLength(7);
  for (const [detail] of failed) expect(SWAP_DETAILS[detail]?.[1], detail).toMatch(/^[A-Z].*\.$/);
});

it.each([
  [true, { button: true, refusal: false }],
  [false, { button: false, refusal: true }],
])('the button is offered only for a quote that can be accepted (%s)', (creatable, parts) => {
  const estimate = { ...exampleOf('getSwapEstimate'), creatable };
  const html = String(Offer({ estimate, busy: false, start: () => undefined }));
  const shown = { button: html.includes('Start swap'), refusal: html.includes('cannot start now') };
  expect(shown).toEqual(parts);
  expect(html.includes('swap-agreed')).toBe(parts.button);
});
