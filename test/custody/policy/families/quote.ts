/** S20 and S21: the echo and its price. */
import { LIFI_COLLECTOR } from '../../../../src/custody/policy/instructions.ts';
import { WRAPPED_SOL } from '../../../../src/custody/policy/programs.ts';
import { type Draft, THIEF, transfer } from '../draft.ts';
import { collect, type Family, LEG } from './family.ts';

const { list, near, both } = collect();

for (const tool of ['relaydepository', 'mayan', 'thorswap', 'allbridge', 'NEAR']) {
  near(`the tool ${tool}`, 'quote_tool', (d) => (d.quote.tool = tool));
}
near('another tool inside', 'quote_tool', (d) => (d.quote.estimate.tool = 'chainflip'));
both('another chain to pay on', 'quote_chain', (d, r) => (d.quote.action.toChainId = r.between(1, 99_999)));
both('another token to pay out', 'quote_token', (d) => (d.quote.action.toToken.address = 'ordinal'));
near('a token with other decimals', 'quote_token', (d) => (d.quote.action.toToken.decimals = 6));
near('wrapped SOL in place of SOL', 'quote_token', (d) => (d.quote.action.fromToken.address = WRAPPED_SOL));
both(
  'a quote for another amount of SOL',
  'quote_from_amount',
  (d, r) => (d.quote.action.fromAmount = `${d.amount + BigInt(r.between(1, 99))}`),
);
both('a quote for another wallet', 'quote_from_address', (d) => (d.quote.action.fromAddress = THIEF));
both('a quote to another address', 'quote_to_address', (d) => (d.quote.action.toAddress = 'bc1qthief'));
near('a quote with another slippage', 'quote_echo_slippage', (d) => (d.quote.action.slippage = 0.5));
near('a message in place of a transaction', 'quote_execution', (d) => (d.quote.executionType = 'message'));
both(
  'an old quote',
  'quote_stale',
  (d, r) => (d.ageMs = r.pick([60_001, -1, Number.NaN, r.between(60_001, 9_999_999)])),
);
both(
  'an output below the price',
  'quote_minimum',
  (d, r) => (d.quote.estimate.toAmountMin = `${r.between(0, 9_000)}`),
);
near(
  'a minimum above the output',
  'quote_minimum',
  (d) => (d.quote.estimate.toAmountMin = `${BigInt(d.quote.estimate.toAmount) + 1n}`),
);
const fee =
  (
    change: (one: NonNullable<Draft['quote']['estimate']['feeCosts']>[number], d: Draft) => void,
  ): Family['change'] =>
  (d) => {
    const one = d.quote.estimate.feeCosts?.[0];
    if (!one) throw new Error('no fee');
    change(one, d);
  };
near(
  'a fee on top',
  'quote_fee_on_top',
  fee((one) => (one.included = false)),
);
near(
  'a fee in another token',
  'quote_fee_token',
  fee((one) => (one.token.address = WRAPPED_SOL)),
);
near(
  'fees above the cap',
  'quote_fees',
  fee((one, d) => (one.amount = `${d.amount / 100n}`)),
);
near('a transfer of fees above the cap', 'fee_over_cap', (d, r) => {
  const taken = (d.amount * BigInt(r.between(51, 2_000))) / 10_000n;
  d.instructions[3] = transfer(LIFI_COLLECTOR, taken);
  d.instructions[LEG] = transfer(d.deposit, d.amount - taken);
});

export const QUOTE_FAMILIES: readonly Family[] = list;
