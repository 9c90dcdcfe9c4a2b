/**
 * A key in the transit engine of HashiCorp Vault or OpenBao.
 * Source: developer.hashicorp.com/vault/api-docs/secret/transit (read key, sign data), .../auth/token (renew-self).
 * @module
 */
import { base64 } from '@scure/base';
import * as z from 'zod';
import { encodeBase58 } from '../chain/solana/address.ts';
import { decodeBase64 } from '../core/base64.ts';
import { upstreamFailed } from '../core/errors.ts';
import { ask, type Fetch, getJson, postJson } from './http.ts';

export type VaultTransit = ReturnType<typeof createVaultTransit>;

const UPSTREAM = 'vault';
const TIMEOUT_MS = 5_000;

const Key = z.object({
  data: z.object({
    type: z.string(),
    keys: z.record(z.string(), z.union([z.object({ public_key: z.string() }), z.number()])),
  }),
});
const Signed = z.object({ data: z.object({ signature: z.string() }) });

/** Path segments, as in a URL. */
const PATH = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/;

export type VaultKey = {
  readonly baseUrl: string;
  readonly token: string;
  /** Path of the transit engine. */
  readonly mount: string;
  readonly key: string;
};

/** The parts of `https://TOKEN@<service>/v1/<mount>/keys/<key>`; undefined for any other string. */
export function readVaultKey(text: string): VaultKey | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username === '') return undefined;
  const [, prefix = '', mount = '', key = ''] = /^(.*?)\/v1\/(.+)\/keys\/([^/]+)$/.exec(url.pathname) ?? [];
  if (![mount, key].every((name) => PATH.test(name))) return undefined;
  return { baseUrl: `${url.origin}${prefix}`, token: decodeURIComponent(url.username), mount, key };
}

export function createVaultTransit(settings: VaultKey & { readonly address: string; readonly fetch: Fetch }) {
  const headers = { 'x-vault-token': settings.token, 'x-vault-request': 'true' };
  const request = (path: string) => ({
    fetch: settings.fetch,
    upstream: UPSTREAM,
    url: `${settings.baseUrl}/v1/${path}`,
    headers,
    timeoutMs: TIMEOUT_MS,
  });
  /**
   * The version of the key whose public key is `address`. Each request names it, so a rotation in the Vault does not
   * change the signer.
   */
  let version: number | undefined;

  async function versions(): Promise<{ version: number; address: string }[]> {
    const { data } = await getJson(request(`${settings.mount}/keys/${settings.key}`), Key);
    if (data.type !== 'ed25519') return [];
    return Object.entries(data.keys).flatMap(([name, key]) => {
      const bytes = typeof key === 'object' ? decodeBase64(key.public_key) : undefined;
      return bytes?.length === 32 ? [{ version: Number(name), address: encodeBase58(bytes) }] : [];
    });
  }

  return {
    address: settings.address,

    /** Addresses of the key's versions, oldest first; none unless it is an ed25519 key. @throws AppError UPSTREAM_FAILED */
    async addresses(): Promise<string[]> {
      return (await versions()).map(({ address }) => address);
    },

    /**
     * True if the key service has the private key of `address` and this token may use it. @throws AppError
     * UPSTREAM_FAILED
     */
    async isAvailable(): Promise<boolean> {
      version = (await versions()).find(({ address }) => address === settings.address)?.version;
      // A periodic token lives as long as it is renewed. Any other token works until it expires.
      await ask({ ...request('auth/token/renew-self'), method: 'POST', body: {} }).catch(() => undefined);
      return version !== undefined;
    },

    /** The signature, unverified. @throws AppError UPSTREAM_FAILED */
    async sign(message: Uint8Array): Promise<Uint8Array> {
      if (version === undefined) throw upstreamFailed(UPSTREAM, 'key_unchecked');
      const body = { key_version: version, input: base64.encode(message) };
      const { data } = await postJson({ ...request(`${settings.mount}/sign/${settings.key}`), body }, Signed);
      const signature = decodeBase64(/^vault:v\d+:(.+)$/.exec(data.signature)?.[1] ?? '');
      if (signature?.length !== 64) throw upstreamFailed(UPSTREAM, 'unexpected_shape');
      return signature;
    },
  };
}
