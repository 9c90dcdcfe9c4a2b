/** The HTTP routes of invoices and tokens over a custodian, a chain and a D1 whose results a test sets. */
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import type { OpenRequest, RequestView } from '../../src/custody/api.ts';
import { type InvoiceDeps, invoiceRoutes } from '../../src/features/tokens/invoice-routes.ts';
import { newWaiting } from '../http/waiting.ts';
import { wallet } from '../kit/addresses.ts';
import { routerOver } from '../kit/router.ts';

export const CREATOR = wallet(21);
export const RESERVE = wallet(22);
export const TREASURY = wallet(23);

/** 6,960 lamports per byte and 128 bytes of overhead, as on mainnet. */
export const rentOf = (bytes: number): bigint => BigInt(bytes + 128) * 6_960n;

export type TokenService = {
  /** Requests sent to the custodian. */ readonly opened: OpenRequest[];
  /** Messages that were simulated. */
  readonly simulated: Uint8Array[];
  /** The reason with which the chain refuses a simulation. */
  refuses: string | null;
  metaplex: boolean;
  /** Owner program of the creator's account; null if it does not exist. */
  creatorOwner: string | null;
};

export const newTokenService = (): TokenService => ({
  ...{ opened: [], simulated: [], refuses: null, metaplex: true, creatorOwner: null },
});

export const invoiceDeps = (service: TokenService): InvoiceDeps => ({
  custody: {
    async openRequest(request) {
      service.opened.push(request);
      return { type: 'opened', request: viewOf(request) };
    },
    confirmPayment: async () => ({ type: 'refused', refusal: { code: 'NOT_FOUND', message: '' } }),
    findRequest: async () => null,
  },
  leastBalance: async () => rentOf(0),
  async simulate(message) {
    service.simulated.push(message);
    return service.refuses;
  },
  messageVersion: 0,
  isProgram: async () => service.metaplex,
  ownerOf: async () => service.creatorOwner,
  ownAddresses: new Set([RESERVE, TREASURY]),
  reserve: { solanaAddress: RESERVE },
  invoiceMargin: 10_000_000n,
  randomAddress: () => encodeBase58(new Uint8Array(32).fill(9)),
  publicBaseUrl: 'https://sluice.test',
  tokens: { invoice: async () => undefined },
  contact: undefined,
  waiting: newWaiting(),
  requirePayments: () => TREASURY,
});

export const viewOf = ({ kind, subject, baseFeeLamports }: OpenRequest): RequestView => ({
  id: '4b0c6a39-6a4f-4f3b-9a0b-6a1f1f0f7a11',
  kind,
  status: 'pending',
  detail: 'awaiting_payment',
  reason: null,
  subject,
  ...{ payee: TREASURY, feeLamports: (baseFeeLamports + 1n).toString(), receivedLamports: '0' },
  ...{ reference: wallet(24), createdAt: '2026-11-20T00:00:00.000Z', expiresAt: '2026-11-20T00:30:00.000Z' },
  ...{ paidAt: null, completedAt: null, paymentSignature: null, reportedSignature: null, tokenId: null },
  ...{ mintAddress: null, refunds: [] },
});

export function tokenApp(service: TokenService) {
  const request = routerOver(
    () => ({ tokens: invoiceDeps(service) }),
    (app) => app.route('/api', invoiceRoutes),
  );
  return async (body: string) => {
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    const response = await request('/api/invoices', init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}
