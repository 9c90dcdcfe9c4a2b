import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import vectors from '../fixtures/near-intents-quote.json' with { type: 'json' };
import { createQuoteKey } from './keys.ts';
import { quoteMessage } from './quote-signature.ts';

const answers = [
  vectors.staging_non_dry_quote,
  vectors.staging_dry_quote,
  vectors.staging_status_quote_response,
];
const bytes = (text: string): Uint8Array => base58.decode(text.replace('ed25519:', ''));

describe('the message that 1Click signs', () => {
  test.each(answers)(
    'the signature of recorded response %# verifies under the published key',
    ({ quoteRequest, quote, timestamp, signature }) => {
      const message = quoteMessage(quoteRequest, quote, timestamp);
      expect(ed25519.verify(bytes(signature), message, bytes(vectors.publicKey))).toBe(true);
    },
  );

  test('the signature covers the recipient, the refund address, the deposit address and the least output', () => {
    const { quoteRequest, quote, timestamp } = vectors.staging_non_dry_quote;
    const right = quoteMessage(quoteRequest, quote, timestamp);
    expect(quoteMessage({ ...quoteRequest, recipient: 'x' }, quote, timestamp)).not.toEqual(right);
    expect(quoteMessage({ ...quoteRequest, refundTo: 'x' }, quote, timestamp)).not.toEqual(right);
    expect(quoteMessage(quoteRequest, { ...quote, depositAddress: 'x' }, timestamp)).not.toEqual(right);
    expect(quoteMessage(quoteRequest, { ...quote, minAmountOut: '1' }, timestamp)).not.toEqual(right);
  });

  test("the world's own key signs a 1Click message in the encoding of the published key", () => {
    const key = createQuoteKey();
    const message = new TextEncoder().encode('any text');
    expect(ed25519.verify(bytes(key.sign(message)), message, bytes(key.publicKey))).toBe(true);
  });
});
