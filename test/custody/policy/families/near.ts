/** S19: a deposit whose destination, as stated by the bridge, is not ours. */
import type { Random } from '../../../simulator/random.ts';
import { type Draft, THIEF, transfer } from '../draft.ts';
import { collect, type Family, LEG } from './family.ts';

const { list, near } = collect();

near('an unconfirmed destination', 'destination_unconfirmed', (d) => (d.status = null));
const status =
  (change: (status: NonNullable<Draft['status']>, r: Random, d: Draft) => void): Family['change'] =>
  (d, r) => {
    if (!d.status) throw new Error('no status');
    change(d.status, r, d);
  };
near(
  'the exact amount to the thief',
  'near_deposit_address',
  (d) => (d.instructions[LEG] = transfer(THIEF, d.amount - d.fee)),
);
near(
  'a deposit address that is used',
  'near_status',
  status(
    (s, r) =>
      (s.status = r.pick(['SUCCESS', 'PROCESSING', 'KNOWN_DEPOSIT_TX', 'REFUNDED', 'INCOMPLETE_DEPOSIT'])),
  ),
);
near(
  'a deposit that was seen',
  'near_deposit_seen',
  status((s) => (s.swapDetails.originChainTxHashes = [{ hash: 'x' }])),
);
near(
  'a quote for the recipient of the thief',
  'quote_recipient',
  status((s) => (s.quoteResponse.quoteRequest.recipient = 'bc1qthief')),
);
near(
  'a quote that refunds the thief',
  'quote_refund_address',
  status((s) => (s.quoteResponse.quoteRequest.refundTo = THIEF)),
);
near(
  'a quote for another amount',
  'quote_amount',
  status((s, r) => (s.quoteResponse.quoteRequest.amount = `${r.between(1, 99_999_999)}`)),
);
near(
  'a quote without a signature by 1Click',
  'quote_signature',
  (d, r) => (d.quoteSecret = new Uint8Array(32).fill(r.between(9, 255))),
);
near(
  'a quote that ends too soon',
  'quote_deadline',
  status((s) => (s.quoteResponse.quote.deadline = '2026-11-20T10:05:00.000Z')),
);
near(
  'a quote that pays less than LI.FI promises',
  'near_minimum',
  status((s) => (s.quoteResponse.quote.minAmountOut = '1')),
);
near(
  'a quote with fees for a third party',
  'quote_app_fees',
  status((s) => (s.quoteResponse.quoteRequest.appFees = [{ recipient: 'x', fee: 500 }])),
);
near(
  'a quote with a detour',
  'quote_detour',
  status((s) => (s.quoteResponse.quote.customRecipientMsg = 'x')),
);

export const NEAR_FAMILIES: readonly Family[] = list;
