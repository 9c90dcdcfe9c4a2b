import { canonicalSignature } from '../../chain/solana/address.ts';
import { AppError } from '../../core/errors.ts';
import type { ClaimView, CustodianApi } from '../../custody/api.ts';
import type { AsryMirror } from './asry-store.ts';

export type GetClaimDeps = {
  readonly claims: Pick<AsryMirror, 'claim'>;
  readonly custody: Pick<CustodianApi, 'findClaim'>;
};

/**
 * The record of a claimed deposit; read from the custodian if D1 does not have it yet. @throws AppError
 * NOT_FOUND
 */
export async function getClaim(d: GetClaimDeps, text: string): Promise<ClaimView> {
  const signature = canonicalSignature(text);
  const claim =
    signature &&
    ((await d.claims.claim(signature).catch(() => undefined)) ?? (await d.custody.findClaim(signature)));
  if (!claim) throw new AppError('NOT_FOUND', 'No claim was made with this deposit.');
  return claim;
}
