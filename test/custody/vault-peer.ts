/** A Vault with one transit key: the used part of its HTTP API, and the possible faults of such a service. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';

type Mode =
  | 'honest'
  /** The valid signature of another message. */
  | 'other message'
  /** The valid signature of another key. */
  | 'other key'
  | 'no base64'
  /** Does not answer until `release`. */
  | 'hanging'
  | 'sealed'
  | 'forbidden'
  | 'unreachable';

export type VaultPeer = ReturnType<typeof createVaultPeer>;

/** @param key the 32 bytes of the key, or one byte that fills it */
export function createVaultPeer(key: number | Uint8Array = 5) {
  const secret = typeof key === 'number' ? new Uint8Array(32).fill(key) : key;
  const other = secret.map((byte) => byte + 1);
  const address = base58.encode(ed25519.getPublicKey(secret));
  const waiting: (() => void)[] = [];
  const peer = {
    address,
    mode: 'honest' as Mode,
    /** The key's versions, oldest first; the newest is the default of the API. */
    versions: [secret],
    type: 'ed25519',
    token: 'hvs.test',
    /** Messages for which signatures were requested, in order. */
    messages: [] as Uint8Array[],
    renewals: 0,
    /** Answers all hanging requests. */
    answerWaiting(): void {
      for (const answer of waiting.splice(0)) answer();
    },
    /** Adds a version, as `vault write -f transit/keys/sluice/rotate` does. */
    rotate: (): void => void peer.versions.push(other),
    fetch,
  };

  const signed = (message: Uint8Array, version: number): Response => {
    const signing = peer.mode === 'other key' ? other : (peer.versions[version - 1] ?? other);
    const content = peer.mode === 'other message' ? Uint8Array.of(0, ...message) : message;
    const text = peer.mode === 'no base64' ? '%%%' : base64.encode(ed25519.sign(content, signing));
    return Response.json({ data: { signature: `vault:v${version}:${text}`, key_version: version } });
  };

  async function fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const path = new URL(url).pathname;
    if (peer.mode === 'unreachable') throw new TypeError('fetch failed');
    if (peer.mode === 'sealed') return Response.json({ errors: ['Vault is sealed'] }, { status: 503 });
    const denied = new Headers(init.headers).get('x-vault-token') !== peer.token || peer.mode === 'forbidden';
    if (denied) return Response.json({ errors: ['permission denied'] }, { status: 403 });
    if (path === '/v1/auth/token/renew-self') {
      peer.renewals++;
      return Response.json({ auth: {} });
    }
    if (path === '/v1/transit/keys/sluice') {
      const keys = peer.versions.map((key, at) => [
        at + 1,
        { name: 'ed25519', public_key: base64.encode(ed25519.getPublicKey(key)) },
      ]);
      return Response.json({ data: { type: peer.type, keys: Object.fromEntries(keys) } });
    }
    if (path !== '/v1/transit/sign/sluice' || init.method !== 'POST')
      return Response.json({ errors: [] }, { status: 404 });
    const body = JSON.parse(String(init.body)) as { input: string; key_version?: number };
    const message = base64.decode(body.input);
    peer.messages.push(message);
    const version = body.key_version ?? peer.versions.length;
    if (peer.mode !== 'hanging') return signed(message, version);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return signed(message, version);
  }
  return peer;
}
