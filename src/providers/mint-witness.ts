/**
 * Client of the witness, which has the second key of the mint authority in another account (`src/witness`).
 * @module
 */
import * as z from 'zod';
import { decodeBase64 } from '../core/base64.ts';
import { upstreamFailed } from '../core/errors.ts';
import { tryJson } from '../core/json.ts';
import { ask, type Fetch, shaped } from './http.ts';

const UPSTREAM = 'witness';
/** Maximum wait for the witness, which reads its own nodes and indexes before it signs. */
const TIMEOUT_MS = 20_000;

const Signed = z.object({ signature: z.string() });
const Refused = z.object({ error_code: z.string().regex(/^[a-z_]{1,40}$/) });

export type MintWitness = {
  /**
   * The witness's signature of a mint, 64 bytes, unverified.
   * @param transaction base64 of the transaction, signed by the custodian only
   * @throws AppError UPSTREAM_FAILED `witness_unreachable`, or `witness_refused_` and the code of the refusal
   */
  cosign(transaction: string): Promise<Uint8Array>;
};

export const createMintWitness = ({ baseUrl, fetch }: { baseUrl: string; fetch: Fetch }): MintWitness => ({
  async cosign(transaction) {
    const request = { fetch, upstream: UPSTREAM, url: `${baseUrl}/cosign`, timeoutMs: TIMEOUT_MS };
    const unreachable = (cause?: unknown) => upstreamFailed(UPSTREAM, 'witness_unreachable', cause);
    const answer = await ask({ ...request, method: 'POST', body: { transaction } }).catch(
      (cause: unknown) => {
        throw unreachable(cause);
      },
    );
    if (answer.status !== 200) {
      const { data } = Refused.safeParse(tryJson(answer.text));
      throw data ? upstreamFailed(UPSTREAM, `witness_refused_${data.error_code}`) : unreachable();
    }
    const signature = decodeBase64(shaped(UPSTREAM, answer, Signed).signature);
    if (signature?.length !== 64) throw upstreamFailed(UPSTREAM, 'unexpected_shape');
    return signature;
  },
});
