import { expect, it } from 'vitest';
import { PaymentCard } from '../../site/parts/payment-card.tsx';
import { QrCode } from '../../site/parts/qr-code.tsx';
import { EXAMPLES } from '../../src/features/openapi/examples.ts';
import { readCode } from './read-code.ts';

const attribute = (html: string, name: string): string =>
  (new RegExp(`${name}="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
const drawn = (html: string): string =>
  readCode(attribute(html, 'viewBox'), html.split('<path').at(-1) ?? '');

it.each([1, 40, 200, 400])('a code of %i characters is read back as it was', (length) => {
  const text = `solana:${'A1'.repeat(200).slice(0, length)}`;
  expect(drawn(String(QrCode({ text, label: 'x' })))).toBe(text);
});

it('code, link and amount of a payment are those of the invoice', () => {
  const invoice = JSON.parse(JSON.stringify(EXAMPLES.createInvoice?.responses[0]?.body));
  const html = String(PaymentCard({ payment: invoice }));
  expect(drawn(html.slice(0, html.indexOf('</svg>')))).toBe(invoice.solana_pay_url);
  expect(attribute(html.slice(html.indexOf('class="button"')), 'href')).toBe(invoice.solana_pay_url);
  expect(html).toContain(invoice.amount);
});

it('what does not start as a payment is no link to a wallet', () => {
  const invoice = JSON.parse(JSON.stringify(EXAMPLES.createInvoice?.responses[0]?.body));
  const html = String(PaymentCard({ payment: { ...invoice, solana_pay_url: 'javascript:alert(1)' } }));
  expect(html).not.toContain('href=');
});
