/**
 * Orca's public API, version 2. Pools are passed on unparsed; the shape of its errors is undocumented.
 * @see https://docs.orca.so/api-reference
 * @module
 */
import { decodeBase58, encodeBase58 } from '../chain/solana/address.ts';
import { ask, type Fetch, type UpstreamResponse } from './http.ts';

/** Time limit of a read. If Orca is late, the chain is read instead, so this limit is shorter than others. */
const TIMEOUT_MS = 5_000;

export type Orca = ReturnType<typeof createOrca>;

type Options = { baseUrl: string; fetch: Fetch; timeoutMs?: number };

export function createOrca({ baseUrl, fetch, timeoutMs = TIMEOUT_MS }: Options) {
  return {
    /**
     * Orca's response about a pool, with any status.
     * @throws AppError UPSTREAM_FAILED when the response is late or too large
     * @throws RangeError for a malformed address: only re-encoded bytes enter the path
     */
    async pool(address: string): Promise<UpstreamResponse> {
      const bytes = decodeBase58(address, 32);
      if (!bytes) throw new RangeError('not an address');
      const url = `${baseUrl}/pools/${encodeBase58(bytes)}`;
      return ask({ fetch, upstream: 'orca', url, timeoutMs });
    },
  };
}
