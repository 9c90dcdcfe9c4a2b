import { expect, it } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { ListingOrder } from '../../site/parts/listing-order.tsx';
import { PriceOrder } from '../../site/parts/token-price.tsx';
import { exampleOf } from '../kit/example.ts';
import { scenes } from '../kit/scenes.ts';

const refund = {
  ...{ signature: 's', lamports: '50000000', payer: null, reason: 'late' },
  ...{ status: 'due', refund_signature: null },
};

it.each(
  scenes(`
  awaiting_payment | no  | 0 | Waiting for the payment
  seen             | no  | 0 | Waiting for the payment
  expired          | no  | 0 | The request has expired.
  refund_due       | no  | 1 | The request has expired.; 0.05 SOL
  completed        | yes | 0 | The token is listed.
  expired          | yes | 1 | The token is listed.; 0.05 SOL`),
)(
  'a listing request that is %s, of a token that is listed: %s, with %s refunds, shows: %s',
  (detail, listed, refunds, texts = '') => {
    const request = exampleOf('requestListing');
    const { token_id, listing_request_id } = request;
    const token = { ...exampleOf('getToken'), listed_at: listed === 'yes' ? request.created_at : null };
    const listing = {
      ...request.listing,
      listing_request_id,
      detail,
      refunds: refunds === '1' ? [refund] : [],
    };
    const answers = {
      [`getToken {"id":"${token_id}"}`]: token,
      [`listListings {"token_id":${token_id}}`]: { listings: [listing], next_cursor: null },
    };
    const html = withAnswers(answers, () => String(ListingOrder({ request })));
    for (const text of texts.split('; ')) expect(html).toContain(text);
    expect(html.includes('class="qr')).toBe(texts.startsWith('Waiting'));
  },
);

it('the listing form names what a creation costs besides the charges of Solana, from its quote', () => {
  const quote = exampleOf('quoteToken');
  const longest = {
    ...{ name: 'N'.repeat(32), symbol: 'S'.repeat(10) },
    ...{ token_program: 'token-2022', metaplex_metadata: 'false' },
  };
  const margin = '12300000';
  const priced = { ...quote, fee_breakdown: { ...quote.fee_breakdown, margin } };
  const answers = { [`quoteToken ${JSON.stringify(longest)}`]: priced };
  expect(withAnswers(answers, () => String(PriceOrder()))).toContain('0.0123 SOL plus');
});
