import { afterEach, describe, expect, it, vi } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { InvoiceNotice, invoiceSteps, Ordered, restOf, WhatToPay } from '../../site/parts/invoice-panel.tsx';
import { partsOf } from '../../site/parts/order-price.tsx';
import { PaymentCard, PaymentTerms, solPayment } from '../../site/parts/payment-card.tsx';
import { QrCode } from '../../site/parts/qr-code.tsx';
import { exampleOf } from '../kit/example.ts';
import { readCode } from './read-code.ts';

const attribute = (html: string, name: string): string =>
  (new RegExp(`${name}="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
const drawn = (html: string): string =>
  readCode(attribute(html, 'viewBox'), html.split('<path').at(-1) ?? '');

it.each([1, 40, 200, 400])('a QR code of %i characters can be read back unchanged', (length) => {
  const text = `solana:${'A1'.repeat(200).slice(0, length)}`;
  expect(drawn(String(QrCode({ text, label: 'x' })))).toBe(text);
});

it('the QR code, the link and the amount of a payment are those of the invoice', () => {
  const invoice = exampleOf('createInvoice');
  const html = String(PaymentCard({ lock: 'x', payment: solPayment(invoice) }));
  const code = html.slice(html.indexOf('<svg class="qr"'));
  expect(drawn(code.slice(0, code.indexOf('</svg>')))).toBe(invoice.solana_pay_url);
  expect(attribute(html.slice(html.indexOf('class="button quiet" href')), 'href')).toBe(
    invoice.solana_pay_url,
  );
  expect(html).toContain(invoice.amount);
});

it('offers no wallet link for a URL that is not a Solana Pay URL', () => {
  const invoice = exampleOf('createInvoice');
  const html = String(
    PaymentCard({
      lock: 'x',
      payment: { ...solPayment(invoice), url: 'javascript:alert(1)', ifDifferent: '' },
    }),
  );
  expect(html).not.toContain('href=');
});

it('shows no code, link or address once the time to pay is over', () => {
  const payment = solPayment(exampleOf('createInvoice'));
  const late = String(PaymentTerms({ lock: 'x', payment, left: 0 }));
  expect(late).toContain('Do not pay it any more');
  expect(late).not.toMatch(/<svg|href=|<button/);
  for (const left of [1, null]) expect(String(PaymentTerms({ lock: 'x', payment, left }))).toContain('<svg');
});

it('explains above the payment by hand that the operator returns wrong payments, and to whom', () => {
  const html = String(PaymentTerms({ lock: 'x', payment: solPayment(exampleOf('createInvoice')), left: 60 }));
  expect(html).toMatch(
    /Connect a wallet.*The\s+operator returns it to the paying account by hand.*contact the operator.*Pay by hand/s,
  );
});

it('says only beside the terms to pay by hand that the amount must match, and why an exchange does not fit', () => {
  const payment = solPayment(exampleOf('createInvoice'));
  const [above, byHand] = String(PaymentTerms({ lock: 'x', payment, left: 60 })).split('Pay by hand');
  expect(above).toContain('Too little by wallet or QR code?');
  expect(byHand).toMatch(/not an exchange.*only exactly this amount.*a refund goes to the paying account/s);
  const bare = { ...payment, reference: null };
  for (const html of [
    above,
    String(PaymentTerms({ lock: 'x', payment: bare, left: 60 })),
    String(PaymentTerms({ lock: 'x', payment, byHand: false, left: 60 })),
  ])
    expect(html).not.toContain('not an exchange');
});

it('does not offer payment by hand if only the reference identifies the payment', () => {
  const payment = solPayment(exampleOf('createInvoice'));
  const html = String(PaymentTerms({ lock: 'x', payment, byHand: false, left: 60 }));
  expect(html).toContain('<svg');
  expect(html).not.toMatch(/the address to pay|Copy the amount/);
  expect(String(PaymentTerms({ lock: 'x', payment, left: 60 }))).toMatch(
    /Copy the amount.*the address to pay/s,
  );
});

it('shows dollars beside SOL, with the time of the price, only while a price is known', () => {
  const payment = solPayment(exampleOf('createInvoice'));
  const shown = (solPriceUsd: number | null, at: string | null): string => {
    const summary = { ...exampleOf('getAbsrSummary'), solPriceUsd, price_as_of: at };
    return withAnswers({ 'getAbsrSummary {}': summary }, () =>
      String(PaymentTerms({ lock: 'x', payment, left: 60 })),
    );
  };
  expect(shown(100, '2026-11-27T20:26:00.000Z')).toMatch(
    /about \$[\d.]+.*1 SOL was \$100\.00.*2026-11-27 20:26 UTC/s,
  );
  expect(shown(null, null)).not.toContain('$');
});

describe('an invoice on its page', () => {
  afterEach(() => vi.unstubAllGlobals());
  const made = exampleOf('getInvoice');
  const invoice = (detail: string, received: string, more = {}) => ({
    ...{ ...made, status: 'pending', detail, received_lamports: received },
    ...{ token_id: null, mint_address: null, ...more },
  });

  it.each([
    ['awaiting_payment', ['now', 'open', 'open', 'open']],
    // Less than the price has arrived: no work begins before the rest has.
    ['seen', ['now', 'open', 'open', 'open']],
    ['creating', ['done', 'done', 'now', 'open']],
    ['completed', ['done', 'done', 'done', 'done']],
    ['expired', ['failed', 'failed', 'failed', 'failed']],
    ['refund_due', ['done', 'failed', 'failed', 'failed']],
  ])('the page of an invoice shows the right steps in the state %s', (detail, states) => {
    expect(invoiceSteps(invoice(detail, '0')).map(({ state }) => state)).toEqual(states);
  });

  it('a partly paid invoice requests the rest with the same reference', () => {
    const rest = restOf({ ...invoice('seen', '10000000'), fee_lamports: 15_939_841, amount: '0.015939841' });
    expect(rest.amount).toBe('0.005939841');
    expect(rest.solana_pay_url).toBe(made.solana_pay_url.replace(/amount=[^&]*/, 'amount=0.005939841'));
    expect(rest).toMatchObject({ reference: made.reference, treasury_address: made.treasury_address });
  });

  it('a partly paid invoice offers the rest until a payment of the rest is seen', () => {
    vi.stubGlobal('location', { href: 'https://sluice.test/tokens/new?invoice=1' });
    const page = (reported: string | null): string => {
      const partly = invoice('seen', '10000000', { reported_tx_signature: reported });
      return String(WhatToPay({ invoice: { ...partly, fee_lamports: 15_939_841 } }));
    };
    expect(page(null)).toMatch(/0\.005939841 SOL are missing\..*Connect a wallet.*Copy order link/s);
    const seen = page('5'.repeat(88));
    expect(seen).toMatch(/Payment seen; waiting until it is final.*Copy order link/s);
    expect(seen).not.toMatch(/are missing|Connect a wallet|Pay once|class="qr"/);
  });

  it.each([
    [true, 'Name, symbol and picture link locked for ever'],
    [false, 'Name and picture can be changed by its creator'],
  ])('an order says whether name and picture link are locked for ever: %s', (isLocked, words) => {
    const bought = { supply_ui: '1000000', creator_address: made.treasury_address };
    const html = String(
      Ordered({ invoice: { ...invoice('seen', '0', bought), revoke_update_authority: isLocked } }),
    );
    expect(html).toMatch(new RegExp(`1,000,000 tokens to .*${made.treasury_address.slice(0, 4)}…`, 's'));
    expect(html).toContain(words);
    expect(String(Ordered({ invoice: { ...made, supply_ui: null } }))).not.toContain('tokens to');
  });

  it("the parts of an invoice's price add up to the price", () => {
    const parts = partsOf({ ...made, fee_lamports: 15_939_841 });
    expect(Object.values(parts).reduce((sum, lamports) => sum + Number(lamports), 0)).toBe(15_939_841);
    expect(Number(parts.digits)).toBeGreaterThan(0);
    expect(partsOf({ ...made, fee_breakdown: null })).toEqual({});
  });

  const refund = { signature: 'x', lamports: '1', payer: null, reason: 'late', refund_signature: null };
  it.each([
    ['due', 'Your payment will be returned.'],
    ['paid', 'Your payment was returned.'],
  ])('the page of an invoice shows for a refund that is %s: %s', (status, text) => {
    const shown = invoice('refund_due', '0', { refunds: [{ ...refund, status }] });
    expect(String(InvoiceNotice({ invoice: shown }))).toContain(text);
  });
});
