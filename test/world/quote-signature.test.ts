import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import vectors from '../fixtures/near-intents-quote.json' with { type: 'json' };
import { quoteMessage } from './quote-signature.ts';

const answers = [
  vectors.staging_non_dry_quote,
  vectors.staging_dry_quote,
  vectors.staging_status_quote_response,
];
const bytes = (text: string): Uint8Array => base58.decode(text.replace('ed25519:', ''));

test.each(answers)(
  'the signature of recorded response %# verifies under the published key of 1Click',
  ({ quoteRequest, quote, timestamp, signature }) => {
    const message = quoteMessage(quoteRequest, quote, timestamp);
    expect(ed25519.verify(bytes(signature), message, bytes(vectors.publicKey))).toBe(true);
  },
);
