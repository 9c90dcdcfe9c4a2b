/**
 * D1 rows of paid tokens, each with its number.
 * @module
 */
import type { OpenRequest } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import { mirrorToken } from '../payments/d1-rows.ts';
import type { openRequestStore, PaymentRequest } from '../payments/request-store.ts';

type Rows = {
  readonly store: ReturnType<typeof openRequestStore>;
  readonly journal: Journal;
  /** Unix milliseconds. */
  readonly now: number;
};

/** Creates the row of a created or listed token and returns its number. Call inside a transaction. */
export function listToken({ store, journal, now }: Rows, request: PaymentRequest): number {
  const mint = String(request.subject.mint);
  const known = store.tokenByMint(mint);
  const token = known ?? {
    ...request.subject,
    tokenId: store.nextTokenId(),
    mint,
    requestId: request.id,
    createdAt: now,
  };
  const listed = { ...token, listedAt: token.listedAt ?? now };
  store.putToken(listed);
  mirrorToken(journal, listed, now);
  return token.tokenId;
}

/** A token created elsewhere gets its number with the first request to list it. */
export function externalToken(
  { store, journal, now }: Rows,
  subject: OpenRequest['subject'],
): OpenRequest['subject'] {
  const mint = String(subject.mint);
  let token = store.tokenByMint(mint);
  if (!token) {
    token = { ...subject, mint, tokenId: store.nextTokenId(), createdAt: now, listedAt: null };
    store.putToken(token);
    mirrorToken(journal, token, now);
  }
  return { ...subject, tokenId: token.tokenId };
}
