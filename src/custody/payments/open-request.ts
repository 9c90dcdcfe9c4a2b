/**
 * Opens payment requests, each with a fee that no other open request has. Limits open requests in total and per network.
 * @module
 */
import { encodeBase58 } from '../../chain/solana/address.ts';
import { Budget } from '../../core/budget.ts';
import { BUDGETS } from '../../core/call-limits.ts';
import type { OpenRequest, Refusal, RequestOpened } from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { TokenPort } from './payment-requests.ts';
import { requestView } from './request-records.ts';
import type { PaymentRequest, RequestStore } from './request-store.ts';

export type OpeningPorts = {
  readonly randomBytes: (length: number) => Uint8Array;
  readonly randomId: () => string;
  /** The only mint that this invoice can create. */
  readonly mintAddress: (invoiceId: string) => string;
  /** The on-chain uri of a mint. */
  readonly metadataUri: (mint: string) => string;
};

const LIFE_MS = 30 * 60_000;
/** A payment is accepted until this long after the request expired: wallets and finality take time. */
const GRACE_MS = 10 * 60_000;

export type OpeningContext = OpeningPorts &
  Pick<ModuleTools, 'storage' | 'now'> & {
    readonly store: RequestStore;
    readonly tokens: Pick<TokenPort, 'listedId' | 'numbered'>;
    /** Stores a request. Call inside a storage transaction. */
    readonly save: (request: PaymentRequest) => PaymentRequest;
  };

export function openRequest(p: OpeningContext, asked: OpenRequest): RequestOpened {
  const open = new Budget(BUDGETS.open_requests, p.store.openUses());
  if (!open.check(asked.client, p.now()).ok)
    return refused(tooManyOpen('Too many requests await payment. Pay one of them or let it expire first.'));
  const fee = ownFee(asked.baseFeeLamports, {
    randomBytes: p.randomBytes,
    isTaken: (lamports) => p.store.openByFee(lamports).length > 0,
  });
  if (fee === undefined)
    return refused(tooManyOpen('No unique payment amount is available right now. Retry in a minute.'));
  const tokenId = asked.kind === 'listing' ? p.tokens.listedId(String(asked.subject.mint)) : undefined;
  if (tokenId !== undefined) {
    const details = { tokenId };
    return refused({ code: 'ALREADY_LISTED', message: 'This token is already listed.', details });
  }
  const request = p.storage.transaction(() => p.save(newRequest(p, asked, fee)));
  return { type: 'opened', request: requestView(request, [], p.now()) };
}

function newRequest(p: OpeningContext, asked: OpenRequest, fee: bigint): PaymentRequest {
  const id = p.randomId();
  const mint = p.mintAddress(id);
  const createdAt = p.now();
  return {
    id,
    kind: asked.kind,
    state: 'open',
    subject:
      asked.kind === 'token'
        ? { ...asked.subject, mint, uri: p.metadataUri(mint) }
        : p.tokens.numbered(asked.subject, createdAt),
    fee: fee.toString(),
    reference: encodeBase58(p.randomBytes(32)),
    client: asked.client,
    createdAt,
    expiresAt: createdAt + LIFE_MS,
    closesAt: createdAt + LIFE_MS + GRACE_MS,
    received: '0',
    parts: [],
    paymentSignature: null,
    payer: null,
    reported: null,
    paidAt: null,
    completedAt: null,
    tokenId: null,
    creations: 1,
    reason: null,
    changes: 0,
  };
}

const tooManyOpen = (message: string): Refusal => ({
  code: 'TOO_MANY_OPEN_REQUESTS',
  message,
  retryAfterSeconds: 600,
  details: { limit: 'open_requests' },
});

/** The last five digits of a fee identify the request. */
const DIGITS = 100_000n;
/** Exchanges pay in steps of ten lamports. */
const STEP = 10n;

const TRIES = 50;

/** A base fee rounded up to 100,000 lamports, plus digits that no other open request has: a multiple of ten lamports. */
export function ownFee(
  base: bigint,
  p: {
    readonly randomBytes: (length: number) => Uint8Array;
    readonly isTaken: (lamports: string) => boolean;
  },
): bigint | undefined {
  const round = ((base + DIGITS - 1n) / DIGITS) * DIGITS;
  for (let tries = 0; tries < TRIES; tries++) {
    const drawn = p.randomBytes(2).reduce((number, byte) => number * 256 + byte, 0);
    const fee = round + ((BigInt(drawn) % (DIGITS / STEP - 1n)) + 1n) * STEP;
    if (!p.isTaken(fee.toString())) return fee;
  }
  return undefined;
}
